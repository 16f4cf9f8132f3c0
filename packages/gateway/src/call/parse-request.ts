// A request as it is read: what it is for the gate, with sealed handles opened. Some methods pass
// undecided, some are refused here, subscriptions are checked with their server, and calls are decided.
// The first step of handle-call.ts.

import { findCanary } from '@sluice/guard/find-canary'
import { NOT_NORMAL } from '@sluice/policy/decide/decide-uri'
import { listCanaries } from '@sluice/policy/model/policy'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { belongsTo, knowsTasks } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeResult } from '@sluice/protocol/write-message'
import { toStatelessResult } from '../session/stateless-results.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { hasLongMembers } from '../shared/inspect-arguments.ts'
import { SERVER_REQUESTS_MAX, SESSION_REQUESTS_MAX } from '../shared/limits.ts'
import { classifyClientMethod, classifyServerMethod, parseCall } from '../shared/parse-call.ts'
import { parseRestUri, REST_SCHEME } from '../shared/rest-uri.ts'
import { questionFault } from '../shared/server-questions.ts'
import type { MessageContext } from '../shared/transport.ts'
import type { CallSession, IncomingRequest } from './call-session.ts'
import { CANARY_REASON } from './decide-call.ts'
import { filterSubscription } from './filter-subscription.ts'
import type { ParsedRequest, PassingRequest, RefusedRequest } from './parsed-request.ts'
import { LISTEN } from './pending-requests.ts'
import {
  buildFrozenReply,
  buildNotFoundReply,
  buildWithheldReply,
  noTasksAnswer,
} from './replies.ts'

const READ = 'resources/read'
const UNSUBSCRIBE = 'resources/unsubscribe'

export function parseRequest(options: IncomingRequest): ParsedRequest {
  return options.sender === 'client' ? parseClientRequest(options) : parseServerRequest(options)
}

function parseClientRequest({ message, related, session }: IncomingRequest): ParsedRequest {
  const { id, method } = message
  const { generation, handles, roots } = session
  if (session.down.size > SESSION_REQUESTS_MAX) {
    const text = `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
    return refuse(buildErrorReply(id, RPC.internal, text))
  }
  const wrong = roots.requested(message)
  if (wrong !== undefined) return refuse(buildErrorReply(id, RPC.invalidParams, wrong))
  const passage = classifyClientMethod(method)
  const frozen = session.frozen()
  // A call is refused by its decision, which is recorded.
  if (frozen !== undefined && passage !== 'judged')
    return refuse(buildFrozenReply(id, frozen, false))
  if (passage === 'unknown' || !belongsTo(generation, method)) {
    const text = `\`${method}\` is not a method the gate knows`
    return refuse(buildErrorReply(id, RPC.methodNotFound, text))
  }
  if (generation === 'stateless' && passage === 'task' && !knowsTasks(message.params))
    return refuse(noTasksAnswer(id, method))
  const planted = passage === 'judged' ? undefined : refusePlanted(message, session)
  if (planted !== undefined) return planted
  if (isRestRequest(message) && frozen === undefined)
    return { status: 'check', check: async () => refuse(await readRest(message, session)) }
  const opened = handles.open(message)
  if (opened.request === undefined)
    return refuse(buildErrorReply(id, RPC.invalidParams, opened.refused))
  const { request, continues, approvedFor, rounds, leg: retry } = opened
  const trace = traceOf(request, related.trace)
  const passing = { status: 'passes', message: request, trace } as const
  if (method === LISTEN)
    return { status: 'check', check: () => filterSubscription(passing, session) }
  if (method === UNSUBSCRIBE)
    return { status: 'check', check: () => checkUnsubscribe(passing, session) }
  if (passage === 'plumbing') return passing
  if (passage === 'task') return parseTaskRequest(request, session)
  return {
    status: 'call',
    sender: 'client',
    message: request,
    continues,
    approvedFor,
    rounds,
    headers: related.headers,
    program: related.program,
    trace,
    retry,
  }
}

/** Refuses planted members of a request that passes undecided: it goes to the server with every member that the
 * client wrote. */
function refusePlanted(
  { id, params }: JsonRpcRequest,
  { facts, pipeline }: CallSession,
): RefusedRequest | undefined {
  const canaries = listCanaries(pipeline.policy().policy)
  if (canaries.size === 0 || params === undefined) return undefined
  if (hasLongMembers(params)) return refuse(buildErrorReply(id, RPC.invalidParams, TOO_LONG))
  const canary = findCanary(params.value, canaries)
  if (canary === undefined) return undefined
  pipeline.onCanary(facts().session.id, canary)
  return refuse(buildErrorReply(id, RPC.frozen, CANARY_REASON))
}

