// The grammar of tool names. The act is the first plain verb (`create_issue`, `db_cluster_delete`);
// if it has no verb, a word that may be a verb at the head or the end (`log_event`, `agent_prompt`);
// otherwise the noun tells (`server_status`). Pure; called by gather-signals.

import { toWordSet } from '@sluice/policy/structures/word-set'
import { FILLERS, headOf } from './head-of-name.ts'
import { isVerbOf, verbAt } from './lexicon.ts'
import { familyFeatures, nounFeatures, wordFeatures } from './memo-feature.ts'
import type { Noun } from './noun-words.ts'
import { DEALS, nounsAt, OTHER_DEALS, worksOut } from './nouns.ts'
import type { EmitSignal } from './signal.ts'
import { splitNameWords, type WordSpan } from './split-words.ts'

const JOINS = new Set(['and', 'or', 'n'])
const STRONG_HEADS =
  /^(get|list|create|delete|update|search|fetch|remove|send|read|find)([a-z]{4,})$/
const NOT_COMPOUND = /^(ing|able|ment|ness|tion|ings|iness|ening|ready|ener|eners)/

/** What the name says: the act's words are emitted with their place. */
export function readName(name: string, server: string, emit: EmitSignal): void {
  const words = withoutServer(splitNameWords(name), server)
  const head = headOf(words)
  const works = head !== undefined && (rehearses(words) || worksOut(words, words.indexOf(head)))
  const read = head !== undefined && (works || isVerbOf('Read', head.text))
  if (head === undefined) emitNouns(words, emit)
  else {
    if (works) emit('name:render', place(head))
    else emitVerb('name', head, emit)
    for (let at = words.indexOf(head) + 1; at < words.length; at++) {
      const word = words[at] as WordSpan
      const joined = JOINS.has(words[at - 1]?.text ?? '')
      if (joined && verbAt(word.text) !== undefined) emitVerb('name.and', word, emit)
    }
  }
  const kind = head === undefined ? 'none' : read ? 'read' : 'act'
  const object = objectOf(words, head)
  // A draft order is none, until it is completed.
  const settles = head !== undefined && (verbAt(head.text)?.families.includes('settle') ?? false)
  words.forEach((word, index) => {
    if (word.text === 'call' && kind === 'act') emit('call:name', place(word))
    if (word === head) return
    if (isCreditNote(words, index) && kind !== 'read')
      emit(NOUNS_OF_NAME[kind]('money', word === object), place(word))
    for (const noun of nounsAt(word.text)) {
      if (
        noun === 'answer' ||
        noun === 'lore' ||
        (kind === 'read' && !SIGNALLED_OF_READS.has(noun))
      )
        continue
      const before = words[index - 1]?.text ?? ''
      // `deploy_token` deploys a token, `create_deploy_token` makes one for deploys.
      const isOther = OTHER_DEALS.has(before) && words[index - 1] !== head
      if (DEALS.has(noun) && isOther && !(before === 'draft' && settles)) continue
      emit(NOUNS_OF_NAME[kind](noun, word === object), place(word))
    }
  })
}

/** `resize_preview`, `submit_dry_run`: what would be done is told, not done. */
function rehearses(words: readonly WordSpan[]): boolean {
  const [before, last] = words.slice(-2).map(({ text }) => text)
  return last === 'preview' || last === 'dryrun' || (before === 'dry' && last === 'run')
}

/** The families of a verb share its amount; the word also speaks for itself. */
function emitVerb(zone: 'name' | 'name.and', word: WordSpan, emit: EmitSignal): void {
  const verb = verbAt(word.text)
  if (verb === undefined) return
  const span = place(word)
  const features = zone === 'name' ? OF_NAME : OF_JOINED_NAME
  for (const family of verb.families)
    emit(features.get(family) as string, span, 1 / verb.families.length)
  emit((zone === 'name' ? wordOfName : wordOfJoinedName)(verb.base), span)
}

const OF_NAME = familyFeatures('name')
const OF_JOINED_NAME = familyFeatures('name.and')
const wordOfName = wordFeatures('name')
const wordOfJoinedName = wordFeatures('name.and')
const NOUNS_OF_NAME = {
  none: nounFeatures('name.none'),
  read: nounFeatures('name.read'),
  act: nounFeatures('name.act'),
}

