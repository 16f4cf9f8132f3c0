// The word of a tool's name that is its act: `create` in `create_issue`, `log` in `log_event`, none in `server_status`.
// A word that may be a noun is a verb only in some places, so the readings stand in an order: the first that
// speaks of a name decides. Pure; called by read-name.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { isVerbOf, verbAt } from './lexicon.ts'
import type { WordSpan } from './split-words.ts'

/** Words that say nothing about the act. */
export const FILLERS = toWordSet(
  'mcp tool tools api v1 v2 v3 batch bulk multi multiple all my the a of',
)

/** The words of a name that may say something of the act, as readings look at them. */
interface NameWords {
  /** The useful words in their order: fillers, numbers and single letters are left out. */
  readonly useful: readonly WordSpan[]
  readonly first: WordSpan
  /** The same as `first` in a name of one useful word. */
  readonly last: WordSpan
  /** The first word that is a verb and cannot be a noun. */
  readonly plain: WordSpan | undefined
}

/** What a reading says of a name: the word that is its act, or that it has none. */
type Head = WordSpan | 'none'

/** A way to read a name; undefined if it does not speak of such a name. */
type HeadReading = (words: NameWords) => Head | undefined

/** In this order. */
const READINGS: readonly HeadReading[] = [
  readStateOfDeed,
  readSureHead,
  readPlainVerb,
  readVerbAtEnd,
  readVerbAtHead,
  readOnlyVerbAtEnd,
  readOutcome,
  readVerbInside,
]

/** The word that is the act of a tool of this name; undefined if the name has none. */
export function headOf(words: readonly WordSpan[]): WordSpan | undefined {
  const useful = words.filter(
    ({ text }, index) =>
      !FILLERS.has(text) && !/^(?:\d+|[a-z])$/.test(text) && !isThing(words, index),
  )
  const [first] = useful
  const last = useful.at(-1)
  if (first === undefined || last === undefined) return undefined
  const plain = useful.find((word) => isPlainVerb(word, word === first))
  const name = { useful, first, last, plain }
  for (const read of READINGS) {
    const head = read(name)
    if (head !== undefined) return head === 'none' ? undefined : head
  }
  return undefined
}

/** `deploy_status`: the status of a deploy is no deploy. `stake_info` is told of, not staked. */
function readStateOfDeed({ useful, first, last }: NameWords): Head | undefined {
  if (useful.length !== 2) return undefined
  const isState = DEEDS.has(first.text) && STATES.has(last.text)
  const isTold = isVerbOf('Financial', first.text) && TOLD.has(last.text)
  return isState || isTold ? 'none' : undefined
}

/** `place_order`, `set_read_status`: what heads the name is its verb, although it may be a noun. */
function readSureHead({ first, plain }: NameWords): Head | undefined {
  return plain !== undefined && mayBeVerb(first) && SURE_HEADS.has(first.text) ? first : undefined
}

/** `create_issue`, `db_cluster_delete`: a word that is nothing but a verb. */
function readPlainVerb({ plain }: NameWords): Head | undefined {
  return plain
}

/** `message_list`, `task_run`: both ends may be verbs, and the last one is a verb where it ends a name. */
function readVerbAtEnd(words: NameWords): Head | undefined {
  const { useful, first, last } = words
  if (!isHeaded(words) || useful.length < 2 || SURE_HEADS.has(first.text)) return undefined
  return mayBeVerb(last) && ENDS.has(last.text) ? last : undefined
}

/** `log_event`, `preview`: a noun by itself is no act (`label`, `message`), but may be an answer. */
function readVerbAtHead(words: NameWords): Head | undefined {
  return isHeaded(words) ? words.first : undefined
}

/** `agent_prompt`: the last word alone may be a verb. */
function readOnlyVerbAtEnd({ last }: NameWords): Head | undefined {
  return mayBeVerb(last) && ENDS.has(last.text) ? last : undefined
}

/** `policy_run_results` are results. */
function readOutcome({ last }: NameWords): Head | undefined {
  return OUTCOMES.has(last.text) ? 'none' : undefined
}

/** `product_search_filters`: a verb in the middle that asks, or that would be sure at the head. */
function readVerbInside({ useful }: NameWords): Head | undefined {
  return useful.find(
    (word) => mayBeVerb(word) && (SURE_HEADS.has(word.text) || ASKS.has(word.text)),
  )
}

/** Whether the first word heads the name as a verb, unless the name is of an outcome. */
function isHeaded({ useful, first, last }: NameWords): boolean {
  const isSure = SURE_HEADS.has(first.text) || ENDS.has(first.text)
  if (OUTCOMES.has(last.text) && useful.length > 2 && !isSure) return false
  return mayBeVerb(first) && (isSure || useful.length > 1 || isVerbOf('Read', first.text))
}

function mayBeVerb({ text }: WordSpan): boolean {
  return verbAt(text)?.form === 'base'
}

/** A verb that cannot be a noun; in the third person only at the head (`deletes_row`). */
function isPlainVerb({ text }: WordSpan, isFirst: boolean): boolean {
  const verb = verbAt(text)
  if (verb === undefined || verb.nounish) return false
  return verb.form === 'base' || (verb.form === 'third' && isFirst)
}

/** `play_store`, `order_book`: a thing, not an act. */
function isThing(words: readonly WordSpan[], index: number): boolean {
  const word = words[index]?.text
  const before = words[index - 1]?.text ?? ''
  if (word === 'order') return words[index + 1]?.text === 'book'
  if (word === 'book') return before === 'order'
  if (word === 'press') return before === 'word'
  return word === 'store' && /^(?:app|play|web)$/.test(before)
}

/** Acts whose state may be asked for, and words for that state. */
const DEEDS = toWordSet(
  'deploy deployment build run test job task scan audit sync release import export backup migrate restore',
)
const STATES = toWordSet('status state progress history')
/** What is told of a thing, where its name alone would be a deal. */
const TOLD = toWordSet('info status history stats details summary')
/** What an act leaves behind. */
const OUTCOMES = toWordSet(`
  results result summary report overview history details stats statistics metrics timeline
  insights readiness status
`)
/** Verbs that ask, wherever they stand. */
const ASKS = toWordSet('list search query view log review')
/** May be nouns, but not at the head of a name. */
const SURE_HEADS = toWordSet(`
  set update place power open check test run move search count start stop cancel use clone merge
  copy import export install deploy select drop handle end
`)
/** May be nouns, but verbs where they end a name: `message_list`, `task_run`. */
const ENDS = toWordSet(`
  list search run test set check query view export import update start stop cancel deploy install
  build clone copy move merge push pull commit install schedule publish place drop open select
  stake count end prompt trade swap transfer share load store track call trigger post snapshot
  screenshot fork click type fill navigate press hover drag
`)
