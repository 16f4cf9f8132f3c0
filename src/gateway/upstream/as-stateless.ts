// A server with sessions for clients of the stateless era (2026-07-28): the session is opened and
// kept here, `server/discover` is answered from it, and what the server asks on the way of a call
// goes to the client as an answer that wants input. The call goes on when the client comes back.

import { isObject, type JsonValue } from '../../core/json.ts'
import { META, metaOf, STATELESS_REVISION } from '../../wire/eras.ts'
import { patchObject, withMembers } from '../../wire/members.ts'
import type { Answer, Id, Message, Notification, Request } from '../../wire/message.ts'
import { settledRevision } from '../../wire/revisions.ts'
import { RPC } from '../../wire/rpc-codes.ts'
import { membersOf } from '../../wire/spans.ts'
import {
  writeError,
  writeMembers,
  writeNotification,
  writeRequest,
  writeResult,
} from '../../wire/write-message.ts'
import { INPUT_GATHER_MS } from '../limits.ts'
import type { Related } from '../link.ts'
import { Adapted } from './adapted.ts'
import { type HeldCall, HeldCalls, type Question } from './held-calls.ts'
import { Listens } from './listens.ts'
import { sentOf } from './sent.ts'
import type { Carried, Passing, UpstreamFailure } from './upstream.ts'

/** A call at the server, and the request that waits for its answer. */
interface Open {
  leg: Id
  readonly wantsLog: boolean
  /** Asked, and not yet told to the client. */
  asked: Question[]
}

