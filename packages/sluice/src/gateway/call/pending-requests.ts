// Requests that cross the gate in one direction, from being read to being answered. Ids are the
// gate's own on the far side, so that nobody can answer what they were not asked. A request that is
// cancelled while it is judged does not go on. Used by the relay, once for each direction.

import { Buffer } from 'node:buffer'
import { performance } from 'node:perf_hooks'
import { isObject, type JsonValue } from '@sluice/policy/core/json'
import type { KnownTool } from '@sluice/policy/core/tools'
import { patchObject, withMembers } from '../../protocol/members.ts'
import type {
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '../../protocol/message.ts'
import { RPC } from '../../protocol/rpc-codes.ts'
import {
  oneLine,
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from '../../protocol/write-message.ts'
import { enterStep } from '../shared/current-step.ts'
import type { RpcReply } from '../shared/error-reply.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import { SmallMap } from '../shared/small-map.ts'
import { SmallSet } from '../shared/small-set.ts'
import type { MessageContext, TraceContext, Transport } from '../shared/transport.ts'
import type { UpstreamSendOptions } from '../upstream/upstream.ts'
import type { Admission } from './call-request.ts'

/** A request that went over and has no answer yet. */
export interface PendingRequest {
  /** As its sender calls it. */
  readonly id: RequestId
  readonly method: string
  readonly name: string
  /** Undefined for plumbing, which nobody records. */
  readonly admission: Admission | undefined
  readonly startedMs: number
  readonly progressToken: JsonValue | undefined
  /** As its sender wrote them, handles opened. */
  readonly params: ParsedMembers | undefined
  /** How often the other side has wanted to know more before. */
  readonly rounds: number
  /** When the other side last showed that it works on it. */
  lastMs: number
}

/** A subscription stays open: nobody waits for its answer. */
export const LISTEN = 'subscriptions/listen'

/** How a reply goes out, beside its text. */
type ReplyOptions = Pick<MessageContext, 'errorCode' | 'isDefinition' | 'from'>

interface ForwardOptions extends Pick<MessageContext, 'request' | 'trace'> {
  readonly tool?: KnownTool | undefined
  readonly rounds?: number
}

export interface CrossingOptions {
  readonly from: Transport
  readonly to: Transport & { send(text: string, carried?: UpstreamSendOptions): boolean }
  readonly newId: () => RequestId
  /** Requests of several clients at once: their progress tokens may be the same. */
  readonly renamesTokens: boolean
  readonly record: (admission: Admission, startedMs: number, outcome: CallOutcome) => void
  /** The sender no longer waits; `sent` is undefined if the request never went over. */
  readonly onCancel: (
    theirs: RequestId,
    sent?: { readonly ours: RequestId; readonly crossed: PendingRequest },
  ) => void
}

export class PendingRequests {
  readonly #options: CrossingOptions
  readonly #judging = new SmallSet<RequestId>()
  readonly #open = new SmallMap<RequestId, PendingRequest>()

  constructor(options: CrossingOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#judging.size + this.#open.size
  }

  /** Those whose sender waits. */
  get waiting(): number {
    return this.size - this.listens.length
  }

  /** Open subscriptions. */
  get listens(): PendingRequest[] {
    return this.#open.values().filter(({ method }) => method === LISTEN)
  }

  /** Its sender waits for it to be judged. */
  isJudging(id: RequestId): boolean {
    return this.#judging.has(id)
  }

  /** A request is about to be judged; `carry` or `refuse` follows. */
  begin(id: RequestId): void {
    this.#judging.add(id)
  }

  carry(
    request: JsonRpcRequest,
    name: string,
    admission?: Admission,
    along: ForwardOptions = {},
  ): void {
    enterStep('forward')
    const { id, method } = request
    const { newId, to, renamesTokens } = this.#options
    const startedMs = performance.now()
    const progressToken = progressTokenOf(request.params)
    const crossed: PendingRequest = {
      id,
      method,
      name,
      admission,
      startedMs,
      lastMs: startedMs,
      progressToken,
      params: request.params,
      rounds: along.rounds ?? 0,
    }
    if (!this.#judging.delete(id)) return this.giveBack(crossed, 'cancelled')
    const ours = newId()
    this.#open.set(ours, crossed)
    const renamed =
      renamesTokens && progressToken !== undefined
        ? withToken(request.params as ParsedMembers, ours)
        : request.params
    const params = withTrace(renamed, admission?.watched.ownTrace)
    const trace = admission?.watched.trace ?? along.trace
    const written = writeRequest(ours, method, params?.text)
    const text = params?.isOneLine === true ? written : oneLine(written)
    const passing = { id: ours, method, params, tool: along.tool }
    const carried =
      along.request === undefined ? { trace, passing } : { request: along.request, trace, passing }
    if (to.send(text, carried)) return
    if (!this.#open.delete(ours)) return
    this.giveBack(crossed, 'error')
    const gone = writeError(id, RPC.internal, 'the other side is gone: nothing was sent')
    this.reply(id, gone, { from: 'gate' })
  }

  /** Answers in place of the other side; not where nobody waits any more. */
  refuse(id: RequestId, { text, errorCode }: RpcReply, from: 'gate' | 'server' = 'gate'): void {
    if (this.#judging.delete(id)) this.reply(id, text, { errorCode, from })
  }

  /** Answers a request that could not be handled, whether or not it had gone over. */
  fail(id: RequestId, told: RpcReply): void {
    const crossed = this.take(this.oursOf(id))
    if (crossed === undefined) return this.refuse(id, told, 'server')
    this.reply(id, told.text, { errorCode: told.errorCode, from: crossed })
    this.settle(crossed, { status: 'error' })
  }

  /** False where nobody is there any more. */
  reply(
    id: RequestId,
    text: string,
    { errorCode, isDefinition, from }: ReplyOptions = {},
  ): boolean {
    const related = { request: id, answers: true, errorCode, isDefinition, from }
    return this.#options.from.send(text, related)
  }

  /** Requests that went over and have no answer yet. */
  get open(): PendingRequest[] {
    return this.#open.values()
  }

  /** What the other side answers, or failed to; undefined where it was not asked. */
  take(ours: RequestId | null | undefined): PendingRequest | undefined {
    const crossed = this.#open.get(ours as RequestId)
    this.#open.delete(ours as RequestId)
    return crossed
  }

  find(ours: RequestId | undefined): PendingRequest | undefined {
    return ours === undefined ? undefined : this.#open.get(ours)
  }

  /** The id that the other side knows a request by, while it is open. */
  oursOf(theirs: RequestId): RequestId | undefined {
    for (const [ours, { id }] of this.#open.entries()) if (id === theirs) return ours
    return undefined
  }

  /** The one it can only belong to. */
  findOnly(): PendingRequest | undefined {
    return this.#open.size === 1 ? this.#open.values()[0] : undefined
  }

  /** The newest of those that hold. */
  findLast(holds: (crossed: PendingRequest) => boolean): PendingRequest | undefined {
    return this.#open.values().findLast(holds)
  }

  findByProgress(token: JsonValue | undefined): PendingRequest | undefined {
    if (token === undefined) return undefined
    if (this.#options.renamesTokens) return this.#open.get(token as RequestId)
    return this.#open.values().find(({ progressToken }) => progressToken === token)
  }

  /** Whether a progress notification is about one of these. */
  hasToken(params: ParsedMembers | undefined): boolean {
    return this.findByProgress(params?.value.progressToken) !== undefined
  }

  /** Carries a cancellation over, under the id the other side knows. */
  cancel({ method, params }: JsonRpcNotification): void {
    const { to, onCancel } = this.#options
    const theirs = params?.value.requestId as RequestId
    if (this.#judging.delete(theirs)) return onCancel(theirs)
    for (const [ours, crossed] of this.#open.entries()) {
      if (crossed.id !== theirs) continue
      this.#open.delete(ours)
      const members = new Map(params?.text).set('requestId', JSON.stringify(ours))
      to.send(oneLine(writeNotification(method, members)))
      onCancel(theirs, { ours, crossed })
      this.settle(crossed, { status: 'cancelled' })
    }
  }

  /** Those that are open for longer than they may be, with our ids for them. */
  overdue(nowMs: number, idleMs: number, wholeMs: number): [RequestId, PendingRequest][] {
    return this.#open
      .entries()
      .filter(
        ([, { method, startedMs, lastMs }]) =>
          !WAITS_LONG.has(method) && (nowMs - lastMs > idleMs || nowMs - startedMs > wholeMs),
      )
  }

  /** Tells the other side that nobody waits any more. */
  tellCancelled(ours: RequestId, why: string): void {
    const members = new Map([
      ['requestId', JSON.stringify(ours)],
      ['reason', JSON.stringify(why)],
    ])
    this.#options.to.send(oneLine(writeNotification('notifications/cancelled', members)))
  }

  /** Nothing goes on: whoever waits is told at once, and the other side that nobody does. */
  interrupt(why: string, answer: (id: RequestId, isSent: boolean) => string): PendingRequest[] {
    const { onCancel } = this.#options
    for (const id of this.#judging) this.reply(id, answer(id, false), { from: 'gate' })
    this.#judging.clear()
    const open = this.#open.entries()
    this.#open.clear()
    for (const [ours, crossed] of open) {
      this.reply(crossed.id, answer(crossed.id, true), { from: 'gate' })
      this.tellCancelled(ours, why)
      onCancel(crossed.id, { ours, crossed })
      this.settle(crossed, { status: 'cancelled' })
    }
    return open.map(([, crossed]) => crossed)
  }

  settle({ admission, startedMs }: PendingRequest, outcome: CallOutcome): void {
    if (admission !== undefined) this.#options.record(admission, startedMs, outcome)
  }

  /** `text` is what was sent to the side that asked. */
  settleAnswer(crossed: PendingRequest, { error }: JsonRpcResponse, text: string): void {
    const bytes = Buffer.byteLength(text)
    if (error === undefined) this.settle(crossed, { status: 'answered', bytes })
    else this.settle(crossed, { status: 'error', bytes, errorCode: error.code })
  }

  /** No byte of it left the gate. */
  giveBack(crossed: PendingRequest, status: CallOutcome['status']): void {
    this.settle(crossed, { status, givenBack: true })
  }

  /** Tells everybody who still waits. */
  end(why: string): void {
    for (const id of this.#judging) this.reply(id, writeError(id, RPC.internal, why))
    this.#judging.clear()
    const open = this.#open.values()
    this.#open.clear()
    for (const crossed of open) {
      const doubt = crossed.admission ? '; whether the call was carried out is unknown' : ''
      this.reply(crossed.id, writeError(crossed.id, RPC.internal, why + doubt), { from: crossed })
      this.settle(crossed, { status: 'unknown' })
    }
  }
}

/** They are open until something happens. */
const WAITS_LONG: ReadonlySet<string> = new Set([LISTEN, 'tasks/result'])

/** An answer as its asker is to read it. */
export function writeAnswer(id: RequestId, { error, result }: JsonRpcResponse): string {
  if (error === undefined && result !== undefined)
    return typeof id === 'number'
      ? writeResult(id, oneLine(result))
      : oneLine(writeResult(id, result))
  const { code = RPC.internal, message = 'an answer without a result', data } = error ?? {}
  return oneLine(writeError(id, code, message, data))
}

/** The gate's own span stands between: the server's hang below it. */
function withTrace(
  params: ParsedMembers | undefined,
  trace: TraceContext | undefined,
): ParsedMembers | undefined {
  if (trace === undefined) return params
  const written = Object.entries(trace).filter(([, value]) => value !== undefined)
  const said = Object.fromEntries(written.map(([key, value]) => [key, JSON.stringify(value)]))
  return withMembers(params, { _meta: patchObject(params?.text.get('_meta'), said) })
}

function withToken(params: ParsedMembers, token: RequestId): ParsedMembers {
  const meta = patchObject(params.text.get('_meta'), { progressToken: JSON.stringify(token) })
  return withMembers(params, { _meta: meta })
}

function progressTokenOf(params: ParsedMembers | undefined): JsonValue | undefined {
  const meta = params?.value._meta
  return isObject(meta) ? meta.progressToken : undefined
}
