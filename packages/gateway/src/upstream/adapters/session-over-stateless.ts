// A server of the stateless generation (2026-07-28) for a client with a session: `initialize` becomes
// `server/discover`, every request carries the client's version and capabilities, what the server
// wants to know is asked of the client as requests, and one subscription stands for the session's
// stream. What the newer generation does not have is answered here, or said not to cross.

import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcResponse,
  ParsedMembers,
  RequestId,
} from '@sluice/protocol/message'
import { getMeta, META, STATELESS_REVISION } from '@sluice/protocol/protocol-generation'
import { negotiateRevision } from '@sluice/protocol/revisions'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeNotification, writeRequest, writeResult } from '@sluice/protocol/write-message'
import { LISTEN_RESOURCES_MAX } from '../../shared/limits.ts'
import type { MessageContext } from '../../shared/transport.ts'
import type { OutboundRequest, UpstreamFailure, UpstreamSendOptions } from '../upstream.ts'
import { readMessageHead } from '../upstream-state.ts'
import { ChangeStream } from './change-stream.ts'
import { InputRounds } from './input-rounds.ts'
import { withoutTasks } from './translate.ts'
import { UpstreamAdapter } from './upstream-adapter.ts'

/** Most results need no closer look. */
const IS_COMPLETE = /"resultType"\s*:\s*"complete"/
const MAY_WANT_INPUT = /input_required|\\u/