const TOO_LONG = 'the parameters are longer than those of such a request are'

/** Parses a request of a server to the client, or to the model and the user behind it. */
function parseServerRequest({ message, related, session }: IncomingRequest): ParsedRequest {
  const { id, method } = message
  const passage = classifyServerMethod(method)
  if (passage === 'unknown')
    return refuse(buildErrorReply(id, RPC.methodNotFound, `\`${method}\` does not pass the gate`))
  if (session.up.size > SERVER_REQUESTS_MAX) {
    const text = `more than ${SERVER_REQUESTS_MAX} requests are open`
    return refuse(buildErrorReply(id, RPC.internal, text))
  }
  const frozen = session.frozen()
  if (frozen !== undefined && passage !== 'judged')
    return refuse(buildFrozenReply(id, frozen, false))
  const { request } = related
  if (passage === 'plumbing') return { status: 'passes', message, request }
  const { declared } = session.questions
  const fault = questionFault(method, message.params?.value ?? {}, declared)
  if (fault === undefined)
    return { status: 'call', sender: 'server', message, continues: false, rounds: 0, request }
  session.log(`a question that does not reach the client: ${fault.why}`)
  return refuse(buildErrorReply(id, fault.code, fault.why))
}

/** Parses a request about a task. In the stateless generation the seal on the task's id says whose task it is. */
function parseTaskRequest(
  message: JsonRpcRequest,
  { generation, tasks }: CallSession,
): PassingRequest | RefusedRequest {
  const { id, method, params } = message
  const isOwn =
    generation === 'stateless' || method === 'tasks/list' || tasks.isAbout(params?.value)
  if (isOwn) return { status: 'passes', message }
  return refuse(buildNotFoundReply(id, method, { name: '', generation }))
}

async function checkUnsubscribe(
  passing: PassingRequest,
  { generation, names }: CallSession,
): Promise<PassingRequest | RefusedRequest> {
  const { message } = passing
  const { id, method } = message
  if (await names.isMissing(message))
    return refuse(buildNotFoundReply(id, method, { name: parseCall('', message).name, generation }))
  if (await names.isListed(message)) return passing
  return refuse(buildErrorReply(id, RPC.invalidParams, NOT_NORMAL.reason))
}

function refuse(reply: RpcReply): RefusedRequest {
  return { status: 'refused', reply }
}

/** Reads the trace context from `_meta`, where MCP has it for every transport, or else from the headers of the
 * request. */
function traceOf(
  { params }: JsonRpcRequest,
  ofHeaders: MessageContext['trace'],
): MessageContext['trace'] {
  const meta: JsonValue | undefined = params?.value._meta
  if (!isObject(meta) || typeof meta.traceparent !== 'string') return ofHeaders
  const { traceparent, tracestate } = meta
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent }
}

/**
 * `resources/read` of what was cut off of an answer: the gate answers it from the session's vault, under
 * the rules of the answer that it is the rest of. Nothing is decided or recorded again, since the call that
 * brought it was.
 */
function isRestRequest({ method, params }: JsonRpcRequest): boolean {
  const uri = params?.value.uri
  return method === READ && typeof uri === 'string' && uri.startsWith(REST_SCHEME)
}

async function readRest(message: JsonRpcRequest, session: CallSession): Promise<RpcReply> {
  const { id } = message
  const uri = String(message.params?.value.uri)
  const parsed = parseRestUri(uri)
  const rest = parsed && session.vault().findRest(parsed.id)
  if (rest === undefined || rest.source.server !== session.server)
    return buildErrorReply(id, RPC.invalidParams, 'the rest of this answer is no longer kept')
  const { source, text } = rest
  const result = JSON.stringify({ contents: [{ uri, mimeType: 'text/plain', text }] })
  const converted = session.generation === 'stateless' ? toStatelessResult(READ, result) : result
  const filtered = await session.answers.filter({
    text: writeResult(id, converted),
    sources: [source],
    schema: undefined,
  })
  session.answers.recordChanges(filtered.changes)
  if (filtered.status === 'denied')
    return buildWithheldReply(message, filtered.reason, session.generation)
  return { text: filtered.text }
}
