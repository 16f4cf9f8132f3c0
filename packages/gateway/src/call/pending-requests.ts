// Requests in flight in one direction, from their arrival to the reply. Ids are the gate's own on the
// far side, so that nobody can answer a request that they did not receive. A request whose sender no longer waits
// is not forwarded. Owned by the relay, one for each direction; handle-call.ts takes a request through.

import type { Caller } from '@sluice/access/identity/callers/caller'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import type { ProgramOrigin } from '@sluice/protocol/agent-calls'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import { getMeta, PROMPT_META } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import {
  oneLine,
  writeError,
  writeNotification,
  writeRequest,
} from '@sluice/protocol/write-message'
import { enterStep } from '../shared/current-step.ts'
import { SmallMap } from '../shared/small-map.ts'
import { GATE_STOPPING, type MessageContext, type TraceContext } from '../shared/transport.ts'
import type { UpstreamFailure, UpstreamSendOptions } from '../upstream/upstream.ts'
import type { Admission } from './call-request.ts'

/** A request whose sender waits for the reply. */
export interface PendingRequest {
  readonly id: RequestId
  readonly method: string
  /** False once it is answered, cancelled or given up: then nothing is sent for it, either way. */
  isOpen: boolean
  /** Who sent it, if that is a client: one session may be used with tokens of different rights. */
  readonly caller: Caller | undefined
  /** The forwarded request; undefined until it is forwarded. */
  sent: SentRequest | undefined
}

/** A request that was forwarded. */
export interface SentRequest {
  /** The id that the sender gave it. */
  readonly id: RequestId
  readonly method: string
  readonly name: string
  /** The admission; undefined for requests of the protocol itself, which are not recorded. */
  readonly admission: Admission | undefined
  /** The client's program that made the call. */
  readonly program?: ProgramOrigin | undefined
  readonly startedMs: number
  readonly progressToken: JsonValue | undefined
  /** The parameters as the sender wrote them, with handles opened. */
  readonly params: ParsedMembers | undefined
  /** The output schema of the tool that is called. */
  readonly outputSchema: JsonValue | undefined
  /** How often the other side has wanted to know more before. */
  readonly rounds: number
  /** The id that the other side knows it by. */
  readonly ours: RequestId
  readonly end: (result: ForwardResult) => void
  /** When the other side last showed that it works on it. */
  lastMs: number
  /** The other side has answered or failed; the reply is being made. */
  isAnswered: boolean
}

export type ForwardResult =
  | { readonly status: 'answered'; readonly response: JsonRpcResponse }
  /** The server was not reached, or did not answer as a peer may. */
  | { readonly status: 'failed'; readonly failure: UpstreamFailure }
  /** The sender no longer waits, or was answered before. */
  | { readonly status: 'ended'; readonly outcome: 'cancelled' | 'unknown' }
  /** No byte of it left the gate. */
  | { readonly status: 'not-sent'; readonly outcome: 'cancelled' | 'error' }

/** A subscription stays open: nobody waits for its answer. */
export const LISTEN = 'subscriptions/listen'

/** How a reply goes out, beside its text. */
export type ReplyOptions = Pick<
  MessageContext,
  'errorCode' | 'notFound' | 'inspected' | 'isDefinition' | 'isFiltered' | 'from'
>

export interface ForwardOptions {
  /** The request of the receiver that it belongs to. */
  readonly request?: RequestId | undefined
  readonly trace?: TraceContext | undefined
  readonly message: JsonRpcRequest
  /** Sent in place of the message's own parameters: with sealed values opened. */
  readonly opened?: ParsedMembers | undefined
  readonly name: string
  readonly admission?: Admission | undefined
  readonly tool?: KnownTool | undefined
  readonly rounds?: number | undefined
  readonly program?: ProgramOrigin | undefined
}

export interface PendingRequestsOptions {
  readonly from: { send(text: string, related?: MessageContext): boolean }
  readonly to: { send(text: string, options?: UpstreamSendOptions): boolean }
  readonly newId: () => RequestId
  /** The caller of a request as it arrives; requests of a server have none. */
  readonly who?: (() => Caller) | undefined
  /** Requests of several clients at once: their progress tokens may be the same. */
  readonly renamesTokens: boolean
  /** The sender no longer waits; `sent` is undefined if the request was not forwarded. */
  readonly onCancel: (theirs: RequestId, sent: SentRequest | undefined) => void
}

export class PendingRequests {
  readonly #options: PendingRequestsOptions
  /** The requests that are not forwarded yet. */
  readonly #arrived = new SmallMap<PendingRequest, true>()
  /** The forwarded requests, by the ids that the other side knows. */
  readonly #sent = new SmallMap<RequestId, PendingRequest & { sent: SentRequest }>()
  #answering = 0

  constructor(options: PendingRequestsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#arrived.size + this.#sent.size
  }