export class SessionOverStateless extends UpstreamAdapter {
  /** What every request says of the client. */
  #client: Readonly<Record<string, string>> = {}
  #logLevel: string | undefined
  #opening: { readonly id: RequestId; readonly revision: string } | undefined
  readonly #rounds = new InputRounds({
    ask: (passing) => this.#ask(passing),
    put: (question, call) => this.events.onMessage(question, { request: call }),
    withdraw: (question) => this.events.onMessage(cancelled(question, 'the call is over')),
    answer: (answer) => this.events.onMessage(answer),
  })
  readonly #changes = new ChangeStream({
    ask: (passing) => this.#ask(passing),
    end: (listen) => this.#end(listen),
  })

  /** What every request tells the server about the client, and what the server announces. */
  override get handle(): string | undefined {
    return JSON.stringify({ client: this.#client, tells: this.#changes.lists })
  }

  /** Goes on with a session that began over another link. */
  takeUp(handle: string): void {
    const { client, tells } = JSON.parse(handle) as {
      client: Record<string, string>
      tells: Record<string, boolean>
    }
    this.#client = client
    this.#changes.lists = tells
    queueMicrotask(() => this.#changes.open())
  }

  override send(text: string, { passing }: UpstreamSendOptions = {}): boolean {
    if (passing !== undefined) return this.#request(passing)
    const { id, method } = readMessageHead(text)
    if (method === undefined) this.#rounds.answered(id as RequestId, text)
    if (method === 'notifications/initialized') this.#changes.open()
    if (method === 'notifications/cancelled') this.#cancel(text)
    return true
  }

  override abort(request: RequestId): void {
    this.inner.abort(this.#rounds.roundOf(request) ?? request)
    this.#rounds.forget(request)
  }

  #request(passing: OutboundRequest): boolean {
    const { id, method, params } = passing
    if (method === 'initialize') return this.#initialize(id, params)
    if (method === 'ping') return this.answerHere(id, '{}')
    if (method === 'logging/setLevel') {
      this.#logLevel = params?.text.get('level')
      return this.answerHere(id, '{}')
    }
    const uri = String(params?.value.uri)
    if (method === 'resources/subscribe' && !this.#changes.subscribe(uri)) {
      const text = `more than ${LISTEN_RESOURCES_MAX} resources are subscribed to`
      return this.refuseHere(id, RPC.internal, text)
    }
    if (method === 'resources/unsubscribe') this.#changes.unsubscribe(uri)
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe')
      return this.answerHere(id, '{}')
    if (method.startsWith('tasks/') || params?.value.task !== undefined) {
      const text = `the server speaks ${STATELESS_REVISION}: tasks of a session do not cross`
      return this.refuseHere(id, RPC.methodNotFound, text)
    }
    this.#rounds.begin(passing)
    return true
  }

  #initialize(id: RequestId, params: ParsedMembers | undefined): boolean {
    const client = params?.text.get('clientInfo')
    this.#client = {
      [META.version]: JSON.stringify(STATELESS_REVISION),
      [META.capabilities]: withoutTasks(params?.text.get('capabilities')),
      ...(client === undefined ? {} : { [META.client]: client }),
    }
    this.#opening = { id, revision: negotiateRevision(params?.value.protocolVersion) }
    this.#ask({ id, method: 'server/discover', params: undefined })
    return true
  }

  /** Sends a request with what every request of the newer generation carries. */
  #ask({ id, method, params, tool, caller }: OutboundRequest): void {
    const level = this.#logLevel === undefined ? {} : { [META.logLevel]: this.#logLevel }
    const meta = patchObject(params?.text.get('_meta'), { ...this.#client, ...level })
    const dressed = withMembers(params, { _meta: meta })
    const passing = { id, method, params: dressed, tool, caller }
    this.inner.send(writeRequest(id, method, dressed.text), { passing })
  }

  #end(request: RequestId): void {
    const params = new Map([['requestId', JSON.stringify(request)]])
    this.inner.send(writeNotification('notifications/cancelled', params))
    this.inner.abort(request)
  }

  #cancel(text: string): void {
    const params = splitMembers(splitMembers(text).get('params') ?? '{}')
    const id = JSON.parse(params.get('requestId') ?? 'null') as RequestId
    const requestId = JSON.stringify(this.#rounds.roundOf(id) ?? id)
    this.inner.send(writeNotification('notifications/cancelled', params, { requestId }))
  }

  protected override fromServer(message: JsonRpcMessage, related?: MessageContext): void {
    if (message.kind === 'answer') return this.#answer(message)
    if (message.kind === 'request') {
      const { method } = message
      return this.options.log(`a server of ${STATELESS_REVISION} may not ask by itself: ${method}`)
    }
    if (message.method === 'notifications/subscriptions/acknowledged')
      return this.#changes.acknowledged()
    const cancelled = message.params?.value.requestId as RequestId | undefined
    if (message.method === 'notifications/cancelled' && cancelled !== undefined)
      return this.#changes.ended(cancelled, false)
    const call = this.#rounds.callOf(related?.request)
    this.events.onMessage(withoutSubscription(message), call === undefined ? {} : { request: call })
  }

  protected override failed(failure: UpstreamFailure): void {
    const { request, message } = failure
    if (request !== undefined && this.#changes.isOne(request)) {
      this.#changes.ended(request, false)
      return this.options.log(`no word of changes for now: ${message}`)
    }
    const call = this.#rounds.callOf(request) ?? request
    if (call !== undefined) this.#rounds.forget(call)
    if (call !== undefined && call === this.#opening?.id) this.options.onBegun(false)
    this.events.onFailure({ ...failure, request: call })
  }

  protected override over(): void {
    this.#rounds.close()
    this.#changes.close()
  }

  #answer(answer: JsonRpcResponse): void {
    const { id, result } = answer
    if (id !== null && this.#changes.isOne(id))
      return this.#changes.ended(id, answer.error !== undefined)
    if (id === this.#opening?.id) return this.#opened(answer, this.#opening?.revision ?? '')
    const call = this.#rounds.callOf(id as RequestId)
    if (call === undefined) return this.events.onMessage(answer)
    const isPlain =
      result === undefined || (IS_COMPLETE.test(result) && !MAY_WANT_INPUT.test(result))
    const members = isPlain ? undefined : splitMembers(result)
    const type: unknown = JSON.parse(members?.get('resultType') ?? '"complete"')
    if (members !== undefined && type === 'input_required') return this.#rounds.wants(call, members)
    this.#rounds.forget(call)
    if (type === 'complete') return this.events.onMessage({ ...answer, id: call })
    const text = `the server answered with \`${String(type).slice(0, 40)}\`, which a session does not have`
    this.refuseHere(call, RPC.internal, text)
  }

  #opened(answer: JsonRpcResponse, revision: string): void {
    const { id } = answer
    this.#opening = undefined
    this.options.onBegun(answer.result !== undefined)
    if (answer.result === undefined) return this.events.onMessage(answer)
    const members = splitMembers(answer.result)
    const server = splitMembers(members.get('_meta') ?? '{}').get(META.server)
    const capabilities = withoutTasks(members.get('capabilities'))
    this.#changes.learn(capabilities)
    const result = patchObject('{}', {
      protocolVersion: JSON.stringify(revision),
      capabilities,
      serverInfo: server ?? members.get('serverInfo') ?? '{"name":"unknown","version":"0"}',
      instructions: members.get('instructions'),
    })
    this.events.onMessage({ ...answer, result, source: writeResult(id as RequestId, result) })
  }
}

/** A session has no subscriptions that could be told apart. */
function withoutSubscription(notification: JsonRpcNotification): JsonRpcNotification {
  const { params } = notification
  if (getMeta(params)[META.subscription] === undefined) return notification
  const meta = patchObject(params?.text.get('_meta'), { [META.subscription]: undefined })
  return {
    ...notification,
    params: withMembers(params, { _meta: meta === '{}' ? undefined : meta }),
  }
}

function cancelled(request: RequestId, reason: string): JsonRpcNotification {
  const method = 'notifications/cancelled'
  const params = withMembers(undefined, {
    requestId: JSON.stringify(request),
    reason: JSON.stringify(reason),
  })
  return { kind: 'notification', method, params, source: writeNotification(method, params.text) }
}
