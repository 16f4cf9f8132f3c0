// The verbs by which a text tells that a tool changes something: `overwrites the rate`, `and order the dish`.
// Two texts of one tool are compared by them. Pure; called by grade-change.ts.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { classOf, verbAt } from './lexicon.ts'
import { VERBS_PRECEDE } from './read-text.ts'
import { splitText } from './split-words.ts'

/**
 * Adds the base forms of verbs of changing classes that are told of the tool: in the third person, at the head
 * of the text, or joined to another clause. `before you delete` is advice, and a participle (`created`)
 * describes what is read.
 */
export function addActs(text: string, acts: Set<string>): void {
  const words = splitText(text, 0, text.length)
  words.forEach(({ text: word, end }, index) => {
    const verb = verbAt(word)
    if (verb === undefined || HOW_IT_WORKS.has(verb.base)) return
    if (verb.families.some((family) => classOf(family) === 'Read')) return
    const next = words[index + 1]
    const hasObject = next && OBJECT.test(next.text) && text.slice(end, next.start).trim() === ''
    const isTold = verb.form === 'third' && (hasObject || !verb.nounish)
    const isHead = index === 0 || JOINT.test(words[index - 1]?.text ?? '')
    if (isTold || (verb.form === 'base' && isHead && hasObject)) acts.add(verb.base)
  })
}

const OBJECT = new RegExp(`${VERBS_PRECEDE.source}|^(?:it|them)$`)
const JOINT = /^(?:and|then|also|will|automatically|to)$/

/** Said of what a tool takes or of how it works: `accepts a path`, `handles both`, `applies the filter`. */
const HOW_IT_WORKS = toWordSet(
  'accept admit allow handle give require enforce perform apply combine group generate',
)
