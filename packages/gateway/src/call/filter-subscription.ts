// `subscriptions/listen` of the stateless protocol generation: the gate forwards the list changes that it
// can pass on, and of the resources those that the caller may subscribe to.

import type { Facts } from '@sluice/policy/calls/call'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { withMembers } from '@sluice/protocol/members'
import { LIST_CHANGES } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { buildErrorReply } from '../shared/error-reply.ts'
import { LISTEN_RESOURCES_MAX } from '../shared/limits.ts'
import { admitCall } from './admit-call.ts'
import type { CallRequest } from './call-request.ts'
import type { CallSession } from './call-session.ts'
import type { PassingRequest, RefusedRequest } from './parsed-request.ts'
import { createWaitOptions } from './wait-options.ts'

export async function filterSubscription(
  passing: PassingRequest,
  session: CallSession,
): Promise<PassingRequest | RefusedRequest> {
  const { message } = passing
  const { id, params } = message
  const requested = params?.value.notifications
  const filter: JsonObject = isObject(requested) ? requested : {}
  const wanted: Record<string, JsonValue> = {}
  for (const change of LIST_CHANGES.values()) if (filter[change] === true) wanted[change] = true
  const { resourceSubscriptions: uris = [] } = filter
  if (!Array.isArray(uris) || uris.length > LISTEN_RESOURCES_MAX) {
    const text = `\`resourceSubscriptions\` must be a list of at most ${LISTEN_RESOURCES_MAX} URIs`
    return { status: 'refused', reply: buildErrorReply(id, RPC.invalidParams, text) }
  }
  const granted: string[] = []
  for (const uri of uris)
    if (typeof uri === 'string' && (await maySubscribe(uri, session))) granted.push(uri)
  if (granted.length > 0) wanted.resourceSubscriptions = granted
  const notifications = JSON.stringify(wanted)
  return {
    status: 'passes',
    message: { ...message, params: withMembers(params, { notifications }) },
  }
}

async function maySubscribe(uri: string, session: CallSession): Promise<boolean> {
  const { facts, names, onAsked, onCall, pipeline, record, server } = session
  onAsked()
  const call = { server, method: 'resources/subscribe', name: uri, args: { uri } }
  const startedMs = performance.now()
  const request = { kind: 'request', id: 0, method: call.method, source: '' } as const
  const params = { value: { uri }, text: new Map([['uri', JSON.stringify(uri)]]) }
  const missing = await names.isMissing({ ...request, params })
  const isListed = await names.isListed({ ...request, params })
  const known = (): Facts => ({ ...facts(), isListed })
  // A subscription is one of many: none of them waits for an approver.
  const waitOptions = () =>
    createWaitOptions({ ...request, params }, { isWanted: () => true, waitMsMax: () => 0 })
  const lookUp = (): CallRequest => ({
    call,
    facts: known(),
    argsText: undefined,
    waitOptions,
    missing,
  })
  const decided = await admitCall({ pipeline, request: lookUp(), lookUp })
  if (decided.admission === undefined) return false
  onCall(call, decided.admission.price)
  record(decided.admission, startedMs, { status: 'answered' })
  return true
}
