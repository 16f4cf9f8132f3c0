// Every message towards a client passes here: answers, errors, notifications and questions of its
// server's, and what the gate itself says. It is inspected before it is sent, so that the labels of
// the session are in force before anybody has read it. Used by the relay, once for each client.

import type { Strictness } from '@sluice/guard/inspect-answer'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import { findNamedTarget } from '../session/known-names.ts'
import { ABANDONED_CALLS_MAX } from '../session/limits.ts'
import type { ClientSend, MessageContext, MessageSource } from '../shared/transport.ts'
import type { AnswerFilter } from './filter-answers.ts'
import type { SentRequest } from './pending-requests.ts'
import { toWithheldText } from './replies.ts'

/** A message before it is sent. `sources` is what it may belong to; empty for the gate's own words.
 * `inspected` are the labels that it was already looked through for, `answered` the call that it is the
 * answer to. */
export type InspectDelivery = (
  text: string,
  strictness: Strictness,
  sources: () => readonly MessageSource[],
  inspected: readonly string[],
  answered?: CrossedCall,
) => void

export type CrossedCall = Pick<SentRequest, 'method' | 'name' | 'params' | 'program'>

const NOTHING = (): readonly MessageSource[] => []
const NO_LABELS: readonly string[] = []
const ITS_SERVER: MessageSource = { method: '', name: '' }
/** The source of a message that any call of the server may have caused. */
const ANY_CALL: MessageSource = { method: 'tasks/list', name: '' }

export interface DeliveryOptions {
  readonly send: ClientSend
  readonly inspect: InspectDelivery
  /** The policy's rules for answers. */
  readonly answers: Pick<AnswerFilter, 'isActive' | 'filterAtOnce' | 'recordChanges'>
  /** Requests without an answer. */
  readonly open: () => readonly CrossedCall[]
  /** Returns a promise until every gate knows the labels of the session; undefined if all know them. */
  readonly whenStored?: (() => Promise<void> | undefined) | undefined
}

export class Deliveries {
  readonly #options: DeliveryOptions
  /** Calls that nobody waits for: their server may still have something to say. */
  readonly #abandoned = new Map<string, MessageSource>()
  /** The last message that waits until its labels are stored; the next one waits for it. */
  #last: Promise<void> | undefined

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Whatever a client is sent, it is sent by this. */
  readonly send: ClientSend = (text, related) => {
    const strictness = related?.isDefinition === true ? 'definition' : 'answer'
    const sources = related?.from === 'gate' ? NOTHING : () => this.#sourcesOf(related)
    const answered = related?.answers === true ? toCall(related.from) : undefined
    const inspected = related?.inspected ?? NO_LABELS
    const passed = this.#filter(text, related)
    if (passed === undefined) return false
    this.#options.inspect(passed, strictness, sources, inspected, answered)
    const stored = this.#options.whenStored?.()
    if (stored === undefined && this.#last === undefined) return this.#options.send(passed, related)
    this.#sendLater(passed, related, stored)
    return true
  }

  /** Sends messages in order, after their labels are stored. A message whose labels cannot be stored is not sent. */
  #sendLater(
    text: string,
    related: MessageContext | undefined,
    stored: Promise<void> | undefined,
  ): void {
    const last = Promise.all([this.#last, stored]).then(() => {
      if (this.#last === last) this.#last = undefined
      this.#options.send(text, related)
    })
    last.catch(() => {})
    this.#last = last
  }

  /** Returns the message as it may be delivered; undefined if it may not be, and no one waits for it. */
  #filter(text: string, related: MessageContext | undefined): string | undefined {
    const { answers } = this.#options
    if (related?.isFiltered === true || related?.from === 'gate' || !answers.isActive()) return text
    const filtered = answers.filterAtOnce({
      text,
      sources: this.#filteredBy(related),
      schema: 'unknown',
    })
    answers.recordChanges(filtered.changes)
    if (filtered.status === 'passes') return filtered.text
    if (related?.answers !== true) return undefined
    // The caller waits, and gets the reason.
    return writeError(related.request ?? null, RPC.internal, toWithheldText(filtered.reason))
  }

  /** Returns the sources whose rules filter the message: those of its labels, and those of descriptions. */
  #filteredBy(related: MessageContext = {}): readonly MessageSource[] {
    const { from } = related
    if (related.answers === true && typeof from === 'object') return [findSource(from)]
    return this.#sourcesOf(related)
  }

  /** A call that went over will have no answer. */
  abandon(call: CrossedCall): void {
    const source = findSource(call)
    this.#abandoned.set(JSON.stringify([source.method, source.name]), source)
    if (this.#abandoned.size <= ABANDONED_CALLS_MAX) return
    this.#abandoned.clear()
    this.#abandoned.set('', ANY_CALL)
  }

  /** An answer belongs to its request. Anything else counts as said for every call that the server
   * works on: to which of them it belongs is the server's word, or a guess. */
  #sourcesOf({ answers, errorCode, from }: MessageContext = {}): readonly MessageSource[] {
    const own = typeof from === 'object' ? findSource(from) : ITS_SERVER
    if (answers === true && own !== ITS_SERVER)
      return errorCode === undefined && DESCRIPTIONS.has(own.method) ? [] : [own]
    return [ITS_SERVER, own, ...this.#options.open().map(findSource), ...this.#abandoned.values()]
  }
}

/** The call whose answer it is; the gate's own words, and a server's, answer none. */
function toCall(from: MessageContext['from']): CrossedCall | undefined {
  return typeof from === 'object' && 'params' in from ? (from as CrossedCall) : undefined
}

/** A completion belongs to the prompt or resource that it is for. */
export function findSource(call: MessageSource & Partial<CrossedCall>): MessageSource {
  const { method, name, params } = call
  const named = method === 'completion/complete' ? findNamedTarget({ method, params }) : undefined
  return named ?? { method, name }
}

/** Answers that describe a server and its tools: they are compared with the pins too. */
const DEFINITIONS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'tools/list'])

/** Answers that describe what a server offers and hold no data of it. Clients load them at the start, so
 * with a label of `server/*` every session would have it before the first call. */
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  ...DEFINITIONS,
  'prompts/list',
  'resources/templates/list',
])

export function isDefinition(method: string, isError: boolean): boolean {
  return !isError && DEFINITIONS.has(method)
}
