// Phrases of a description that count wherever they stand: "cannot be undone", "moves real funds",
// "read-only", a list of operations. Pure; called by read-text. The patterns have no nested
// repetition: the text is the server's.

import type { Category } from '@sluice/policy/core/tools'
import type { EmitSignal } from './signal.ts'
import { worstActOf } from './worst-act.ts'

const PHRASES: readonly (readonly [string, RegExp])[] = [
  [
    'says:gone for good',
    /(?:cannot|can['’]?t|can not) be (?:undone|reversed|recovered|restored|reopened)|\birreversibl[ey]|\bpermanent(?:ly)? (?:delet|remov|eras|destroy|drop)\w*|\b(?:delet|remov|eras)\w* [^.\n]{0,40}? permanently|\b(?:will be|is|are|get|gets) (?:lost|deleted|removed|overwritten|erased|destroyed|discarded)\b|\bdiscard(?:s|ing)? all\b|\bunrecoverable|(?<!non-|not |n't be )\bdestructive\b|\bno undo\b|\bdata loss\b|\b(?:is|are) (?:then )?(?:gone|dropped|thrown away|wiped|purged)\b|\berases? (?:the|all|every)\b|\bdo(?:es)? not come back\b/gi,
  ],
  [
    'says:replaces the whole',
    /\breplac(?:e|es|ing) (?:all(?! (?:matching|occurrences|instances|text))|every|the (?:whole|entire|full|complete)|the account's full|an? (?:whole|entire))\b|\bcompletely replac|\bclears (?:all |any )?existing\b|\ball (?:existing|current|previous) \w+ (?:are|is|will be) (?:overwritten|replaced|removed|deleted)|\bnot (?:in|present in|included in|listed in|sent in) [^.\n]{0,30}?(?:are|is|will be|get) (?:removed|deleted|lost|dropped|cleared)|\b(?:you leave out|left out|absent|missing from|omitted)\b[^.\n]{0,40}?(?:are|is|will be|get) (?:removed|deleted|lost|dropped|cleared|gone)|\breplaces? the (?:current|existing|previous) [^.\n]{0,30}?entirely|\bdiscards? the (?:whole|entire)|\bcomplete (?:record )?set\b/gi,
  ],
  ['says:runs now', /\b(?:running|in[- ]progress|ongoing|queued)\b/gi],
  ['says:overwrites', /\boverwrit(?:e|es|ing|ten)\b/gi],
  [
    'says:can be undone',
    /\b(?:can|may) (?:later |then |still )?be (?:undone|restored|unarchived|reopened|re-?enabled|re-?activated|recovered|activated again|unsuspended|reverted|re-?added|undeleted|added (?:back|again))|\breversibl[ey]|\bunless re-?added|\buntil re-?enabled|\bwithout deleting|\bnot deleted\b|\bthemselves are kept|\brecoverable\b|\bto restore (?:it|them)\b|\bbrings? (?:it|them) back\b|\b(?:can|may) (?:later )?be (?:brought back|made active|opened again|recreated|switched back)|\bget (?:it|them) back\b|\bcan restore (?:it|them)\b|\bto (?:revert|undo)\b|\breverses it\b|\blifts it\b/gi,
  ],
  [
    'says:costs',
    /\bbillable\b|\bbilled resource|\b(?:is|are|be) billed\b|\b(?:will be|may be|is|are|gets?) charged\b|\bincurs? (?:an? )?(?:additional )?(?:costs?|charges?|fees?)\b|\bcharges? (?:your|the|a|apply)\b|\bhourly price\b|\bconsumes? credits\b|\bpaid (?:purchase|order)\b|\bcosts? (?:\$|€|\d|credits|gas)|\bfees? (?:is|are|apply|applies|may apply)\b|\bkostenpflichtig|\binvoiced (?:monthly|by|to)\b|\bescrow\b|\b(?:is|are|be) (?:paid (?:back|by|out)|refunded)\b|\bdirect debit\b|\bcollects? the\b[^.\n]{0,20}?(?:premium|fee|payment|deposit)|\bcommits (?:the budget|you to)\b|\bcharges appear\b|\byou pay\b/gi,
  ],
  [
    'says:moves no money',
    /\bbook-?keeping\b|\bjournal entr|\bno (?:real )?money\b|\b(?:does|do) not (?:charge|move|transfer|debit)|\btestnet\b|\bdevnet\b|\bpaper[- ]trad|\bsimulated\b|\bdraft\b|\bno charge\b|\bwithout charging\b|\brecord(?:s)? (?:of |that )?an? (?:expense|payment|settlement)/gi,
  ],
  [
    'says:saves it',
    /\b(?:sav(?:e|es|ed|ing)|writ(?:e|es|ten)|download(?:s|ed)?|stor(?:e|es|ed)|export(?:s|ed)?) [^.\n]{0,40}?(?:to|on|in|into|as) (?:an? |the |your )?(?:local |given |specified |output )?(?:disk|files?(?:system)?|folder|director(?:y|ies)|machine|project|path)\b|\bstores? (?:it|them) in\b|\bstored in the local\b|\bto ~\/|\bsaved? locally\b|\bto (?:your|the) local (?:project|machine|disk|file)/gi,
  ],
  [
    'says:access is lost',
    /\blos(?:e|es|ing) (?:the |all |their )?access|\brevok(?:e|es|ed|ing)\b|\baccess (?:is|will be) (?:removed|lost|revoked)|\bno longer (?:have|has|be able)|\btak(?:es?|ing) away\b/gi,
  ],
  [
    'says:money moves',
    /\breal (?:funds|money|trades?|orders?)\b|\bmoves? (?:real )?(?:funds|money)|\blocks? funds|\bcosts? (?:real )?money|\bspend (?:your|money)|\bcapture funds|\bplaces? an? order/gi,
  ],
  [
    'says:restores over',
    /\brestor(?:e|es|ing) [^.\n]{0,40}?(?:from|to) (?:an? |the )?(?:backup|snapshot|previous|earlier|point)/gi,
  ],
  [
    'says:trades',
    /\bstop[- ]?loss|\btake[- ]?profit|\b(?:pending|limit|stop|market|open|gtt|triggered) orders?\b|\bopen positions?\b|\btrades?\b|\btrading\b|\bshort sale|\boption contract/gi,
  ],
  ['says:to the trash', /\bto (?:the |mcp )?(?:trash|recycle bin|bin)\b/gi],
  ['says:from the trash', /\bfrom (?:the )?(?:trash|recycle bin|bin)\b/gi],
  [
    'says:only reads',
    /(?<!not |n't )\bread[- ]only\b|does(?: not|n['’]t) (?:modify|change|write|alter|execute)|without (?:modifying|changing|executing)|\bno side[- ]effects|\binformational only|\bselect (?:quer(?:y|ies)|statements?)\b|\bread (?:cypher|sql) quer|\bmutations? (?:is|are) (?:refused|rejected|not allowed)|\banswers only\b|\bcannot modify\b|\bnothing is (?:stored|saved|changed|sent|executed)|\bnot (?:altered|modified)\b|\bwithout (?:creating|applying|saving|storing)\b|\b(?:are|is) rejected by the server/gi,
  ],
  [
    'says:in the answer',
    /\breturn(?:ed|s)? (?:it )?(?:as|in) (?:plain )?(?:text|markdown|json|the (?:answer|response))|\bin the (?:answer|response)\b/gi,
  ],
  [
    'says:sets it going',
    /\b(?:goes|go|went) live\b|\bstarts? running\b|\bruns (?:at|with) (?:the|auto)/gi,
  ],
  [
    'says:signs in by hand',
    /\bopens? (?:the|a|your) (?:default )?(?:web )?browser\b|\b(?:oauth|pairing|device[- ]code|login|sign-?in) flow\b|\bsigns? the user in|\bsign(?:s|-)?[ -]?in (?:to|after|with|page)\b|\bsign-in page\b/gi,
  ],
  [
    'says:changes data',
    /\bmodif(?:y|ies) (?:data|existing|the)\b|\bmutat(?:e|es|ion|ions)\b(?! (?:is|are) (?:refused|rejected|not))|\bwrite operations?\b|\bdata modification\b/gi,
  ],
  [
    'says:runs anything',
    /\b(?:arbitrary|any|raw) (?:arbitrary )?(?:shell |bash |python |sql |javascript |console |cli |flink |cypher |graphql )?(?:code|commands?|sql|javascript|queries|script|cypher|spl|g-?code|graphql|nerdgraph)\b|\ball http methods|\bany [\w ]{0,20}api endpoint|\bexecuting [\w ]{1,20}commands|\bshell commands?\b|\bexecut(?:e|es) (?:an? )?(?:sql|code|commands?|javascript|insert)/gi,
  ],
]

/** `operations: Help, Create, Update`, `action="delete"`: the acts behind the colon. */
const OFFER =
  /\b(?:operations?|actions?|commands?|modes?|methods?)(?: (?:are|include|supported))?\s?[:=] ?/gi
const ACT =
  /["'`]?([A-Za-z]\w*)["'`]?(?: \([^()]{0,120}\))?(?:\s?[,|/]\s?(?:and |or )?| and | or |$|(?=[.;\n]))/y
const OFFERED_MAX = 24

/** `CRUD of tags`: all four acts, of which one deletes. */
const CRUD = /\bcrud\b/i
/** `Versions: get, publish, remove`: a list of acts at the head of a text. */
const HEADED = /^[\p{L} ]{2,30}: (?=\w+, \w+)/u

export function readPhrases(text: string, at: string, end: number, tell: EmitSignal): void {
  const looked = end < text.length ? text.slice(0, end) : text
  if (HINTS.test(looked)) tellPhrases(looked, at, tell)
  readOffered(looked, at, tell)
  const crud = CRUD.exec(looked)
  if (crud !== null)
    tell('acts:Destructive', { at, start: crud.index, end: crud.index + crud[0].length })
}

/** A word of some phrase: most texts have none, and are spared nine patterns. */
const HINTS =
  /running|progress|ongoing|queued|undo|revers|recover|permanent|will be|destructive|replac|overwr|existing|real |funds|money|spend|places? an? order|restor|trash|\bbin\b|read[- ]only|without|n['’]t |not |side[- ]eff|informational|select (?:quer|stat)|read (?:cyp|sql)|modif|mutat|write op|arbitrary|any (?:shell|bash|python|sql|java|code|comm|quer|script)|shell|execut|removed|data loss|clears|undone|restored|discard|billa|billed|charg|hourly|incur|credits|book-?keep|journal|testnet|devnet|paper|simulat|draft|sav|writ|download|stor|export|access|revok|no longer|not (?:in|pres|incl|list|sent)|lost|delet|cost|reopen|record|can be|may be|reversib|soft[- ]?del|re-?add|kept|recoverab|(?:is|are) gone|thrown|erases|come back|leave out|left out|absent|omitted|brings? |brought|get (?:it|them) b|lifts|fees? |kostenpf|invoiced|escrow|refunded|commits|you pay|refused|answers only|nothing is|as text|as json|as markdown|in the (?:answer|resp)|go(?:es)? live|starts? running|opens? (?:the|a|your) |oauth|pairing|device[- ]code|sign(?:s|ed)?[- ]in|tak(?:es?|ing) away|~\/|all http|stop[- ]?loss|profit|(?:pending|limit|stop|market|open|gtt) (?:order|pos)|\btrad(?:e|ing)/i

const CHOICE = /\buse (?:this )?(?:tool )?(?:when|instead|if)\b/i
const OF_THIS_ONE: ReadonlySet<string> = new Set(['says:runs anything', 'says:runs now'])

function tellPhrases(looked: string, at: string, tell: EmitSignal): void {
  // What follows is about the choice of a tool, and speaks of others.
  const choice = looked.search(CHOICE)
  for (const [feature, pattern] of PHRASES) {
    const end = choice >= 0 && OF_THIS_ONE.has(feature) ? choice : looked.length
    pattern.lastIndex = 0
    for (let found = pattern.exec(looked); found !== null; found = pattern.exec(looked))
      if (found.index < end)
        tell(feature, { at, start: found.index, end: found.index + found[0].length })
  }
}

/** The worst of the acts that a text lists; one alone is no list. */
export function readOffered(text: string, at: string, tell: EmitSignal, feature = 'acts'): void {
  let worst: { category: Category; start: number; end: number } | undefined
  let count = 0
  OFFER.lastIndex = 0
  let offer = OFFER.exec(text) ?? HEADED.exec(text)
  for (; offer !== null; offer = OFFER.exec(text)) {
    ACT.lastIndex = offer.index + offer[0].length
    OFFER.lastIndex = ACT.lastIndex
    for (let seen = 0; seen < OFFERED_MAX; seen++) {
      const from = ACT.lastIndex
      const found = ACT.exec(text)
      if (found === null || found[1] === undefined || found[0] === '') break
      const category = worstActOf(found[1], worst?.category)
      count++
      const start = from + found[0].indexOf(found[1])
      if (category !== undefined) worst = { category, start, end: start + found[1].length }
    }
  }
  if (worst !== undefined && count > 1)
    tell(`${feature}:${worst.category}`, { at, start: worst.start, end: worst.end })
}
