// Verbs that mean another act by what they are done to: to check a box is to act, to convert between
// units is to work something out, to report a problem is to send. Pure; called by read-text.

import { toWordSet } from '@sluice/policy/core/word-set'
import { nounsAt, worksOut } from './nouns.ts'
import type { WordSpan } from './split-words.ts'

/** An act by its verb, and none by what it is done to: to convert between units, to test a connection,
 * to send a question and get the answer. The family that it belongs to instead. */
export function meantFamily(words: readonly WordSpan[], head: WordSpan): string | undefined {
  const from = words.indexOf(head)
  if (worksOut(words, from)) return 'render'
  if (words[from + 1]?.text === 'out' && /^checks?$/.test(head.text)) return 'keep'
  if (words[from + 1]?.text === 'off' && /^kicks?$/.test(head.text)) return 'run'
  const act = ASKING.exec(head.text)?.[1]
  if (act === undefined) return undefined
  const near = words.slice(from + 1, from + (act === 'load' ? 8 : 5)).map(({ text }) => text)
  if (act === 'check') return near.some((word) => TICKED.test(word)) ? 'drive' : undefined
  if (act === 'solve') return near.some((word) => /^captchas?$/.test(word)) ? 'drive' : undefined
  if (act === 'report') return near.some((word) => COMPLAINTS.has(word)) ? 'send' : undefined
  if (act === 'perform' || act === 'conduct')
    return near.some((word) => nounsAt(word).includes('inquiry')) ? 'judge' : undefined
  if (act === 'load')
    return near.some((word) => /^(?:onto|into)$/.test(word)) ? 'change' : undefined
  if (act === 'convert') return near.includes('between') ? 'judge' : undefined
  if (act === 'test')
    return near.some((word) => /^connect(?:ion|ivity)$/.test(word)) ? 'judge' : undefined
  const isQuestion = near.some((word) => /^(?:prompt|query|question)$/.test(word))
  // A tool that acts on an instruction is classified by the instruction.
  if (words.some(({ text }) => nounsAt(text).includes('agent'))) return 'run'
  const answered = words.slice(from).some(({ text }) => /^(?:get|gets|return|returns)$/.test(text))
  return isQuestion && answered ? 'look' : undefined
}

const ASKING = /^(convert|test|send|load|report|perform|conduct|check|solve)s?$/
/** To check one of these is to tick it. */
const TICKED = /^(?:checkbox|checkboxes|radio)$/
/** To report one of these is to tell somebody. */
const COMPLAINTS = toWordSet(
  'problem problems bug bugs issue issues incident abuse spam feedback outage vulnerability',
)
