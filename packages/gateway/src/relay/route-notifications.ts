// Whom a server's notification is for in the stateless generation: the request it is about, or the
// subscription that asked for its kind; anything else is for nobody. Used by the relay.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type { JsonRpcNotification, ParsedMembers, RequestId } from '@sluice/protocol/message'
import { getMeta, LIST_CHANGES, META } from '@sluice/protocol/protocol-generation'
import { writeNotification } from '@sluice/protocol/write-message'
import { LISTEN, type PendingRequests, type SentRequest } from '../call/pending-requests.ts'
import type { MessageContext } from '../shared/transport.ts'

export interface RoutedNotification {
  /** As the client calls its request. */
  readonly request: RequestId
  readonly text: string
}

export function routeNotification(
  { method, params }: JsonRpcNotification,
  related: MessageContext | undefined,
  down: PendingRequests,
): RoutedNotification | undefined {
  if (method === 'notifications/progress') {
    const of = down.findByProgress(params?.value.progressToken)
    if (of?.progressToken === undefined || of.method === LISTEN) return undefined
    const sent = withMembers(params, { progressToken: JSON.stringify(of.progressToken) })
    return { request: of.id, text: writeNotification(method, sent.text) }
  }
  if (method === 'notifications/message') {
    const wantsLog = (crossed: SentRequest) => getMeta(crossed.params)[META.logLevel] !== undefined
    const named = down.find(related?.request)
    const of = named === undefined ? down.findLast(wantsLog) : named
    if (of === undefined || !wantsLog(of)) return undefined
    return { request: of.id, text: writeNotification(method, params?.text) }
  }
  const named = getMeta(params)[META.subscription]
  const listen = down.find((named as RequestId | undefined) ?? related?.request)
  return listen !== undefined && isSubscribedTo(listen, method)
    ? addressTo(listen, method, params)
    : undefined
}

/** Sends the gate's own notification to every subscription to its kind. */
export function noticesOfChange(method: string, down: PendingRequests): RoutedNotification[] {
  return down.listens
    .filter((listen) => isSubscribedTo(listen, method))
    .map((listen) => addressTo(listen, method, undefined))
}

function isSubscribedTo({ method, params }: SentRequest, notified: string): boolean {
  if (method !== LISTEN) return false
  if (notified === 'notifications/subscriptions/acknowledged') return true
  const wanted = params?.value.notifications
  const filter: JsonObject = isObject(wanted) ? wanted : {}
  if (notified === 'notifications/resources/updated')
    return filter.resourceSubscriptions !== undefined
  const change = LIST_CHANGES.get(notified)
  return change !== undefined && filter[change] === true
}

/** Under the id that the client knows its subscription by. */
function addressTo(
  { id }: SentRequest,
  method: string,
  params: ParsedMembers | undefined,
): RoutedNotification {
  const named = { [META.subscription]: JSON.stringify(id) }
  const sent = withMembers(params, { _meta: patchObject(params?.text.get('_meta'), named) })
  return { request: id, text: writeNotification(method, sent.text) }
}
