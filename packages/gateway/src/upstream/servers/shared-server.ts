// One process of a server for several sessions (`share:`), for servers that keep nothing: the gate
// begins one session with it and each client's link gets its answers from there. Of what a server says
// to nobody in particular, only that lists or resources have changed is passed on, without any other
// member: logs, questions and `_meta` may have what it read for another session.

import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcResponse,
  RequestId,
} from '@sluice/protocol/message'
import { LIST_CHANGES } from '@sluice/protocol/protocol-generation'
import { negotiateRevision } from '@sluice/protocol/revisions'
import { RPC } from '@sluice/protocol/rpc-codes'
import {
  writeError,
  writeMembers,
  writeNotification,
  writeRequest,
  writeResult,
} from '@sluice/protocol/write-message'
import type {
  OutboundRequest,
  Upstream,
  UpstreamEvents,
  UpstreamFailure,
  UpstreamSendOptions,
} from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'

/**
 * One session's link to a process that several sessions share. Knows nothing of the others: `SharedServer` renames what
 * it sends, and sorts out what it hears.
 */
class SharedUpstream implements Upstream {
  readonly handle = undefined
  readonly pausesApart = false
  /** The process stays for the others. */
  readonly #ended = Promise.withResolvers<void>()
  readonly ended = this.#ended.promise
  /** The events of the session; the process's messages for it go there. */
  readonly events: UpstreamEvents
  readonly #server: SharedServer
  #closed = false

  constructor(server: SharedServer, events: UpstreamEvents) {
    this.#server = server
    this.events = events
  }

  get failure(): UpstreamFailure | undefined {
    return this.#server.failure
  }

  send(text: string, { passing }: UpstreamSendOptions = {}): boolean {
    if (this.#closed) return false
    if (passing !== undefined) this.#server.request(this, passing)
    else if (readMessageHead(text).method === 'notifications/cancelled') {
      const params = splitMembers(splitMembers(text).get('params') ?? '{}')
      this.#server.cancelOf(this, JSON.parse(params.get('requestId') ?? 'null') as RequestId)
    }
    return true
  }

  answer(id: RequestId, result: string): void {
    const source = writeResult(id, result)
    const answer = { kind: 'answer', id, result, error: undefined, source } as const
    queueMicrotask(() => this.events.onMessage(answer))
  }

  /** One slow reader must not stop the others: what it does not take is bounded at its own front. */
  pause(): void {}
  resume(): void {}

  rest(why: string): boolean {
    return this.#server.restOf(this, why)
  }

  abort(request: RequestId): void {
    this.#server.cancelOf(this, request)
  }

  close(why: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#server.detach(this)
    this.events.onClose(why)
    this.#ended.resolve()
  }
}

interface SharedRequest {
  readonly link: SharedUpstream
  /** The id that the link knows. */
  readonly id: RequestId
  readonly progressToken: RequestId | undefined
  /** What it subscribes to; undefined for any other request. */
  readonly subscribes: string | undefined
}

export interface SharedServerEvents {
  readonly onIdle: () => void
  readonly onClose: () => void
}

export class SharedServer {
  readonly #inner: Upstream
  readonly #links = new Set<SharedUpstream>()
  readonly #open = new Map<RequestId, SharedRequest>()
  /** Subscribers of each URI: whether the server has confirmed it to a link. */
  readonly #subscribers = new Map<string, Map<SharedUpstream, boolean>>()
  readonly #onIdle: () => void
  /** Links whose session does not use the process now. */
  readonly #resting = new Set<SharedUpstream>()
  /** What `initialize` was answered with; until then links wait. */
  #begun: Map<string, string> | undefined
  #waiting: { readonly link: SharedUpstream; readonly passing: OutboundRequest }[] = []
  #lastId = 0

