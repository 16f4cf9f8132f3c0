// Phrases of a description that count wherever they stand (phrases.ts), and a list of operations. Pure; called by
// read-text. The patterns have no nested repetition: the text is the server's.

import type { Category } from '@sluice/policy/calls/tools'
import { PHRASE_PATTERNS, type Phrase } from './phrases.ts'
import type { EmitSignal } from './signal.ts'
import { worstActOf } from './worst-act.ts'

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

export function readPhrases(text: string, at: string, end: number, emit: EmitSignal): void {
  const looked = end < text.length ? text.slice(0, end) : text
  emitPhrases(lower(looked), at, emit)
  readOffered(looked, at, emit)
  const crud = CRUD.exec(looked)
  if (crud !== null)
    emit('acts:Destructive', { at, start: crud.index, end: crud.index + crud[0].length })
}

/** The patterns ask for small letters: ignoring the case costs them half their time. */
function lower(text: string): string {
  const lowered = text.toLowerCase()
  // `İ` becomes two, and places would no longer be those of the text.
  return lowered.length === text.length
    ? lowered
    : text.replace(/[A-Z]/g, (one) => one.toLowerCase())
}

/** The phrases that each stem, or its beginning, is a stem of, a bit each. */
const PHRASES_BY_STEM: ReadonlyMap<string, number> = new Map(
  PHRASE_PATTERNS.flatMap(({ stems }) => stems).map((stem) => [
    stem,
    PHRASE_PATTERNS.reduce(
      (bits, { stems }, index) =>
        stems.some((start) => stem.startsWith(start)) ? bits | (1 << index) : bits,
      0,
    ),
  ]),
)
const STEM = new RegExp(
  [...PHRASES_BY_STEM.keys()].sort((one, other) => other.length - one.length).join('|'),
  'g',
)

/** The phrases that a text may have: most have the stems of two or three. */
function findPhrases(looked: string): number {
  let bits = 0
  STEM.lastIndex = 0
  for (let found = STEM.exec(looked); found !== null; found = STEM.exec(looked)) {
    bits |= PHRASES_BY_STEM.get(found[0]) as number
    // Stems overlap, as in `restored`.
    STEM.lastIndex = found.index + 1
  }
  return bits
}

const CHOICE = /\buse (?:this )?(?:tool )?(?:when|instead|if)\b/
const OF_THIS_ONE: ReadonlySet<Phrase> = new Set<Phrase>(['runs anything', 'runs now'])

function emitPhrases(looked: string, at: string, emit: EmitSignal): void {
  const bits = findPhrases(looked)
  if (bits === 0) return
  // What follows is about the choice of a tool, and speaks of others.
  const choice = looked.search(CHOICE)
  for (const [index, { phrase, pattern }] of PHRASE_PATTERNS.entries()) {
    if ((bits & (1 << index)) === 0) continue
    const end = choice >= 0 && OF_THIS_ONE.has(phrase) ? choice : looked.length
    pattern.lastIndex = 0
    for (let found = pattern.exec(looked); found !== null; found = pattern.exec(looked))
      if (found.index < end)
        emit(`says:${phrase}`, { at, start: found.index, end: found.index + found[0].length })
  }
}

/** The worst of the acts that a text lists; one alone is no list. */
export function readOffered(text: string, at: string, emit: EmitSignal, feature = 'acts'): void {
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
    emit(`${feature}:${worst.category}`, { at, start: worst.start, end: worst.end })
}