  /** The number of requests whose sender waits for an answer. */
  get waiting(): number {
    return this.size - this.listens.length
  }

  /** Open subscriptions. */
  get listens(): SentRequest[] {
    return this.open.filter(({ method }) => method === LISTEN)
  }

  /** Requests that were forwarded and whose sender has no reply yet. */
  get open(): SentRequest[] {
    return this.#sent.values().map(({ sent }) => sent)
  }

  /** The other side has answered something, and the reply is being made. */
  get isAnswering(): boolean {
    return this.#answering > 0
  }

  begin({ id, method }: JsonRpcRequest): PendingRequest {
    const caller = this.#options.who?.()
    const pending = { id, method, isOpen: true, caller, sent: undefined }
    this.#arrived.set(pending, true)
    return pending
  }

  /** Resolves when the other side has answered, or will not. */
  forward(pending: PendingRequest, options: ForwardOptions): Promise<ForwardResult> {
    if (!pending.isOpen) return Promise.resolve({ status: 'not-sent', outcome: 'cancelled' })
    const { newId, to, renamesTokens } = this.#options
    const { admission, message, name, program, request, rounds = 0, tool } = options
    const { method, params } = message
    const { opened = params } = options
    const ours = newId()
    const progressToken = progressTokenOf(params)
    const own = withoutPrompt(opened)
    const renamed =
      renamesTokens && progressToken !== undefined ? withToken(own as ParsedMembers, ours) : own
    const outgoing = withTrace(renamed, admission?.instrumented.ownTrace)
    const trace = admission?.instrumented.trace ?? options.trace
    const written = writeRequest(ours, method, outgoing?.text)
    const text = outgoing?.isOneLine === true ? written : oneLine(written)
    const { callId } = admission ?? {}
    const passing = { id: ours, method, params: outgoing, tool, caller: pending.caller, callId }
    return new Promise((end) => {
      const startedMs = enterStep('forward')
      const sent: SentRequest = {
        id: pending.id,
        method,
        name,
        admission,
        startedMs,
        progressToken,
        params,
        outputSchema: tool?.definition.outputSchema,
        rounds,
        program,
        ours,
        end,
        lastMs: startedMs,
        isAnswered: false,
      }
      this.#arrived.delete(pending)
      pending.sent = sent
      this.#sent.set(ours, pending as PendingRequest & { sent: SentRequest })
      const carried = request === undefined ? { trace, passing } : { request, trace, passing }
      if (!to.send(text, carried)) this.#answer(sent, { status: 'not-sent', outcome: 'error' })
    })
  }

