// The result of a forwarded request, as its sender may see it, and the outcome for the audit log. A
// server's answer that asks something of the client is decided first. Every text towards a client is
// inspected once more as it is sent (deliveries.ts). Called by handle-call.ts.

import { Buffer } from 'node:buffer'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import type { JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { getMeta, META, type ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { oneLine, oneLineSteps, writeError, writeResult } from '@sluice/protocol/write-message'
import { enterStep } from '../shared/current-step.ts'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { afterLarge } from '../shared/large-messages.ts'
import {
  ANSWER_AT_ONCE_LENGTH_MAX,
  INPUT_ROUNDS_MAX,
  INSPECTED_AT_ONCE_LENGTH_MAX,
  LARGE_MESSAGE_BYTES_MIN,
} from '../shared/limits.ts'
import type { CallOutcome } from '../shared/outcome.ts'
import { listDeclaredCapabilities } from '../shared/server-questions.ts'
import { writeSessionHandle } from '../shared/session-handle.ts'
import { runInSlices, takeTurn } from '../shared/slices.ts'
import type { UpstreamFailure } from '../upstream/upstream.ts'
import { askToConnect } from './ask-to-connect.ts'
import type { CallSession, Exchange } from './call-session.ts'
import { findSource, isDefinition } from './deliveries.ts'
import type { AnswerFilter, FilterRequest } from './filter-answers.ts'
import { filterResult } from './filter-result.ts'
import {
  findInputRequests,
  findRefusedInput,
  type InputRequests,
  type RefusedInput,
} from './input-requests.ts'
import type { ForwardResult, ReplyOptions, SentRequest } from './pending-requests.ts'
import {
  buildFrozenReply,
  buildRefusalReply,
  buildWithheldReply,
  isNotFoundError,
  stripGateMeta,
} from './replies.ts'

export interface InspectOptions {
  readonly exchange: Exchange
  readonly result: ForwardResult
}

export interface InspectedResult {
  /** The reply; undefined if the sender no longer waits, or was answered before. */
  readonly reply?: { readonly text: string } & ReplyOptions
  readonly outcome: CallOutcome
  /** The session could not begin: why it is closed. */
  readonly closes?: string | undefined
  /** The server waits for a further round, which a client that is gone will not make. */
  readonly isRound?: boolean
}

const WITHHELD = { change: 'withheld', kind: 'message', count: 1 } as const

/** After these errors it is unknown whether the call was carried out. */
const UNKNOWN_ENDS: ReadonlySet<string> = new Set(['UPSTREAM_OUTCOME_UNKNOWN', 'UPSTREAM_TIMEOUT'])

/** Inspects a result. The result is a promise only if the answer is long, or asks the client for input. */
export function inspectResult({
  exchange,
  result,
}: InspectOptions): InspectedResult | Promise<InspectedResult> {
  const { pending, sender, session } = exchange
  const { id, sent } = pending
  if (result.status === 'ended') return { outcome: { status: result.outcome } }
  if (result.status === 'not-sent' || sent === undefined) {
    const text = writeError(id, RPC.internal, 'the other side is gone: nothing was sent')
    const status = result.status === 'not-sent' ? result.outcome : 'error'
    return { reply: { text, from: 'gate' }, outcome: { status, givenBack: true } }
  }
  if (result.status === 'failed') return inspectFailure(sent, result.failure, session)
  const { response } = result
  if (sender === 'server') {
    const text = writeAnswer(id, response)
    return { reply: { text }, outcome: outcomeOf(response, text) }
  }
  const toFault = (error: Error) => inspectFault(sent, error)
  try {
    const inspected =
      (response.result?.length ?? 0) > ANSWER_AT_ONCE_LENGTH_MAX
        ? takeTurn().then(() => inspectResponse(sent, response, session))
        : inspectResponse(sent, response, session)
    return inspected instanceof Promise ? inspected.catch(toFault) : inspected
  } catch (error) {
    return toFault(error as Error)
  }
}

function inspectResponse(
  sent: SentRequest,
  response: JsonRpcResponse,
  session: CallSession,
): InspectedResult | Promise<InspectedResult> {
  enterStep('answer')
  const asking = findInputRequests(session.generation, sent.method, response)
  if (asking === undefined) return inspectAnswer(sent, response, session)
  return inspectQuestions(sent, response, { asking, session })
}

/** Handles an answer that cannot be passed on. Other users of the server are not affected. */
function inspectFault(sent: SentRequest, { message }: Error): InspectedResult {
  const why = `the server's answer cannot be passed on: ${message}`
  const text = writeError(sent.id, RPC.internal, why)
  return { reply: { text, from: sent }, outcome: { status: 'error' } }
}

function inspectAnswer(
  sent: SentRequest,
  response: JsonRpcResponse,
  session: CallSession,
): InspectedResult | Promise<InspectedResult> {
  const inspect = () => inspectContent(sent, response, session)
  return (response.result?.length ?? 0) > LARGE_MESSAGE_BYTES_MIN ? afterLarge(inspect) : inspect()
}

function inspectContent(
  sent: SentRequest,
  response: JsonRpcResponse,
  session: CallSession,
): InspectedResult | Promise<InspectedResult> {
  const { pages, skills } = session.lists
  const { method, name } = sent
  const isRead = method === 'resources/read'
  const { result } = response
  const page = isRead ? result : undefined
  const reason =
    skills.checkAnswer(sent, result, session.facts) ?? (page && pages.checkAnswer(name, page))
  if (reason) {
    session.log(`an answer is withheld: ${reason}`)
    return withhold(sent, { reason, changes: [WITHHELD] }, session)
  }
  const narrowed = page ? { ...response, result: pages.narrowResult(name, page) } : response
  return inspectPassing(sent, narrowed, session)
}

function inspectPassing(
  sent: SentRequest,
  response: JsonRpcResponse,
  session: CallSession,
): InspectedResult | Promise<InspectedResult> {
  const filtered = filterResult({ sent, response, session })
  const isLong = (text = '') => text.length > INSPECTED_AT_ONCE_LENGTH_MAX
  if (filtered instanceof Promise || isLong(filtered.result))
    return inspectInTurns({ sent, response, session, filtered })
  const text = writeAnswer(sent.id, filtered)
  if (isLong(text)) return inspectInTurns({ sent, response, session, filtered })
  const isFiltered = session.answers.isActive()
  const passed = isFiltered ? session.answers.filter(toFilter(sent, text, session)) : undefined
  if (passed instanceof Promise)
    return inspectInTurns({ sent, response, session, filtered, passed })
  if (passed?.status === 'denied') return withhold(sent, passed, session)
  const shown = passed?.text ?? text
  const { error } = filtered
  const changes = passed?.changes
  return toInspected({ sent, response, session, text: shown, error, isFiltered, changes })
}

function toFilter(sent: SentRequest, text: string, { lists }: CallSession): FilterRequest {
  const { method, name, outputSchema, program } = sent
  const isTask = method.startsWith('tasks/')
  return {
    text,
    sources: [findSource(sent)],
    schema: isTask ? 'unknown' : outputSchema,
    isWhole: method === 'resources/read' && lists.skills.has(name),
    isUncut: program !== undefined,
  }
}

/** Replaces an answer that the policy does not let pass. The call was carried out. */
function withhold(
  sent: SentRequest,
  { reason, changes }: { readonly reason: string; readonly changes?: CallOutcome['changes'] },
  session: CallSession,
): InspectedResult {
  const { errorCode, text } = buildWithheldReply(sent, reason, session.generation)
  const outcome = { status: 'answered', bytes: Buffer.byteLength(text), changes } as const
  return { reply: { text, errorCode, from: 'gate' }, outcome }
}

interface FilteredAnswer {
  readonly sent: SentRequest
  readonly response: JsonRpcResponse
  readonly session: CallSession
  readonly filtered: JsonRpcResponse | Promise<JsonRpcResponse>
  /** The answer as the policy's rules for answers filter it, if that has begun. */
  readonly passed?: ReturnType<AnswerFilter['filter']> | undefined
}

/** Other work runs in between, which may be a freeze. */
async function inspectInTurns(answer: FilteredAnswer): Promise<InspectedResult> {
  const { filtered, response, sent, session } = answer
  const { id, method } = sent
  const stripped = await filtered
  const { error, result = '' } = stripped
  if (filtered instanceof Promise || result.length > ANSWER_AT_ONCE_LENGTH_MAX) await takeTurn()
  const line = await runInSlices(oneLineSteps(result), 'answer')
  const written = writeAnswer(id, line === '' ? stripped : { result: line })
  const isFiltered = answer.passed !== undefined || session.answers.isActive()
  const passed = isFiltered
    ? await (answer.passed ?? session.answers.filter(toFilter(sent, written, session)))
    : undefined
  if (passed?.status === 'denied') return withhold(sent, passed, session)
  const text = passed?.text ?? written
  const kind = isDefinition(method, error !== undefined) ? 'definition' : 'answer'
  const isLong = text.length > INSPECTED_AT_ONCE_LENGTH_MAX
  const inspected = isLong ? await session.inspectAhead(text, kind) : undefined
  const frozen = session.frozen()
  if (frozen !== undefined) {
    session.abandon(sent)
    const { text: reply } = buildFrozenReply(id, frozen, true)
    return { reply: { text: reply, from: 'gate' }, outcome: { status: 'cancelled' } }
  }
  const changes = passed?.changes
  return toInspected({ sent, response, session, text, error, inspected, isFiltered, changes })
}

function toInspected({
  sent,
  response,
  session,
  text,
  error,
  inspected,
  isFiltered,
  changes,
}: Omit<FilteredAnswer, 'filtered' | 'passed'> & {
  readonly text: string
  readonly error: JsonRpcResponse['error']
  readonly inspected?: ReplyOptions['inspected']
  readonly isFiltered: boolean
  readonly changes: CallOutcome['changes']
}): InspectedResult {
  const { admission, method, name } = sent
  if (admission !== undefined) session.names.hear(response.result)
  if (method === 'initialize' && response.result !== undefined) beginSession(session)
  const describes = isDefinition(method, error !== undefined)
  const outcome = outcomeOf(response, text)
  const { generation } = session
  const isNotFound =
    error !== undefined &&
    changes === undefined &&
    isNotFoundError(error, method, { name, generation })
  return {
    reply: {
      text,
      errorCode: error?.code,
      notFound: isNotFound ? { method, name } : undefined,
      inspected,
      isFiltered,
      isDefinition: describes,
      from: sent,
    },
    outcome: changes === undefined ? outcome : { ...outcome, changes },
    closes: method === 'initialize' && response.error ? 'it did not begin' : undefined,
  }
}

function beginSession({ client, questions, upstream }: CallSession): void {
  const { handle } = upstream
  const { declared } = questions
  client.begun?.(handle === undefined ? undefined : writeSessionHandle(handle, declared))
}

/** The answer asks something of the client: that is decided first. */
async function inspectQuestions(
  sent: SentRequest,
  response: JsonRpcResponse,
  { asking, session }: { readonly asking: InputRequests; readonly session: CallSession },
): Promise<InspectedResult> {
  const declared =
    session.generation === 'session'
      ? session.questions.declared
      : listDeclaredCapabilities(getMeta(sent.params)[META.capabilities])
  const refused = await findRefusedInput(asking, session, declared)
  if (refused !== undefined) return refuseAnswer(sent, response, { refused, session })
  if (asking.wanted === undefined) return inspectAnswer(sent, response, session)
  const result = session.handles.sealRound(asking.wanted, sent)
  if (result === undefined) {
    const fault = `the server wanted input more than ${INPUT_ROUNDS_MAX} times for one call`
    return refuseAnswer(sent, response, { refused: { fault }, session })
  }
  const text = writeAnswer(sent.id, stripGateMeta({ ...response, result }))
  return { reply: { text, from: sent }, outcome: outcomeOf(response, text), isRound: true }
}

/** Replaces an answer that may not be delivered; the server need not wait for what it asked. */
function refuseAnswer(
  sent: SentRequest,
  response: JsonRpcResponse,
  { refused, session }: { readonly refused: RefusedInput; readonly session: CallSession },
): InspectedResult {
  const { id, name, ours } = sent
  const { errorCode, text }: RpcReply =
    'fault' in refused
      ? buildErrorReply(id, RPC.internal, refused.fault)
      : buildRefusalReply(
          sent,
          { ...refused, explain: false },
          { name, tool: undefined, generation: session.generation },
        )
  session.upstream.abort(ours)
  return { reply: { text, errorCode, from: sent }, outcome: outcomeOf(response, text) }
}

function inspectFailure(
  sent: SentRequest,
  failure: UpstreamFailure,
  session: CallSession,
): InspectedResult {
  const { generation } = session
  const { code, message, repeatable, retryAfterMs } = failure
  const response = toFailureResponse({ ...failure, request: sent.ours })
  // A model can wait and call again: it reads results, and clients may take an error for the end of the session.
  const isForModel = retryAfterMs !== undefined && sent.admission !== undefined
  const text =
    isForModel && sent.method === TOOL_CALL && sent.params?.value.task === undefined
      ? writeFailedResult(sent.id, response, generation)
      : writeAnswer(sent.id, response ?? {})
  const status = UNKNOWN_ENDS.has(code) ? 'unknown' : 'error'
  const asked = askToConnect(sent, failure, response?.error?.data ?? null, session)
  return {
    reply: { text, from: sent, ...asked },
    outcome: repeatable ? { status: 'error', givenBack: true } : { status },
    closes: sent.method === 'initialize' ? message : undefined,
  }
}

/** A failure as the result of a tool. */
function writeFailedResult(
  id: RequestId,
  { error }: Partial<JsonRpcResponse> = {},
  generation: ProtocolGeneration,
): string {
  const result = {
    ...(generation === 'stateless' ? { resultType: 'complete' } : {}),
    content: [{ type: 'text', text: error?.message ?? '' }],
    isError: true,
    _meta: error?.data ?? {},
  }
  return oneLine(writeResult(id, JSON.stringify(result)))
}

/** `text` is the reply to its sender. */
function outcomeOf({ error }: JsonRpcResponse, text: string): CallOutcome {
  const bytes = Buffer.byteLength(text)
  if (error === undefined) return { status: 'answered', bytes }
  return { status: 'error', bytes, errorCode: error.code }
}

/** A response as the sender of the request is to read it. */
export function writeAnswer(
  id: RequestId,
  { error, result }: Partial<Pick<JsonRpcResponse, 'error' | 'result'>>,
): string {
  if (error === undefined && result !== undefined)
    return typeof id === 'number'
      ? writeResult(id, oneLine(result))
      : oneLine(writeResult(id, result))
  const { code = RPC.internal, message = 'an answer without a result', data } = error ?? {}
  return oneLine(writeError(id, code, message, data))
}

/**
 * A failure of a server as the answer to the request that failed: what a caller gets if nobody
 * treats the failure otherwise. The code and the help go in `data`, under the gate's own name. Pure.
 */
export function toFailureResponse(failure: UpstreamFailure): JsonRpcResponse | undefined {
  const { request, code, help, connectAt, repeatable, retryAfterMs } = failure
  if (request === undefined) return undefined
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  const page = connectAt === undefined ? {} : { connectAt }
  const data = { code, ...(help === undefined ? {} : { help }), ...page, repeatable, ...wait }
  const message = help === undefined ? failure.message : `${failure.message}; ${help}`
  const error = { code: RPC.internal, message, data: { 'sluice/upstream': data } }
  const source = writeError(request, error.code, error.message, error.data)
  return { kind: 'answer', id: request, result: undefined, error, source }
}
