// Phrases of a description that count wherever they stand: "cannot be undone", "moves real funds",
// "read-only", a list of operations. Pure; called by read-text. The patterns have no nested
// repetition: the text is the server's.

import type { Category } from '../core/tools.ts'
import type { Tell } from './signal.ts'
import { worstActOf } from './worst-act.ts'

const PHRASES: readonly (readonly [string, RegExp])[] = [
  [
    'says:gone for good',
    /(?:cannot|can['’]?t|can not) be (?:undone|reversed|recovered|restored)|\birreversibl[ey]|\bpermanent(?:ly)? (?:delet|remov|eras|destroy|drop)\w*|will be (?:lost|deleted|removed|overwritten|erased|destroyed)|\bunrecoverable|(?<!non-|not |n't be )\bdestructive\b|\bno undo\b|\bare removed\b|\bdata loss\b/gi,
  ],
  [
    'says:replaces the whole',
    /\breplac(?:e|es|ing) (?:all|the (?:whole|entire|full)|the account's full)\b|\bcompletely replac|\breplaces all\b|\boverwrit(?:e|es|ing)\b|\bclears (?:all |any )?existing\b/gi,
  ],
  [
    'says:money moves',
    /\breal (?:funds|money|trades?|orders?)\b|\bmoves? (?:real )?(?:funds|money)|\blocks? funds|\bcosts? (?:real )?money|\bspend (?:your|money)|\bcapture funds|\bplaces? an? order/gi,
  ],
  [
    'says:restores over',
    /\brestor(?:e|es|ing) [^.\n]{0,40}?(?:from|to) (?:an? |the )?(?:backup|snapshot|previous|earlier|point)/gi,
  ],
  ['says:to the trash', /\bto (?:the |mcp )?(?:trash|recycle bin|bin)\b/gi],
  ['says:from the trash', /\bfrom (?:the )?(?:trash|recycle bin|bin)\b/gi],
  [
    'says:only reads',
    /(?<!not |n't )\bread[- ]only\b|does(?: not|n['’]t) (?:modify|change|write|alter|execute)|without (?:modifying|changing|executing)|\bno side[- ]effects|\binformational only|\bselect quer(?:y|ies)\b/gi,
  ],
  [
    'says:changes data',
    /\bmodif(?:y|ies) (?:data|existing|the)\b|\bmutat(?:e|es|ion|ions)\b|\bwrite operations?\b|\bdata modification\b/gi,
  ],
  [
    'says:runs anything',
    /\b(?:arbitrary|any) (?:shell |bash |python |sql |javascript )?(?:code|commands?|sql|javascript|queries|script)|\bshell commands?\b|\bexecut(?:e|es) (?:an? )?(?:sql|code|commands?|javascript|insert)/gi,
  ],
]

/** `operations: Help, Create, Update`, `action="delete"`: the acts behind the colon. */
const OFFER =
  /\b(?:operations?|actions?|commands?|modes?|methods?)(?: (?:are|include|supported))?\s?[:=] ?/gi
const ACT =
  /["'`]?([A-Za-z]\w*)["'`]?(?: \([^()]{0,120}\))?(?:\s?[,|/]\s?(?:and |or )?| and | or |$|(?=[.;\n]))/y
const OFFERED_MAX = 24

export function readPhrases(text: string, at: string, end: number, tell: Tell): void {
  const looked = end < text.length ? text.slice(0, end) : text
  if (HINTS.test(looked)) tellPhrases(looked, at, tell)
  readOffered(looked, at, tell)
}

/** A word of some phrase: most texts have none, and are spared nine patterns. */
const HINTS =
  /undo|revers|recover|permanent|will be|destructive|replac|overwr|existing|real |funds|money|spend|places? an? order|restor|trash|\bbin\b|read[- ]only|without|n['’]t |not |side[- ]eff|informational|select quer|modif|mutat|write op|arbitrary|any (?:shell|bash|python|sql|java|code|comm|quer|script)|shell|execut|removed|data loss|clears/i

function tellPhrases(looked: string, at: string, tell: Tell): void {
  for (const [feature, pattern] of PHRASES) {
    pattern.lastIndex = 0
    for (let found = pattern.exec(looked); found !== null; found = pattern.exec(looked))
      tell(feature, { at, start: found.index, end: found.index + found[0].length })
  }
}

/** The worst of the acts that a text lists; one alone is no list. */
export function readOffered(text: string, at: string, tell: Tell, feature = 'acts'): void {
  let worst: { said: Category; start: number; end: number } | undefined
  let count = 0
  OFFER.lastIndex = 0
  for (let offer = OFFER.exec(text); offer !== null; offer = OFFER.exec(text)) {
    ACT.lastIndex = offer.index + offer[0].length
    for (let seen = 0; seen < OFFERED_MAX; seen++) {
      const from = ACT.lastIndex
      const found = ACT.exec(text)
      if (found === null || found[1] === undefined || found[0] === '') break
      const said = worstActOf(found[1], worst?.said)
      count++
      const start = from + found[0].indexOf(found[1])
      if (said !== undefined) worst = { said, start, end: start + found[1].length }
    }
  }
  if (worst !== undefined && count > 1)
    tell(`${feature}:${worst.said}`, { at, start: worst.start, end: worst.end })
}
