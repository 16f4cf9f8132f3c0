// The class of one act among several, as in `action: list | create | delete`: by its word alone,
// and the worst of them all. A tool takes its worst action. Pure; called by the readers.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'
import { toWords } from '@sluice/policy/structures/word-set'
import { classOf, verbAt } from './lexicon.ts'
import { splitNameWords } from './split-words.ts'

/** Where a word has several families, the one it means among the actions of a tool. */
const MEANT: ReadonlyMap<string, Category> = new Map(
  Object.entries({
    Read: 'select query evaluate check report format convert simulate rate',
    Write: `
      release trash archive restore close open download resolve transfer swap apply package lock
      unlock mute unmute activate deactivate block book subscribe publish log
    `,
    Execute: 'cancel test kill play debug',
    Destructive: 'drop reset rotate clear wipe terminate',
    Financial: 'renew',
  }).flatMap(([category, words]) =>
    toWords(words).map((word) => [word, category as Category] as const),
  ),
)

export const HTTP_METHODS: Readonly<Record<string, Category>> = {
  GET: 'Read',
  HEAD: 'Read',
  OPTIONS: 'Read',
  POST: 'Write',
  PUT: 'Write',
  PATCH: 'Write',
  DELETE: 'Destructive',
}

/** `delete_row`, `DELETE`, `listTables`; undefined where the word is no act. */
export function classOfAct(value: string): Category | undefined {
  const http = HTTP_METHODS[value]
  if (http !== undefined) return http
  for (const word of splitNameWords(value).slice(0, 3)) {
    const verb = verbAt(word.text)
    if (verb === undefined || verb.form === 'participle' || verb.form === 'gerund') continue
    // `rules | signals | logs`: things to choose from, not acts.
    if (verb.form === 'third' && verb.nounish) continue
    const family = verb.families[0]
    return MEANT.get(verb.base) ?? (family === undefined ? undefined : classOf(family))
  }
  return undefined
}

/** The class of this act if it is worse than what is known; undefined where it is not. */
export function worstActOf(value: string, known: Category | undefined): Category | undefined {
  const worse = worseOf(classOfAct(value), known)
  return worse === known ? undefined : worse
}

export function worseOf(
  category: Category | undefined,
  known: Category | undefined,
): Category | undefined {
  if (category === undefined) return known
  if (known === undefined) return category
  return CATEGORIES.indexOf(category) > CATEGORIES.indexOf(known) ? category : known
}
