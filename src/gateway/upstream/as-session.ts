// A server of the stateless era (2026-07-28) for a client with a session: `initialize` becomes
// `server/discover`, every request carries the client's version and capabilities, what the server
// wants to know is asked of the client as requests, and one subscription stands for the session's
// stream. What the newer era does not have is answered here, or said not to cross.

import type { JsonValue } from '../../core/json.ts'
import { META, STATELESS_REVISION } from '../../wire/eras.ts'
import { patchObject, readMembers, withMembers } from '../../wire/members.ts'
import type { Answer, Id, Members, Message } from '../../wire/message.ts'
import { settledRevision } from '../../wire/revisions.ts'
import { RPC } from '../../wire/rpc-codes.ts'
import { membersOf } from '../../wire/spans.ts'
import {
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from '../../wire/write-message.ts'
import { INPUT_ROUND_PAUSE_MS, INPUT_ROUNDS_MAX } from '../limits.ts'
import { Adapted } from './adapted.ts'
import { sentOf } from './sent.ts'
import type { Passing, UpstreamFailure } from './upstream.ts'

/** A call that the server has answered with questions. */
interface Asking {
  readonly passing: Passing
  readonly requestState: string | undefined
  readonly responses: Map<string, string>
  readonly open: Map<Id, string>
}

const NOT_HERE = new Set(['tasks/list', 'tasks/result', 'tasks/get', 'tasks/cancel'])

export class AsSession extends Adapted {
  #client: Readonly<Record<string, string>> = {}
  #logLevel: string | undefined
  #opening: { readonly id: Id; readonly revision: string } | undefined
  /** Of the server: which changes it tells of. */
  #tells: Readonly<Record<string, boolean>> = {}
  readonly #subscribed = new Set<string>()
  #listening: Id | undefined
  /** By the id the client's side knows: calls with questions, and rounds so far. */
  readonly #asking = new Map<Id, Asking>()
  readonly #rounds = new Map<Id, number>()
  /** Calls without an answer, as they were first sent. */
  readonly #open = new Map<Id, Passing>()
  /** The id of a later round -> the id the client's side knows, and back. */
  readonly #callOf = new Map<Id, Id>()
  readonly #roundOf = new Map<Id, Id>()
  #lastId = 0

  /** What the server is told of the client with every request. */
  override get handle(): string | undefined {
    return JSON.stringify({ client: this.#client, tells: this.#tells })
  }

  /** Goes on with a session that began over another link. */
  takeUp(handle: string): void {
    const { client, tells } = JSON.parse(handle) as {
      client: Record<string, string>
      tells: Record<string, boolean>
    }
    this.#client = client
    this.#tells = tells
    queueMicrotask(() => this.#listen())
  }

  override send(text: string, { passing }: { readonly passing?: Passing } = {}): boolean {
    if (passing !== undefined) return this.#request(passing)
    const { id, method } = sentOf(text)
    if (method === undefined) this.#clientAnswer(id as Id, text)
    if (method === 'notifications/initialized') this.#listen()
    if (method === 'notifications/cancelled') this.#cancel(text)
    return true
  }

  override abort(request: Id): void {
    this.inner.abort(this.#roundOf.get(request) ?? request)
    this.#forget(request)
  }

  #request(passing: Passing): boolean {
    const { id, method, params } = passing
    if (method === 'initialize') return this.#initialize(id, params)
    if (method === 'ping') return this.answerHere(id, '{}')
    if (method === 'logging/setLevel') {
      this.#logLevel = params?.text.get('level')
      return this.answerHere(id, '{}')
    }
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      const uri = String(params?.value.uri)
      if (method === 'resources/subscribe') this.#subscribed.add(uri)
      else this.#subscribed.delete(uri)
      this.#listen()
      return this.answerHere(id, '{}')
    }
    if (NOT_HERE.has(method) || params?.value.task !== undefined) {
      const text = `the server speaks ${STATELESS_REVISION}, where \`${method}\` with tasks of this session's revision does not cross`
      return this.refuseHere(id, RPC.methodNotFound, text)
    }
    this.#open.set(id, passing)
    return this.#ask(passing)
  }

  #initialize(id: Id, params: Members | undefined): boolean {
    const revision = settledRevision(params?.value.protocolVersion)
    const client = params?.text.get('clientInfo')
    this.#client = {
      [META.version]: JSON.stringify(STATELESS_REVISION),
      [META.capabilities]: params?.text.get('capabilities') ?? '{}',
      ...(client === undefined ? {} : { [META.client]: client }),
    }
    this.#opening = { id, revision }
    return this.#ask({ id, method: 'server/discover', params: undefined })
  }

  /** Sends a request with what every request of the newer era carries. */
  #ask({ id, method, params, tool }: Passing): boolean {
    const level = this.#logLevel === undefined ? {} : { [META.logLevel]: this.#logLevel }
    const meta = patchObject(params?.text.get('_meta'), { ...this.#client, ...level })
    const dressed = withMembers(params, { _meta: meta })
    const passing = { id, method, params: dressed, tool }
    return this.inner.send(writeRequest(id, method, dressed.text), { passing })
  }

  #cancel(text: string): void {
    const params = membersOf(membersOf(text).get('params') ?? '{}')
    const id = JSON.parse(params.get('requestId') ?? 'null') as Id
    const requestId = JSON.stringify(this.#roundOf.get(id) ?? id)
    this.inner.send(writeNotification('notifications/cancelled', params, { requestId }))
  }

  /** One subscription for all that this session wants to hear of. */
  #listen(): void {
    if (this.#listening !== undefined) {
      const requestId = JSON.stringify(this.#listening)
      this.inner.send(
        writeNotification('notifications/cancelled', new Map([['requestId', requestId]])),
      )
      this.inner.abort(this.#listening)
      this.#listening = undefined
    }
    const wanted: Record<string, JsonValue> = { ...this.#tells }
    if (this.#subscribed.size > 0) wanted.resourceSubscriptions = [...this.#subscribed]
    if (Object.keys(wanted).length === 0) return
    this.#listening = this.#newId('listen')
    const params = withMembers(undefined, { notifications: JSON.stringify(wanted) })
    this.#ask({ id: this.#listening, method: 'subscriptions/listen', params })
  }

  override fromServer(message: Message): void {
    if (message.kind === 'request')
      return this.log(`a server of ${STATELESS_REVISION} may not ask by itself: ${message.method}`)
    if (message.kind === 'answer') return this.#answer(message)
    if (message.method === 'notifications/subscriptions/acknowledged') return
    this.onMessage(message)
  }

  override failed(failure: UpstreamFailure): void {
    const { request } = failure
    if (request !== undefined && request === this.#listening) {
      this.#listening = undefined
      return this.log(`no word of changes: ${failure.message}`)
    }
    const call = this.#callOf.get(request as Id) ?? request
    if (call !== undefined) this.#forget(call)
    this.onFailure({ ...failure, request: call })
  }

  #answer(answer: Answer): void {
    if (answer.id === this.#listening) {
      this.#listening = undefined
      return
    }
    const call = this.#callOf.get(answer.id as Id) ?? (answer.id as Id)
    if (call === this.#opening?.id) return this.#opened(answer, this.#opening.revision)
    if (answer.result?.includes('"input_required"') && this.#isAsked(call, answer.result)) return
    this.#forget(call)
    this.onMessage({ ...answer, id: call })
  }

  #opened(answer: Answer, revision: string): void {
    const { id } = answer
    this.#opening = undefined
    if (answer.result === undefined) return this.onMessage(answer)
    const found = membersOf(answer.result)
    const server = membersOf(found.get('_meta') ?? '{}').get(META.server)
    const capabilities = found.get('capabilities') ?? '{}'
    this.#tells = whatItTells(capabilities)
    const instructions = found.get('instructions')
    const result = patchObject('{}', {
      protocolVersion: JSON.stringify(revision),
      capabilities,
      serverInfo: server ?? found.get('serverInfo') ?? '{"name":"unknown","version":"0"}',
      instructions,
    })
    this.onMessage({ ...answer, result, source: writeResult(id as Id, result) })
  }

  /** The server's questions, each as a request to the client; true where there were any. */
  #isAsked(call: Id, resultText: string): boolean {
    const passing = this.#open.get(call)
    const result = membersOf(resultText)
    if (passing === undefined || result.get('resultType') !== '"input_required"') return false
    const rounds = (this.#rounds.get(call) ?? 0) + 1
    this.#rounds.set(call, rounds)
    if (rounds > INPUT_ROUNDS_MAX) {
      this.#giveUp(call, `the server asked for input more than ${INPUT_ROUNDS_MAX} times`)
      return true
    }
    const questions = membersOf(result.get('inputRequests') ?? '{}')
    const open = new Map<Id, string>()
    const requestState = result.get('requestState')
    const asking = { passing, requestState, responses: new Map<string, string>(), open }
    this.#asking.set(call, asking)
    for (const key of questions.keys()) open.set(this.#newId('input'), key)
    if (open.size === 0) setTimeout(() => this.#goOn(call, asking), INPUT_ROUND_PAUSE_MS).unref()
    for (const [id, key] of [...open]) this.#put(call, id, questions.get(key) as string)
    return true
  }

  #put(call: Id, id: Id, text: string): void {
    const question = membersOf(text)
    const method: unknown = JSON.parse(question.get('method') ?? 'null')
    if (typeof method !== 'string') return this.#giveUp(call, 'the server asked for nothing known')
    const written = question.get('params')
    const params = written === undefined ? undefined : readMembers(written)
    const source = writeRequest(id, method, params?.text)
    this.onMessage({ kind: 'request', id, method, params, source }, { request: call })
  }

  /** What the client says to one of the questions. */
  #clientAnswer(id: Id, text: string): void {
    for (const [call, asking] of this.#asking) {
      const key = asking.open.get(id)
      if (key === undefined) continue
      const members = membersOf(text)
      const result = members.get('result')
      if (result === undefined) {
        const error = JSON.parse(members.get('error') ?? '{}') as { message?: string }
        return this.#giveUp(call, `what the server asked for was not given: ${error.message}`)
      }
      asking.open.delete(id)
      asking.responses.set(key, result)
      if (asking.open.size === 0) this.#goOn(call, asking)
      return
    }
  }

  /** The same call once more, with the answers. */
  #goOn(call: Id, asking: Asking): void {
    if (this.#asking.get(call) !== asking) return
    this.#asking.delete(call)
    const { passing, requestState, responses } = asking
    const id = this.#newId('round')
    const before = this.#roundOf.get(call)
    if (before !== undefined) this.#callOf.delete(before)
    this.#callOf.set(id, call)
    this.#roundOf.set(call, id)
    const inputResponses =
      responses.size === 0 ? undefined : patchObject('{}', Object.fromEntries(responses))
    const params = withMembers(passing.params, { inputResponses, requestState })
    this.#ask({ ...passing, id, params })
  }

  #giveUp(call: Id, why: string): void {
    this.#forget(call)
    const error = { code: RPC.internal, message: why }
    const source = writeError(call, error.code, error.message)
    this.onMessage({ kind: 'answer', id: call, result: undefined, error, source })
  }

  #forget(call: Id): void {
    this.#open.delete(call)
    this.#asking.delete(call)
    this.#rounds.delete(call)
    const round = this.#roundOf.get(call)
    if (round !== undefined) this.#callOf.delete(round)
    this.#roundOf.delete(call)
  }

  #newId(what: string): string {
    return `${what}-${++this.#lastId}`
  }
}

function whatItTells(capabilities: string): Record<string, boolean> {
  const value = JSON.parse(capabilities) as Record<string, { listChanged?: unknown } | undefined>
  const tells: Record<string, boolean> = {}
  for (const kind of ['tools', 'prompts', 'resources'])
    if (value[kind]?.listChanged === true) tells[`${kind}ListChanged`] = true
  return tells
}
