// Notifications of a server: which of them pass, and to which request of the client's each belongs.
// Progress passes only for a token that the client gave with a request that is open, or that made a
// task: anything else could be taken for the progress of another call. Used by the relay.

import type { JsonRpcNotification, RequestId } from '@sluice/protocol/message'
import { oneLine, writeNotification } from '@sluice/protocol/write-message'
import { LISTEN, type PendingRequests } from '../call/pending-requests.ts'
import type { KnownNames } from '../session/known-names.ts'
import type { SessionTasks } from '../session/session-tasks.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import { notificationPassage } from '../shared/parse-call.ts'
import type { ClientEnd, ClientSend, MessageContext, MessageSource } from '../shared/transport.ts'
import { type RoutedNotification, routeNotification } from './route-notifications.ts'

/** The call that made the task has been answered. */
const OF_A_TASK: MessageSource = { method: 'tasks/get', name: '' }

export interface ServerNotificationsContext {
  readonly client: Pick<ClientEnd, 'generation' | 'listsChanged'>
  readonly send: ClientSend
  /** Requests of the client's, and requests of the server's. */
  readonly down: PendingRequests
  readonly up: PendingRequests
  readonly lists: VisibleLists
  readonly names: KnownNames
  readonly tasks: SessionTasks
  readonly frozen: () => unknown
  readonly log: (text: string) => void
}

export class ServerNotifications {
  readonly #context: ServerNotificationsContext

  constructor(context: ServerNotificationsContext) {
    this.#context = context
  }

  fromServer(notification: JsonRpcNotification, related: MessageContext | undefined): void {
    const { client, down, lists, log, names, send, tasks } = this.#context
    const { method, params } = notification
    if (method === 'notifications/cancelled') return this.#cancel(notification)
    const passage = notificationPassage(method)
    const isOthers = passage === 'task' && !tasks.isAbout(params?.value)
    if (passage === 'unknown' || isOthers)
      return log(`a notification that does not pass: ${method}`)
    if (method === 'notifications/tools/list_changed') {
      lists.forget()
      client.listsChanged?.()
    }
    if (method === 'notifications/resources/updated' && names.isHidden(params?.value.uri)) return
    if (this.#context.frozen() !== undefined) return
    const token = params?.value.progressToken
    const of = down.findByProgress(token)
    if (of !== undefined) of.lastMs = performance.now()
    const from = passage === 'task' || tasks.hasToken(token) ? OF_A_TASK : updated(notification)
    if (client.generation === 'stateless') {
      const notice = routeNotification(notification, related, down)
      return this.tell(notice === undefined ? [] : [notice], from)
    }
    if (method === 'notifications/progress' && of === undefined && !tasks.hasToken(token))
      return log('progress for a token that no open request has')
    const to = of === undefined ? this.relatedTo(related) : { request: of.id }
    send(oneLine(writeNotification(method, params?.text)), { ...to, from })
  }

  tell(notices: readonly RoutedNotification[], from: MessageContext['from']): void {
    const { send } = this.#context
    for (const { request, text } of notices) send(oneLine(text), { request, from })
  }

  /** The client's request that a message of the server's belongs to. */
  relatedTo(related: MessageContext | undefined): MessageContext {
    const { down } = this.#context
    const crossed = down.find(related?.request) ?? down.findOnly()
    return crossed === undefined ? {} : { request: crossed.id }
  }

  /** A question of the server's; or a subscription, which over lines it can end in no other way. */
  #cancel(notification: JsonRpcNotification): void {
    const { down, up } = this.#context
    const request = notification.params?.value.requestId as RequestId
    const sent = down.find(request)
    if (sent?.method !== LISTEN) return up.cancel(notification)
    const result = '{"resultType":"complete"}'
    down.answer({ kind: 'answer', id: sent.ours, result, error: undefined, source: '' })
  }
}

/** The resource that a notification of a change names. */
function updated({ method, params }: JsonRpcNotification): MessageSource | undefined {
  if (method !== 'notifications/resources/updated') return undefined
  return { method: 'resources/read', name: String(params?.value.uri) }
}