export class AsStateless extends Adapted {
  #state: 'closed' | 'opening' | 'open' = 'closed'
  readonly #waiting: Passing[] = []
  #opened: Map<string, string> = new Map()
  #capabilities: JsonValue = {}
  #logLevel: string | undefined
  /** By the id that the server knows. */
  readonly #calls = new Map<Id, Open>()
  readonly #held = new HeldCalls((held) => this.#expire(held))
  readonly #own = new Map<Id, (answer: Answer) => void>()
  readonly #listens = new Listens({
    tell: (listen, method, params) => this.#tell(listen, method, params),
    ask: (method, uri) => this.#ask(method, { uri: JSON.stringify(uri) }, () => {}),
  })
  #lastId = 0

  override send(text: string, { passing }: Carried = {}): boolean {
    if (passing === undefined) {
      if (sentOf(text).method === 'notifications/cancelled') this.#cancel(text)
      return true
    }
    if (this.#state === 'open') this.#request(passing)
    else this.#waiting.push(passing)
    if (this.#state === 'closed') this.#open(passing)
    return true
  }

  override abort(request: Id): void {
    const call = this.#callOf(request)
    if (call !== undefined) this.#calls.delete(call)
    this.inner.abort(call ?? request)
  }

  #open({ params }: Passing): void {
    this.#state = 'opening'
    const meta = membersOf(params?.text.get('_meta') ?? '{}')
    const texts = {
      protocolVersion: JSON.stringify(settledRevision(undefined)),
      capabilities: meta.get(META.capabilities) ?? '{}',
      clientInfo: meta.get(META.client) ?? '{"name":"sluice","version":"1"}',
    }
    this.#ask('initialize', texts, (answer) => {
      if (answer.result === undefined) return this.#notOpened(answer)
      this.#opened = membersOf(answer.result)
      this.#capabilities = JSON.parse(this.#opened.get('capabilities') ?? '{}') as JsonValue
      this.#state = 'open'
      this.inner.send(writeNotification('notifications/initialized', undefined))
      for (const passing of this.#waiting.splice(0)) this.#request(passing)
    })
  }

  #notOpened({ error }: Answer): void {
    this.#state = 'closed'
    const text = `the server did not begin a session: ${error?.message}`
    for (const { id } of this.#waiting.splice(0)) this.refuseHere(id, RPC.internal, text)
  }

  #request(passing: Passing): void {
    const { id, method, params } = passing
    if (method === 'server/discover') return void this.answerHere(id, this.#discovered())
    if (method === 'subscriptions/listen')
      return this.#listens.open(id, params?.value.notifications, this.#capabilities)
    const state = params?.value.requestState
    if (typeof state === 'string') return this.#goOn(passing, state)
    const level = membersOf(params?.text.get('_meta') ?? '{}').get(META.logLevel)
    if (level !== undefined && level !== this.#logLevel && this.#has('logging')) {
      this.#logLevel = level
      this.#ask('logging/setLevel', { level }, () => {})
    }
    this.#calls.set(id, { leg: id, wantsLog: level !== undefined, asked: [] })
    const bare = withMembers(params, {
      _meta: bareMeta(params?.text.get('_meta')),
      inputResponses: undefined,
    })
    this.inner.send(writeRequest(id, method, bare.text), { passing: { ...passing, params: bare } })
  }

  #discovered(): string {
    const server = this.#opened.get('serverInfo')
    return patchObject('{}', {
      resultType: '"complete"',
      supportedVersions: JSON.stringify([STATELESS_REVISION]),
      capabilities: this.#opened.get('capabilities') ?? '{}',
      instructions: this.#opened.get('instructions'),
      _meta: server === undefined ? undefined : writeMembers(new Map([[META.server, server]])),
    })
  }

  #has(capability: string): boolean {
    return isObject(this.#capabilities) && this.#capabilities[capability] !== undefined
  }

  /** A request of the gate's own. */
  #ask(
    method: string,
    texts: Readonly<Record<string, string>>,
    answered: (answer: Answer) => void,
  ): void {
    const id = `own-${++this.#lastId}`
    const params = withMembers(undefined, texts)
    this.#own.set(id, answered)
    this.inner.send(writeRequest(id, method, params.text), { passing: { id, method, params } })
  }

  protected override fromServer(message: Message, related?: Related): void {
    if (message.kind === 'request') return this.#asked(message, related)
    if (message.kind === 'notification') return this.#told(message, related)
    const own = this.#own.get(message.id as Id)
    if (own !== undefined) {
      this.#own.delete(message.id as Id)
      return own(message)
    }
    const held = this.#held.of(message.id as Id)
    if (held !== undefined) held.final = message
    const call = this.#calls.get(message.id as Id)
    if (call === undefined) return
    this.#calls.delete(message.id as Id)
    this.onMessage({ ...message, id: call.leg })
  }

  protected override failed(failure: UpstreamFailure): void {
    const { request, message } = failure
    const own = this.#own.get(request as Id)
    if (own !== undefined) {
      this.#own.delete(request as Id)
      if (this.#state === 'opening') return this.#failAll(failure)
      return this.log(message)
    }
    const call = this.#calls.get(request as Id)
    this.#calls.delete(request as Id)
    this.onFailure({ ...failure, request: call?.leg ?? request })
  }

  #failAll(failure: UpstreamFailure): void {
    this.#state = 'closed'
    for (const { id } of this.#waiting.splice(0)) this.onFailure({ ...failure, request: id })
  }

  #told(notification: Notification, related: Related | undefined): void {
    const { method, params } = notification
    if (this.#listens.tellOf(method, params)) return
    const call = this.#callFor(related)
    if (method === 'notifications/message') {
      if (call?.[1].wantsLog) this.onMessage(notification, { request: call[1].leg })
      return
    }
    if (method !== 'notifications/progress') return this.onMessage(notification, related)
    const open = this.#calls.get(params?.value.progressToken as Id)
    if (open === undefined) return
    const renamed = withMembers(params, { progressToken: JSON.stringify(open.leg) })
    this.onMessage({ ...notification, params: renamed }, { request: open.leg })
  }

  /** The call that a message of the server's belongs to; where it does not say, the newest. */
  #callFor(related: Related | undefined): [Id, Open] | undefined {
    const named = this.#calls.get(related?.request as Id)
    if (named !== undefined) return [related?.request as Id, named]
    return [...this.#calls].at(-1)
  }

  /** A question of the server's: gathered with others of the same call. */
  #asked({ id, method, params }: Request, related: Related | undefined): void {
    if (method === 'ping') return void this.inner.send(writeResult(id, '{}'))
    const call = this.#callFor(related)
    if (call === undefined) {
      const text = `no client of ${STATELESS_REVISION} waits for an answer that could carry this`
      return void this.inner.send(writeError(id, RPC.internal, text))
    }
    const [callId, open] = call
    const written = params === undefined ? '{}' : writeMembers(params.text)
    const text = `{"method":${JSON.stringify(method)},"params":${written}}`
    open.asked.push({ key: `input-${++this.#lastId}`, id, text })
    if (open.asked.length === 1)
      setTimeout(() => this.#wantInput(callId, open), INPUT_GATHER_MS).unref()
  }

  #wantInput(call: Id, open: Open): void {
    if (this.#calls.get(call) !== open) return
    this.#calls.delete(call)
    this.#holdFor(call, open.leg, open.asked)
  }

  /** Answers the leg with what is wanted, and keeps the call. */
  #holdFor(call: Id, leg: Id, questions: readonly Question[]): void {
    const handle = this.#held.hold(call, questions)
    if (handle === undefined) {
      this.#expire({ call, questions })
      return void this.refuseHere(leg, RPC.internal, 'too many calls wait for input already')
    }
    const wanted = Object.fromEntries(questions.map(({ key, text }) => [key, text]))
    const result = patchObject('{}', {
      resultType: '"input_required"',
      inputRequests: patchObject('{}', wanted),
      requestState: JSON.stringify(handle),
    })
    this.answerHere(leg, result)
  }

  /** The client is back with answers. */
  #goOn({ id, params }: Passing, handle: string): void {
    const held = this.#held.take(handle)
    if (held === undefined) {
      const text = 'the call that this goes on with is over: make it anew'
      return void this.refuseHere(id, RPC.invalidParams, text)
    }
    if (held.final !== undefined) return this.onMessage({ ...held.final, id })
    const responses = membersOf(params?.text.get('inputResponses') ?? '{}')
    const missing = held.questions.filter(({ key }) => !responses.has(key))
    for (const { key, id: question } of held.questions) {
      const response = responses.get(key)
      if (response !== undefined) this.inner.send(writeResult(question, response))
    }
    if (missing.length > 0) return this.#holdFor(held.call, id, missing)
    const wantsLog = metaOf(params)[META.logLevel] !== undefined
    this.#calls.set(held.call, { leg: id, wantsLog, asked: [] })
  }

  /** Nobody came back: the server is told. */
  #expire({ call, questions }: HeldCall): void {
    for (const { id } of questions)
      this.inner.send(writeError(id, RPC.internal, 'the client did not come back with an answer'))
    const requestId = JSON.stringify(call)
    this.inner.send(
      writeNotification('notifications/cancelled', new Map([['requestId', requestId]])),
    )
    this.inner.abort(call)
  }

  #cancel(text: string): void {
    const params = membersOf(membersOf(text).get('params') ?? '{}')
    const leg = JSON.parse(params.get('requestId') ?? 'null') as Id
    if (this.#listens.close(leg)) return
    const call = this.#callOf(leg)
    if (call === undefined) return
    const requestId = JSON.stringify(call)
    this.inner.send(writeNotification('notifications/cancelled', params, { requestId }))
  }

  #callOf(leg: Id): Id | undefined {
    return [...this.#calls].find(([, open]) => open.leg === leg)?.[0]
  }

  #tell(listen: Id, method: string, texts: Readonly<Record<string, string>>): void {
    const meta = `{${JSON.stringify(META.subscription)}:${JSON.stringify(listen)}}`
    const params = withMembers(undefined, { ...texts, _meta: meta })
    const source = writeNotification(method, params.text)
    const message: Notification = { kind: 'notification', method, params, source }
    this.onMessage(message, { request: listen })
  }
}

/** Without what only the newer era has. */
function bareMeta(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const gone = { [META.version]: undefined, [META.client]: undefined }
  const bare = patchObject(text, {
    ...gone,
    [META.capabilities]: undefined,
    [META.logLevel]: undefined,
  })
  return bare === '{}' ? undefined : bare
}