/** `cancel_all_orders_by_id` acts on orders, `order_cancel` on an order. */
function objectOf(words: readonly WordSpan[], head: WordSpan | undefined): WordSpan | undefined {
  const stop = words.findIndex(({ text }, index) => index > 0 && OF.has(text))
  const whole = stop > 0 ? words.slice(0, stop) : words
  // `mark_invoice_sent`: the invoice, not what becomes of it.
  const phrase =
    whole.length > 2 && BECOMES.test(whole.at(-1)?.text ?? '') ? whole.slice(0, -1) : whole
  const index = phrase.findLastIndex((word) => word !== head && !FILLERS.has(word.text))
  const before = phrase[index - 1]
  // A payment link or an order item is the payment or the order.
  if (before !== undefined && before !== head && PARTS.has(phrase[index]?.text ?? ''))
    if (nounsAt(before.text).some((noun) => noun === 'money' || noun === 'deal')) return before
  // `payment_link_upi`: the link of a payment, wherever it stands.
  const part = phrase.findIndex(
    (word, at) => at > 0 && word.text === 'link' && isMoney(phrase[at - 1]),
  )
  if (part > 0) return phrase[part - 1]
  if (before?.text === 'credit' && /^notes?$/.test(phrase[index]?.text ?? '')) return before
  return phrase[index]
}

/** A credit note pays back; other notes tell. */
function isCreditNote(words: readonly WordSpan[], index: number): boolean {
  return words[index]?.text === 'credit' && /^notes?$/.test(words[index + 1]?.text ?? '')
}

const BECOMES =
  /^(?:sent|paid|unpaid|void|voided|open|opened|closed|approved|rejected|finalized|completed|confirmed|shipped|active|inactive)$/

function isMoney(word: WordSpan | undefined): boolean {
  return word !== undefined && nounsAt(word.text).includes('money')
}

const SIGNALLED_OF_READS: ReadonlySet<Noun> = new Set(['secret', 'ownership'])
const PARTS = toWordSet(
  'link intent item items session request capture authorization mode batch adjustment',
)
const OF = new Set(['by', 'for', 'from', 'to', 'in', 'with', 'of', 'on', 'via', 'using'])

function emitNouns(words: readonly WordSpan[], emit: EmitSignal): void {
  // `agent_is_stopped`, `has_access`: a question.
  const asks = words.slice(0, -1).find(({ text }) => QUESTIONS.has(text))
  if (asks !== undefined) return emit('name:judge', place(asks))
  const last = words.findLast(({ text }) => nounsAt(text).includes('answer'))
  if (last !== undefined) emit('name:answer', place(last))
  else emit('name:nothing', { at: '/name', start: 0, end: 0 })
}

const QUESTIONS = new Set(['is', 'are', 'has', 'does'])

/** `github_create_issue` of server `github` is `create_issue`; joined words are taken apart. */
function withoutServer(words: readonly WordSpan[], server: string): WordSpan[] {
  const own = new Set(splitNameWords(server).map(({ text }) => text))
  const first = words[0]
  const named = words.length > 1 && first !== undefined && own.has(first.text)
  const rest = named && verbAt(first.text)?.nounish !== false ? words.slice(1) : words
  return rest.flatMap((word) => {
    if (verbAt(word.text) !== undefined || nounsAt(word.text).length > 0) return [word]
    const [, verb, object] = STRONG_HEADS.exec(word.text) ?? []
    if (verb !== undefined && object !== undefined && !NOT_COMPOUND.test(object))
      return splitAt(word, verb.length)
    const [, before] = JOINED_NOUNS.exec(word.text) ?? []
    return before === undefined ? [word] : splitAt(word, before.length)
  })
}

/** `salesorder`, `creditnote`: two nouns, of which the second is known. */
const JOINED_NOUNS =
  /^([a-z]{4,})(?:orders?|notes?|payments?|invoices?|refunds?|subscriptions?|prices?|bookings?)$/

function splitAt({ text, start, end }: WordSpan, chars: number): WordSpan[] {
  return [
    { text: text.slice(0, chars), start, end: start + chars },
    { text: text.slice(chars), start: start + chars, end },
  ]
}

function place({ start, end }: WordSpan) {
  return { at: '/name', start, end }
}
