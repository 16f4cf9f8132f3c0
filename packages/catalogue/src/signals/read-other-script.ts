// The act of a description in Chinese, Japanese, Korean or Russian, by the parts of words that say it
// (other-languages.ts). Pure; called by read-text.

import { OTHER_LETTER, OTHER_SCRIPTS, VERB_LAST } from './other-languages.ts'
import type { EmitSignal } from './signal.ts'
import type { Family } from './verbs.ts'

/** The act in a script without words: where the verb ends the sentence the last one, else the first. */
export function readOtherScript(text: string, at: string, end: number, emit: EmitSignal): boolean {
  if (!OTHER_LETTER.test(text)) return false
  const stop = text.slice(0, end).search(/[。\n]|\. /u)
  const cut = text.slice(0, stop < 0 ? end : stop)
  const small = cut.toLowerCase()
  // `İ` becomes two, and places would no longer be those of the text.
  const looked = small.length === cut.length ? small : cut
  const last = VERB_LAST.test(looked)
  const verbs: { family: Family; start: number; end: number }[] = []
  for (const [family, pattern] of Object.entries(OTHER_SCRIPTS)) {
    pattern.lastIndex = 0
    for (let hit = pattern.exec(looked); hit !== null; hit = pattern.exec(looked))
      verbs.push({ family: family as Family, start: hit.index, end: hit.index + hit[0].length })
  }
  verbs.sort((a, b) => (last ? b.start - a.start : a.start - b.start))
  const [head, ...others] = verbs
  if (head === undefined) return false
  emit(`text:${head.family}`, { at, start: head.start, end: head.end })
  for (const { family, start, end: stopAt } of others)
    if (ALSO.test(looked.slice(Math.max(0, start - 2), start)))
      emit(`text.and:${family}`, { at, start, end: stopAt })
  return true
}

const ALSO = /[并並且和或、，及]|하고|및| и $/u
