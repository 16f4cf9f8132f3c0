// The class of one act among several, as in `action: list | create | delete`: by its word alone,
// and the worst of them all. A tool takes its worst action. Pure; called by the readers.

import { CATEGORIES, type Category } from '@sluice/policy/core/tools'
import { classOf, verbAt } from './lexicon.ts'
import { splitNameWords } from './split-words.ts'

/** Where a word has several families, the one it means among the actions of a tool. */
const MEANT: Readonly<Record<string, Category>> = {
  drop: 'Destructive',
  reset: 'Destructive',
  rotate: 'Destructive',
  clear: 'Destructive',
  wipe: 'Destructive',
  release: 'Write',
  trash: 'Write',
  archive: 'Write',
  restore: 'Write',
  close: 'Write',
  open: 'Write',
  cancel: 'Execute',
  select: 'Read',
  query: 'Read',
  test: 'Execute',
  evaluate: 'Read',
  check: 'Read',
  report: 'Read',
  download: 'Write',
  resolve: 'Write',
  transfer: 'Write',
  swap: 'Write',
  terminate: 'Destructive',
  kill: 'Execute',
  apply: 'Write',
  package: 'Write',
  lock: 'Write',
  unlock: 'Write',
  mute: 'Write',
  unmute: 'Write',
  activate: 'Write',
  deactivate: 'Write',
  block: 'Write',
  book: 'Write',
  renew: 'Financial',
  subscribe: 'Write',
  publish: 'Write',
  play: 'Execute',
  format: 'Read',
  convert: 'Read',
  log: 'Write',
  debug: 'Execute',
  simulate: 'Read',
  rate: 'Read',
}

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
    return MEANT[verb.base] ?? (family === undefined ? undefined : classOf(family))
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