  /** Replies to the sender, once. False if nobody waits any more. */
  reply(pending: PendingRequest, text: string, options: ReplyOptions = {}): boolean {
    if (!this.#close(pending)) return false
    return this.#send(pending.id, text, options)
  }

  /** Takes an answer of the other side. Returns false if it was not asked, or has answered before. */
  answer(response: JsonRpcResponse): boolean {
    return this.#answer(this.find(response.id), { status: 'answered', response })
  }

  fail(failure: UpstreamFailure): boolean {
    return this.#answer(this.find(failure.request), { status: 'failed', failure })
  }

  find(ours: RequestId | null | undefined): SentRequest | undefined {
    return this.#sent.get(ours as RequestId)?.sent
  }

  /** The id that the other side knows a request by, while it is open. */
  oursOf(theirs: RequestId): RequestId | undefined {
    return this.open.find(({ id }) => id === theirs)?.ours
  }

  /** Returns the only open request that a message can belong to. */
  findOnly(): SentRequest | undefined {
    return this.#sent.size === 1 ? this.open[0] : undefined
  }

  /** Returns the newest open request for which the condition holds. */
  findLast(holds: (sent: SentRequest) => boolean): SentRequest | undefined {
    return this.open.findLast(holds)
  }

  findByProgress(token: JsonValue | undefined): SentRequest | undefined {
    if (token === undefined) return undefined
    if (this.#options.renamesTokens) return this.find(token as RequestId)
    return this.open.find(({ progressToken }) => progressToken === token)
  }

  /** Whether a progress notification is about one of these. */
  hasToken(params: ParsedMembers | undefined): boolean {
    return this.findByProgress(params?.value.progressToken) !== undefined
  }

  /** Forwards a cancellation, under the id that the other side knows. */
  cancel({ method, params }: JsonRpcNotification): void {
    const { to, onCancel } = this.#options
    const theirs = params?.value.requestId as RequestId
    for (const pending of this.#all()) {
      if (pending.id !== theirs) continue
      const { sent } = pending
      this.#close(pending)
      if (sent !== undefined && !sent.isAnswered) {
        const members = new Map(params?.text).set('requestId', JSON.stringify(sent.ours))
        to.send(oneLine(writeNotification(method, members)))
      }
      onCancel(theirs, sent)
      sent?.end({ status: 'ended', outcome: 'cancelled' })
    }
  }

  /** Lists the requests that have been open for too long. */
  overdue(nowMs: number, idleMs: number, wholeMs: number): SentRequest[] {
    return this.open.filter(
      ({ isAnswered, lastMs, method, startedMs }) =>
        !isAnswered &&
        !WAITS_LONG.has(method) &&
        (nowMs - lastMs > idleMs || nowMs - startedMs > wholeMs),
    )
  }

  /** Tells the other side that nobody waits any more. */
  tellCancelled({ isAnswered, ours }: SentRequest, why: string): void {
    if (isAnswered) return
    const members = new Map([
      ['requestId', JSON.stringify(ours)],
      ['reason', JSON.stringify(why)],
    ])
    this.#options.to.send(oneLine(writeNotification('notifications/cancelled', members)))
  }

  /** Ends all requests: each gets its reply at once, and the other side is told of the cancellation.
   * Returns what had been forwarded. */
  interrupt(why: string, toReply: (id: RequestId, isSent: boolean) => string): SentRequest[] {
    const interrupted: SentRequest[] = []
    for (const pending of this.#all()) {
      const { id, sent } = pending
      this.reply(pending, toReply(id, sent !== undefined), { from: 'gate' })
      if (sent === undefined) continue
      interrupted.push(sent)
      this.tellCancelled(sent, why)
      this.#options.onCancel(id, sent)
      sent.end({ status: 'ended', outcome: 'cancelled' })
    }
    return interrupted
  }

  /** Answers every sender that still waits. */
  end(why: string): void {
    for (const pending of this.#all()) {
      const { id, sent } = pending
      const doubt = sent?.admission ? '; whether the call was carried out is unknown' : ''
      const data = why === GATE_STOPPING ? describeCut(sent?.admission) : undefined
      this.reply(pending, writeError(id, RPC.internal, why + doubt, data), { from: sent })
      sent?.end({ status: 'ended', outcome: 'unknown' })
    }
  }

  /** A further result for a request that has ended has no effect. */
  #answer(sent: SentRequest | undefined, result: ForwardResult): boolean {
    if (sent === undefined || sent.isAnswered) return false
    sent.isAnswered = true
    this.#answering++
    sent.end(result)
    return true
  }

  /** Closes a request. Returns whether it was open. */
  #close(pending: PendingRequest): boolean {
    if (!pending.isOpen) return false
    pending.isOpen = false
    const { sent } = pending
    if (sent === undefined) this.#arrived.delete(pending)
    else {
      this.#sent.delete(sent.ours)
      if (sent.isAnswered) this.#answering--
    }
    return true
  }

  #all(): PendingRequest[] {
    return [...this.#arrived.keys(), ...this.#sent.values()]
  }

  #send(id: RequestId, text: string, options: ReplyOptions): boolean {
    const { errorCode, notFound, inspected, isDefinition, isFiltered, from } = options
    const related = {
      request: id,
      answers: true,
      errorCode,
      notFound,
      inspected,
      isDefinition,
      isFiltered,
      from,
    }
    return this.#options.from.send(text, related)
  }
}

/** Requests that stay open until an event happens. */
const WAITS_LONG: ReadonlySet<string> = new Set([LISTEN, 'tasks/result'])

/** The gate's own span stands between: the server's spans are below it. */
function withTrace(
  params: ParsedMembers | undefined,
  trace: TraceContext | undefined,
): ParsedMembers | undefined {
  if (trace === undefined) return params
  const written = Object.entries(trace).filter(([, value]) => value !== undefined)
  const members = Object.fromEntries(written.map(([key, value]) => [key, JSON.stringify(value)]))
  return withMembers(params, { _meta: patchObject(params?.text.get('_meta'), members) })
}

/** Removes the user's prompt: it is meant for the gate, not for the server. */
function withoutPrompt(params: ParsedMembers | undefined): ParsedMembers | undefined {
  if (getMeta(params)[PROMPT_META] === undefined) return params
  const meta = patchObject(params?.text.get('_meta'), { [PROMPT_META]: undefined })
  return withMembers(params, { _meta: meta })
}

function withToken(params: ParsedMembers, token: RequestId): ParsedMembers {
  const meta = patchObject(params.text.get('_meta'), { progressToken: JSON.stringify(token) })
  return withMembers(params, { _meta: meta })
}

function progressTokenOf(params: ParsedMembers | undefined): JsonValue | undefined {
  const meta = params?.value._meta
  return isObject(meta) ? meta.progressToken : undefined
}

/** What a program reads of a request that the end of its gate cut. `record`: the number of the call in the ledger. */
function describeCut(admission: Admission | undefined): JsonValue {
  const cut = { code: 'GATE_RESTARTED', repeatable: admission === undefined }
  return { 'sluice/upstream': admission === undefined ? cut : { ...cut, record: admission.intent } }
}