  /** `onIdle` is called when the last link is gone, `onClose` when the process is to end: from then on
   * nobody may be attached. */
  constructor(
    connect: (events: UpstreamEvents) => Upstream,
    { onIdle, onClose }: SharedServerEvents,
  ) {
    this.#onIdle = onIdle
    this.#inner = connect({
      onMessage: (message) => this.#fromServer(message),
      onFailure: (failure) => this.#failed(failure),
      onClose: (why) => {
        onClose()
        for (const link of [...this.#links]) link.close(why)
      },
    })
    const texts = {
      protocolVersion: JSON.stringify(negotiateRevision(undefined)),
      capabilities: '{}',
      clientInfo: '{"name":"sluice","version":"1"}',
    }
    this.#ask('initialize', texts)
  }

  get ended(): Promise<void> {
    return this.#inner.ended
  }

  get failure(): UpstreamFailure | undefined {
    return this.#inner.failure
  }

  get size(): number {
    return this.#links.size
  }

  attach(events: UpstreamEvents): Upstream {
    const link = new SharedUpstream(this, events)
    this.#links.add(link)
    return link
  }

  detach(link: SharedUpstream): void {
    if (!this.#links.delete(link)) return
    this.#resting.delete(link)
    this.#waiting = this.#waiting.filter((each) => each.link !== link)
    for (const [ours, open] of [...this.#open]) if (open.link === link) this.cancel(ours)
    for (const uri of [...this.#subscribers.keys()]) this.#unsubscribe(link, uri)
    if (this.#links.size === 0) this.#onIdle()
  }

  /** The process rests when none of its sessions uses it. */
  restOf(link: SharedUpstream, why: string): boolean {
    this.#resting.add(link)
    if (this.#resting.size < this.#links.size || this.#open.size > 0) return false
    return this.#inner.rest?.(why) === true
  }

  close(why: string): void {
    this.#inner.close(why)
  }

  request(link: SharedUpstream, passing: OutboundRequest): void {
    this.#resting.delete(link)
    if (this.#begun === undefined) {
      this.#waiting.push({ link, passing })
      return
    }
    const { id, method, params, tool } = passing
    if (method === 'initialize')
      return link.answer(id, this.#welcome(params?.value.protocolVersion))
    if (method === 'ping' || method === 'logging/setLevel') return link.answer(id, '{}')
    const uri = String(params?.value.uri)
    if (method === 'resources/subscribe' && this.#subscribe(link, uri)) return link.answer(id, '{}')
    if (method === 'resources/unsubscribe') {
      this.#unsubscribe(link, uri)
      return link.answer(id, '{}')
    }
    const ours = `shared-${++this.#lastId}`
    const meta = params?.text.get('_meta')
    const token = meta === undefined ? undefined : splitMembers(meta).get('progressToken')
    const progressToken = token === undefined ? undefined : (JSON.parse(token) as RequestId)
    const subscribes = method === 'resources/subscribe' ? uri : undefined
    this.#open.set(ours, { link, id, progressToken, subscribes })
    const renamed =
      progressToken === undefined
        ? params
        : withMembers(params, { _meta: patchObject(meta, { progressToken: JSON.stringify(ours) }) })
    const text = writeRequest(ours, method, renamed?.text)
    this.#inner.send(text, { passing: { id: ours, method, params: renamed, tool } })
  }

  /** Cancels a request by the id that the link knows. */
  cancelOf(link: SharedUpstream, id: RequestId): void {
    // What has not gone over does not go.
    this.#waiting = this.#waiting.filter((each) => each.link !== link || each.passing.id !== id)
    for (const [ours, open] of this.#open)
      if (open.link === link && open.id === id) this.cancel(ours)
  }

  cancel(ours: RequestId): void {
    const open = this.#open.get(ours)
    this.#open.delete(ours)
    const requestId = JSON.stringify(ours)
    this.#inner.send(
      writeNotification('notifications/cancelled', new Map([['requestId', requestId]])),
    )
    this.#inner.abort(ours)
    // The server may have carried it out.
    if (open?.subscribes !== undefined) this.#unsubscribe(open.link, open.subscribes)
  }

  #ask(method: string, texts: Readonly<Record<string, string>>): void {
    const id = `own-${++this.#lastId}`
    const params = withMembers(undefined, texts)
    this.#inner.send(writeRequest(id, method, params.text), { passing: { id, method, params } })
  }

  /** The server's requests are refused and its logs dropped: they cannot be attributed to a client. */
  #welcome(wanted: unknown): string {
    const result = new Map(this.#begun)
    const capabilities = splitMembers(result.get('capabilities') ?? '{}')
    capabilities.delete('logging')
    capabilities.delete('tasks')
    result.set('capabilities', writeMembers(capabilities))
    return writeMembers(result.set('protocolVersion', JSON.stringify(negotiateRevision(wanted))))
  }

  #fromServer(message: JsonRpcMessage): void {
    if (message.kind === 'answer') return this.#answer(message)
    if (message.kind === 'notification') return this.#notify(message)
    const { id, method } = message
    const refused = writeError(id, RPC.methodNotFound, 'this server is shared: it may ask nobody')
    this.#inner.send(method === 'ping' ? writeResult(id, '{}') : refused)
  }

  #answer(answer: JsonRpcResponse): void {
    const open = this.#open.get(answer.id as RequestId)
    if (open !== undefined) {
      this.#open.delete(answer.id as RequestId)
      this.#settleSubscription(open, answer.result !== undefined)
      return open.link.events.onMessage({ ...answer, id: open.id })
    }
    if (this.#begun !== undefined) return
    if (answer.result === undefined) {
      const why = `the server did not begin: ${answer.error?.message}`
      return this.close(why)
    }
    this.#begun = splitMembers(answer.result)
    this.#inner.send(writeNotification('notifications/initialized', undefined))
    for (const { link, passing } of this.#waiting.splice(0)) this.request(link, passing)
  }

  #notify(notification: JsonRpcNotification): void {
    const { method, params } = notification
    if (method === 'notifications/progress') {
      const open = this.#open.get(params?.value.progressToken as RequestId)
      if (open?.progressToken === undefined) return
      const token = JSON.stringify(open.progressToken)
      const renamed = withMembers(params, { progressToken: token })
      return open.link.events.onMessage({ ...notification, params: renamed }, { request: open.id })
    }
    const isUpdate = method === 'notifications/resources/updated'
    if (!isUpdate && !LIST_CHANGES.has(method)) return
    const uri = String(params?.value.uri)
    const listeners = isUpdate ? this.#subscribers.get(uri) : this.#links
    // Any other member, `_meta` included, could be what the process has read for one session.
    const notified = isUpdate ? withMembers(undefined, { uri: JSON.stringify(uri) }) : undefined
    const source = writeNotification(method, notified?.text)
    for (const link of listeners?.keys() ?? [])
      link.events.onMessage({ kind: 'notification', method, params: notified, source })
  }

  #failed(failure: UpstreamFailure): void {
    const open = this.#open.get(failure.request as RequestId)
    this.#open.delete(failure.request as RequestId)
    if (open !== undefined) this.#settleSubscription(open, false)
    if (open !== undefined) return open.link.events.onFailure({ ...failure, request: open.id })
    if (this.#begun === undefined) this.close(failure.message)
  }

  /** True if the server has confirmed this subscription to somebody already. */
  #subscribe(link: SharedUpstream, uri: string): boolean {
    const links = this.#subscribers.get(uri) ?? new Map<SharedUpstream, boolean>()
    const isConfirmed = [...links.values()].includes(true)
    this.#subscribers.set(uri, links.set(link, isConfirmed))
    return isConfirmed
  }

  /** A link that the server refused is no subscriber: it hears nothing, and the next one is asked for. */
  #settleSubscription({ link, subscribes }: SharedRequest, isDone: boolean): void {
    if (subscribes === undefined) return
    const links = this.#subscribers.get(subscribes)
    if (links?.has(link) !== true || links.get(link) === true) return
    if (isDone) links.set(link, true)
    else links.delete(link)
    if (links.size === 0) this.#subscribers.delete(subscribes)
  }

  #unsubscribe(link: SharedUpstream, uri: string): void {
    const links = this.#subscribers.get(uri)
    if (links?.delete(link) !== true || links.size > 0) return
    this.#subscribers.delete(uri)
    this.#ask('resources/unsubscribe', { uri: JSON.stringify(uri) })
  }
}
