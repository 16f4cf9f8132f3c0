// Verbs that mean another act by what they are done to: to check a box is to act, to convert between
// units is to work something out, to report a problem is to send. Pure; called by read-text.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { nounsAt, worksOut } from './nouns.ts'
import type { WordSpan } from './split-words.ts'
import type { Family } from './verbs.ts'

/** What a verb means if one of the next words is such a word. */
interface Meaning {
  /** How many of the words after the verb are looked at. */
  readonly within: number
  readonly hasWord: (word: string) => boolean
  readonly family: Family
}

const WITHIN = 4

/** The meanings of verbs, by the verb in its base form. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map([
  // To check one of these is to tick it.
  meaning('check', 'drive', isOneOf('checkbox checkboxes radio')),
  meaning('solve', 'drive', isOneOf('captcha captchas')),
  // To report one of these is to tell somebody.
  meaning(
    'report',
    'send',
    isOneOf(`
      problem problems bug bugs issue issues incident abuse spam feedback outage vulnerability
    `),
  ),
  meaning('perform', 'judge', isInquiry),
  meaning('conduct', 'judge', isInquiry),
  // The object of `load … into` may be long.
  meaning('load', 'change', isOneOf('onto into'), 7),
  meaning('convert', 'judge', isOneOf('between')),
  meaning('test', 'judge', isOneOf('connection connectivity')),
])

/** The families of verbs with a particle, by the verb and the word after it. */
const WITH_PARTICLE: ReadonlyMap<string, Family> = new Map([
  ['check out', 'keep'],
  ['checks out', 'keep'],
  ['kick off', 'run'],
  ['kicks off', 'run'],
])

/**
 * The family that a verb belongs to by what it is done to; undefined if it means what it says. `words` are those of
 * its sentence, and `head` is one of them.
 */
export function meantFamily(words: readonly WordSpan[], head: WordSpan): Family | undefined {
  const from = words.indexOf(head)
  if (worksOut(words, from)) return 'render'
  const phrasal = WITH_PARTICLE.get(`${head.text} ${words[from + 1]?.text ?? ''}`)
  if (phrasal !== undefined) return phrasal
  if (/^sends?$/.test(head.text)) return meantBySending(words, from)
  const meant = MEANINGS.get(head.text) ?? MEANINGS.get(head.text.replace(/s$/, ''))
  if (meant === undefined) return undefined
  const near = words.slice(from + 1, from + 1 + meant.within)
  return near.some(({ text }) => meant.hasWord(text)) ? meant.family : undefined
}

/** The family that sending means: to send a question and get the answer is to look, to send an agent anything is to
 * run it. */
function meantBySending(words: readonly WordSpan[], from: number): Family | undefined {
  // A tool that acts on an instruction is classified by the instruction.
  if (words.some(({ text }) => nounsAt(text).includes('agent'))) return 'run'
  const near = words.slice(from + 1, from + 1 + WITHIN)
  const isQuestion = near.some(({ text }) => QUESTIONS.has(text))
  const isAnswered = words.slice(from).some(({ text }) => ANSWERED.has(text))
  return isQuestion && isAnswered ? 'look' : undefined
}

const QUESTIONS = toWordSet('prompt query question')
const ANSWERED = toWordSet('get gets return returns')

function meaning(
  verb: string,
  family: Family,
  hasWord: Meaning['hasWord'],
  within = WITHIN,
): readonly [string, Meaning] {
  return [verb, { within, hasWord, family }]
}

function isOneOf(list: string): Meaning['hasWord'] {
  const words = toWordSet(list)
  return (word) => words.has(word)
}

function isInquiry(word: string): boolean {
  return nounsAt(word).includes('inquiry')
}
