// A server with sessions for clients of the stateless generation (2026-07-28): the session is begun with what the
// first request says of its client, `server/discover` is answered from it, and what the server asks on the way of
// a call goes to the client as an answer that wants input. The call goes on when the client comes back.

import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import { LIST_CHANGES, META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { negotiateRevision } from '@sluice/protocol/revisions'
import { RPC } from '@sluice/protocol/rpc-codes'
import {
  writeError,
  writeMembers,
  writeNotification,
  writeRequest,
  writeResult,
} from '@sluice/protocol/write-message'
import { listDeclaredCapabilities, questionFault } from '../../shared/server-questions.ts'
import type { MessageContext } from '../../shared/transport.ts'
import type { OutboundRequest, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import { ResumableCalls } from './resumable-calls.ts'
import { statelessAnswer, withoutTasks } from './translate.ts'
import { UpstreamAdapter } from './upstream-adapter.ts'

/** How ids of the gate's own requests begin. */
const OWN = 'own-'

/** `initialize` with what a request of the stateless generation says of its client. */
export function openingFor(first: OutboundRequest | undefined): OutboundRequest {
  const meta = splitMembers(first?.params?.text.get('_meta') ?? '{}')
  const params = withMembers(undefined, {
    protocolVersion: JSON.stringify(negotiateRevision(undefined)),
    capabilities: withoutTasks(meta.get(META.capabilities)),
    clientInfo: meta.get(META.client) ?? '{"name":"sluice","version":"1"}',
  })
  return { id: OWN, method: 'initialize', params }
}

/**
 * Subscriptions of clients of the stateless generation, over one session with a server: each says what it
 * subscribes to, gets an acknowledgement of what the server supports, and receives nothing else.
 */
class StatelessSubscriptions {
  readonly #options: ListensOptions
  readonly #open = new Map<RequestId, StatelessSubscription>()

  constructor(options: ListensOptions) {
    this.#options = options
  }

  open(id: RequestId, wanted: JsonValue | undefined, capabilities: JsonValue): void {
    const filter = isObject(wanted) ? wanted : {}
    const granted: Record<string, JsonValue> = {}
    for (const [method, change] of LIST_CHANGES)
      if (filter[change] === true && has(capabilities, method.split('/')[1] ?? '', 'listChanged'))
        granted[change] = true
    const wantedUris = Array.isArray(filter.resourceSubscriptions)
      ? filter.resourceSubscriptions.filter((uri) => typeof uri === 'string')
      : []
    const uris = has(capabilities, 'resources', 'subscribe') ? wantedUris : []
    if (uris.length > 0) granted.resourceSubscriptions = uris
    for (const uri of uris) if (!this.#isHeard(uri)) this.#options.ask('resources/subscribe', uri)
    this.#open.set(id, { changes: new Set(Object.keys(granted)), uris: new Set(uris) })
    const texts = { notifications: JSON.stringify(granted) }
    this.#options.notify(id, 'notifications/subscriptions/acknowledged', texts)
  }

  /** False if it is no subscription. */
  close(id: RequestId): boolean {
    const listen = this.#open.get(id)
    this.#open.delete(id)
    for (const uri of listen?.uris ?? [])
      if (!this.#isHeard(uri)) this.#options.ask('resources/unsubscribe', uri)
    return listen !== undefined
  }

  notifySubscribers(method: string, params: ParsedMembers | undefined): void {
    const change = LIST_CHANGES.get(method)
    if (change === undefined && method !== 'notifications/resources/updated') return
    const uri = String(params?.value.uri)
    const texts = change === undefined ? { uri: JSON.stringify(uri) } : {}
    for (const [id, { changes, uris }] of this.#open)
      if (change === undefined ? isAmong(uri, uris) : changes.has(change))
        this.#options.notify(id, method, texts)
  }

  #isHeard(uri: string): boolean {
    return [...this.#open.values()].some(({ uris }) => uris.has(uri))
  }
}

export class StatelessOverSession extends UpstreamAdapter {
  #logLevel: string | undefined
  readonly #begun = splitMembers(this.options.begun ?? '{}')
  readonly #capabilities = JSON.parse(this.#begun.get('capabilities') ?? '{}') as JsonValue
  /** What the client that the session was begun for has declared. */
  readonly #declared = listDeclaredCapabilities(this.options.opening?.params?.value.capabilities)
  #lastId = 0
  readonly #calls = new ResumableCalls({
    answerLeg: (leg, result) => this.answerHere(leg, result),
    refuseLeg: (leg, why) => this.refuseHere(leg, RPC.internal, why),
    endLeg: (leg, end) => {
      if ('kind' in end) this.events.onMessage({ ...statelessAnswer(end), id: leg })
      else this.events.onFailure({ ...end, request: leg })
    },
    answerServer: (question, result) => this.inner.send(writeResult(question, result)),
    refuseServer: (question, why) => this.inner.send(writeError(question, RPC.internal, why)),
    cancel: (call, reason) => {
      const params = new Map([
        ['requestId', JSON.stringify(call)],
        ['reason', reason],
      ])
      this.inner.send(writeNotification('notifications/cancelled', params))
      this.inner.abort(call)
    },
  })
  readonly #listens = new StatelessSubscriptions({
    notify: (listen, method, params) => this.#notify(listen, method, params),
    ask: (method, uri) => this.#ask(method, { uri: JSON.stringify(uri) }),
  })

  override send(text: string, { passing }: UpstreamSendOptions = {}): boolean {
    if (passing !== undefined) this.#request(passing)
    else if (readMessageHead(text).method === 'notifications/cancelled') this.#cancel(text)
    return true
  }

  override abort(request: RequestId): void {
    if (!this.#listens.close(request)) this.#calls.drop(request)
  }

  /** Requests of the gate's own: their answers are dropped. */
  #ask(method: string, texts: Readonly<Record<string, string>>): void {
    const id = `${OWN}${++this.#lastId}`
    const params = withMembers(undefined, texts)
    this.inner.send(writeRequest(id, method, params.text), { passing: { id, method, params } })
  }

  /** The answer to `server/discover`. */
  get #discovered(): string {
    const server = this.#begun.get('serverInfo')
    return patchObject('{}', {
      resultType: '"complete"',
      supportedVersions: JSON.stringify([STATELESS_REVISION]),
      capabilities: withoutTasks(this.#begun.get('capabilities')),
      instructions: this.#begun.get('instructions'),
      _meta: server === undefined ? undefined : writeMembers(new Map([[META.server, server]])),
    })
  }

  #request(passing: OutboundRequest): void {
    const { id, method, params } = passing
    if (method === 'server/discover') return void this.answerHere(id, this.#discovered)
    if (method === 'subscriptions/listen')
      return this.#listens.open(id, params?.value.notifications, this.#capabilities)
    if (method.startsWith('tasks/') || params?.value.task !== undefined) {
      const text = `the server has sessions: tasks do not cross to ${STATELESS_REVISION}`
      return void this.refuseHere(id, RPC.methodNotFound, text)
    }
    const state = params?.value.requestState
    if (typeof state === 'string') {
      const responses = splitMembers(params?.text.get('inputResponses') ?? '{}')
      if (this.#calls.goOn(id, state, responses)) return
      const text = 'the call that this continues is over: call again'
      return void this.refuseHere(id, RPC.invalidParams, text)
    }
    const meta = params?.text.get('_meta')
    this.#setLevel(splitMembers(meta ?? '{}').get(META.logLevel))
    this.#calls.begin(id)
    const bare = withMembers(params, { _meta: bareMeta(meta), inputResponses: undefined })
    const sent = { ...passing, params: bare }
    this.inner.send(writeRequest(id, method, bare.text), { passing: sent })
  }

  /** There is one level for all of the session: the newest holds. */
  #setLevel(level: string | undefined): void {
    const canLog = isObject(this.#capabilities) && this.#capabilities.logging !== undefined
    if (level === undefined || level === this.#logLevel || !canLog) return
    this.#logLevel = level
    this.#ask('logging/setLevel', { level })
  }

  protected override fromServer(message: JsonRpcMessage, related?: MessageContext): void {
    if (message.kind === 'notification') return this.#deliver(message, related)
    if (message.kind === 'request') {
      const { id, method, params } = message
      if (method === 'ping') return void this.inner.send(writeResult(id, '{}'))
      // Told at once: it may go on without, and no answer of the client's would carry it.
      const fault = questionFault(method, params?.value ?? {}, this.#declared)
      if (fault !== undefined) return void this.inner.send(writeError(id, fault.code, fault.why))
      const written = params === undefined ? '{}' : writeMembers(params.text)
      const question = `{"method":${JSON.stringify(method)},"params":${written}}`
      return this.#calls.ask(related?.request, id, question)
    }
    this.#calls.end(message.id as RequestId, message)
  }

  protected override failed(failure: UpstreamFailure): void {
    if (String(failure.request).startsWith(OWN)) this.options.log(failure.message)
    else if (!this.#calls.end(failure.request, failure)) this.events.onFailure(failure)
  }

  protected override over(): void {
    this.#calls.close()
  }

  #deliver(notification: JsonRpcNotification, related: MessageContext | undefined): void {
    const { method, params } = notification
    this.#listens.notifySubscribers(method, params)
    if (method !== 'notifications/progress') {
      // Also if nobody subscribed: the gate itself has to know that definitions are no longer so.
      const request = this.#calls.legOf(related?.request)
      return this.events.onMessage(notification, request === undefined ? {} : { request })
    }
    const leg = this.#calls.legOf(params?.value.progressToken as RequestId)
    if (leg === undefined) return
    const renamed = withMembers(params, { progressToken: JSON.stringify(leg) })
    this.events.onMessage({ ...notification, params: renamed }, { request: leg })
  }

  #cancel(text: string): void {
    const params = splitMembers(splitMembers(text).get('params') ?? '{}')
    this.#calls.drop(
      JSON.parse(params.get('requestId') ?? 'null') as RequestId,
      params.get('reason'),
    )
  }

  #notify(listen: RequestId, method: string, texts: Readonly<Record<string, string>>): void {
    const meta = `{${JSON.stringify(META.subscription)}:${JSON.stringify(listen)}}`
    const params = withMembers(undefined, { ...texts, _meta: meta })
    const source = writeNotification(method, params.text)
    const message: JsonRpcNotification = { kind: 'notification', method, params, source }
    this.events.onMessage(message, { request: listen })
  }
}

/** Leaves out what only the newer generation has. */
function bareMeta(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const bare = patchObject(text, {
    [META.version]: undefined,
    [META.client]: undefined,
    [META.capabilities]: undefined,
    [META.logLevel]: undefined,
  })
  return bare === '{}' ? undefined : bare
}

interface StatelessSubscription {
  readonly changes: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

interface ListensOptions {
  readonly notify: (listen: RequestId, method: string, texts: Record<string, string>) => void
  /** `resources/subscribe` or `resources/unsubscribe`. */
  readonly ask: (method: string, uri: string) => void
}

/** Servers may tell of a part of what was subscribed to. */
function isAmong(uri: string, subscribed: ReadonlySet<string>): boolean {
  if (subscribed.has(uri)) return true
  return [...subscribed].some((whole) => uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`))
}

function has(capabilities: JsonValue, capability: string, detail: string): boolean {
  const value = isObject(capabilities) ? capabilities[capability] : undefined
  return isObject(value) && value[detail] === true
}
