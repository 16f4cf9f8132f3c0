// What servers say by themselves to a client of all of them, and what the client answers: each under
// names that say which server is meant. A changed list is announced once, until the client lists again;
// in the stateless generation to the clients that have subscribed to it.

import type { JsonRpcMessage, JsonRpcNotification, JsonRpcResponse } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import { writeNotification } from '@sluice/protocol/write-message'
import type { ClientEnd, ClientSend, MessageContext } from '../shared/transport.ts'
import type { AggregateMember } from './member.ts'
import {
  answerForServer,
  notificationForClient,
  requestForClient,
  unqualifyHandle,
  withMember,
} from './qualified-handles.ts'
import type { AggregateSubscriptions } from './subscriptions.ts'

/** A request of the client's without an answer yet. */
export interface AggregateRequest {
  readonly method: string
  /** Who answers it, once that is known; the gate itself if nobody is. */
  member?: AggregateMember
  /** The name it was asked by, and the one its server knows. */
  advertised?: string
  own?: string
  /** It was asked by an address that only this endpoint has. */
  isQualified?: boolean
}

export interface ServerTalkContext {
  readonly client: Pick<ClientEnd, 'generation' | 'revision'>
  readonly send: ClientSend
  readonly members: ReadonlyMap<string, AggregateMember>
  readonly listens: AggregateSubscriptions
  /** The client sees the tools of a mode, which stay the same whatever the servers have. */
  readonly hasFixedTools: boolean
  readonly onResources: () => void
  readonly log: (text: string, server?: string) => void
}

/** Lists, and how a client hears that one has changed. */
const CHANGED: Readonly<Record<string, string>> = {
  'tools/list': 'notifications/tools/list_changed',
  'prompts/list': 'notifications/prompts/list_changed',
  'resources/list': 'notifications/resources/list_changed',
  'resources/templates/list': 'notifications/resources/list_changed',
}

export class ServerMessages {
  readonly #context: ServerTalkContext
  /** Changes that the client was notified of and has not listed since. */
  readonly #changes = new Set<string>()

  constructor(context: ServerTalkContext) {
    this.#context = context
  }

  notify(member: AggregateMember, text: string, related: MessageContext): void {
    const { onResources, send } = this.#context
    const [message] = parseMessages(text)
    if (message?.kind === 'request')
      return void send(requestForClient(member.name, message), related)
    if (message?.kind !== 'notification') return
    const { method } = message
    if (method === CHANGED['resources/list']) onResources()
    if (Object.values(CHANGED).includes(method)) return this.#changed(method)
    send(notificationForClient(member.name, message), related)
  }

  answer(answer: JsonRpcResponse): void {
    const near = unqualifyHandle(answer.id)
    const member = this.#context.members.get(near?.server ?? '')
    if (near === undefined || member === undefined)
      return this.#context.log(`an answer nobody asked for: id ${answer.id}`)
    member.pass(answerForServer(member.name, near.handle, answer))
  }

  progress(notification: JsonRpcNotification): void {
    const { params } = notification
    const near = unqualifyHandle(params?.value.progressToken)
    const member = this.#context.members.get(near?.server ?? '')
    if (params === undefined || near === undefined || member === undefined) return
    member.pass({ ...notification, params: withMember(params, 'progressToken', near.handle) })
  }

  /** The client looks at a list. */
  listed(list: string): void {
    this.#changes.delete(CHANGED[list] ?? '')
  }

  /** What a server has is there, or no longer. */
  listChanged(list: string): void {
    const method = CHANGED[list]
    if (method !== undefined) this.#changed(method)
  }

  #changed(method: string): void {
    const { client, listens, send, hasFixedTools } = this.#context
    if (hasFixedTools && method === CHANGED['tools/list']) return
    if (client.generation === 'stateless') return listens.changed(method)
    if (client.revision === '' || this.#changes.has(method)) return
    this.#changes.add(method)
    send(writeNotification(method, undefined))
  }
}

/** The relay wrote it. */
export function parseMessages(text: string): readonly JsonRpcMessage[] {
  const reading = readMessages(text, { batches: false })
  if (!reading.ok) throw new Error(`a message of the gate's own is refused: ${reading.message}`)
  return reading.messages
}
