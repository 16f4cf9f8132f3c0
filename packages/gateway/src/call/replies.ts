// Replies to callers whose call does not go on. A denied tool call is a result the model can
// act on; a hidden name is answered exactly as a name no server has. Only the gate speaks under
// `sluice`: a server's answer loses that name on the way.

import type { ApprovalReference, Decision } from '@sluice/policy/calls/decision'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { type ProtocolGeneration, TASKS } from '@sluice/protocol/protocol-generation'
import { type LocalCode, RPC, toRpcCode } from '@sluice/protocol/rpc-codes'
import { writeMembers, writeResult } from '@sluice/protocol/write-message'
import { buildErrorReply, type RpcReply } from '../shared/error-reply.ts'
import { type Freeze, frozenReason } from '../state/freezes.ts'
import { adviseWait } from './refusal-advice.ts'

export interface CallRefusal {
  readonly decision: Decision
  readonly callId: string
  /** This caller may see the rule and what is left; others could map the policy by it. */
  readonly explain: boolean
  /** Advice on what the model can do instead. */
  readonly advice?: string | undefined
}

interface RefusedTarget {
  readonly name: string
  readonly tool: KnownTool | undefined
  readonly generation: ProtocolGeneration
}

export function buildRefusalReply(
  { id, method, params }: Pick<JsonRpcRequest, 'id' | 'method' | 'params'>,
  { decision, callId, explain, advice }: CallRefusal,
  { name, tool, generation }: RefusedTarget,
): RpcReply {
  const { action, code, reason, retryAfterMs, rule, remaining, approval } = decision
  if (action === 'hide') return buildNotFoundReply(id, method, { name, generation })
  const canCome = Number.isFinite(retryAfterMs) && retryAfterMs > 0
  const wait = canCome ? { retryAfterMs: Math.ceil(retryAfterMs) } : {}
  const left = remaining === undefined ? {} : { remaining }
  const details = {
    decision: action,
    code,
    reason,
    ...wait,
    callId,
    ...(approval === undefined ? {} : toApprovalDetails(approval)),
    ...(explain ? { rule, ...left } : {}),
  }
  const text = joinAdvice(refusalText(decision), advice)
  // Who asks for a task can take a task or an error, and no other result.
  if (method !== TOOL_CALL || params?.value.task !== undefined)
    return buildErrorReply(id, toRpcCode(code as LocalCode), text, { 'sluice/decision': details })
  // Clients hold structured content against the output schema, even in an error.
  const structured = tool?.definition.outputSchema === undefined
  const result = {
    ...(generation === 'stateless' ? { resultType: 'complete' } : {}),
    content: [{ type: 'text', text }],
    isError: true,
    _meta: { 'sluice/decision': details },
    ...(structured ? { structuredContent: { sluice: details } } : {}),
  }
  return { text: writeResult(id, JSON.stringify(result)) }
}

/** A call was carried out, and the policy does not let its answer pass. */
export function buildWithheldReply(
  { id, method, params }: Pick<JsonRpcRequest, 'id' | 'method' | 'params'>,
  why: string,
  generation: ProtocolGeneration,
): RpcReply {
  const reason = toWithheldText(why)
  const details = { decision: 'deny', code: 'DENIED', reason }
  if (method !== TOOL_CALL || params?.value.task !== undefined)
    return buildErrorReply(id, toRpcCode('DENIED'), reason, { 'sluice/decision': details })
  const result = {
    ...(generation === 'stateless' ? { resultType: 'complete' } : {}),
    content: [{ type: 'text', text: reason }],
    isError: true,
    _meta: { 'sluice/decision': details },
  }
  return { text: writeResult(id, JSON.stringify(result)) }
}

export function toWithheldText(why: string): string {
  return `the request was carried out, but the policy withholds the answer: ${why}`
}

/** The reasons of these codes need no introduction. */
const OWN_WORDS = toWordSet(`
  FROZEN GATE_UNAVAILABLE APPROVAL_PENDING APPROVAL_DENIED APPROVAL_EXPIRED APPROVAL_USED
`)

/** Builds the text of a refusal. Many clients show a model the text and not `_meta`. */
export function refusalText(decision: Pick<Decision, 'code' | 'reason' | 'retryAfterMs'>): string {
  const { code, reason } = decision
  const text = OWN_WORDS.has(code) ? reason : `denied by policy: ${reason}`
  return joinAdvice(text, adviseWait(decision))
}

function joinAdvice(text: string, advice: string | undefined): string {
  return advice === undefined ? text : `${text}; ${advice}`
}

function toApprovalDetails({ id, url, usedBy }: ApprovalReference) {
  return {
    approvalId: id,
    ...(url === undefined ? {} : { approvalUrl: url }),
    ...(usedBy === undefined ? {} : { usedBy }),
  }
}

/** Answers a request that is not a call, or a call that was under way when the freeze began. */
export function buildFrozenReply(id: RequestId, frozen: Freeze, isSent: boolean): RpcReply {
  const doubt = isSent ? '; whether it was carried out is unknown' : ''
  const reason = `${frozenReason(frozen)}${doubt}`
  const details = { decision: 'deny', code: 'FROZEN', reason }
  return buildErrorReply(id, RPC.frozen, reason, { 'sluice/decision': details })
}

/** Answers a client that asks about a task and has not declared that it knows tasks. */
export function noTasksAnswer(id: RequestId, method: string): RpcReply {
  const text = `\`${method}\` is for clients that know \`${TASKS}\``
  const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } }
  return buildErrorReply(id, RPC.missingCapability, text, data)
}

interface UnknownName {
  readonly name: string
  readonly generation: ProtocolGeneration
  readonly doubt?: string | undefined
}

/** Answers a call of a name that is not found. `doubt` says why it may exist all the same. */
export function buildNotFoundReply(
  id: RequestId,
  method: string,
  { name, generation, doubt }: UnknownName,
): RpcReply {
  const { code, message } = unknownError(method, name, generation)
  const reply = buildErrorReply(id, code, doubt === undefined ? message : `${message}; ${doubt}`)
  return { ...reply, notFound: { method, name, doubt } }
}

/** Whether the error of a server says the same as `buildNotFoundReply` says about the name. */
export function isNotFoundError(
  { code, message, data }: NonNullable<JsonRpcResponse['error']>,
  method: string,
  { name, generation }: Omit<UnknownName, 'doubt'>,
): boolean {
  const unknown = unknownError(method, name, generation)
  return data === undefined && code === unknown.code && message === unknown.message
}

export function unknownError(
  method: string,
  name: string,
  generation: ProtocolGeneration,
): { readonly code: number; readonly message: string } {
  if (method.startsWith('tasks/')) return { code: RPC.invalidParams, message: 'Task not found' }
  if (method === TOOL_CALL) return { code: RPC.invalidParams, message: `Unknown tool: ${name}` }
  if (method === 'prompts/get')
    return { code: RPC.invalidParams, message: `Unknown prompt: ${name}` }
  if (method === 'completion/complete')
    return { code: RPC.methodNotFound, message: `\`${method}\` is not a method the gate knows` }
  const code = generation === 'stateless' ? RPC.invalidParams : RPC.resourceNotFound
  return { code, message: `Resource not found: ${name}` }
}

const OURS = /^sluice(\/|$)/iu
/** Matches every text that has one of the reserved names, in any spelling; others may match too. */
const MAYBE_OURS = /sluice|\\u/iu

/** A server's answer without what only the gate may say; every other byte as it was. */
export function stripGateMeta(answer: JsonRpcResponse): JsonRpcResponse {
  const { result, error } = answer
  if (result !== undefined) {
    const clean = cleanResult(result)
    return clean === result ? answer : { ...answer, result: clean }
  }
  const data = error?.data
  if (error === undefined || !isObject(data) || !Object.keys(data).some(isOurs)) return answer
  const members = Object.entries(data).filter(([key]) => !isOurs(key))
  return { ...answer, error: { ...error, data: Object.fromEntries(members) as JsonValue } }
}

function cleanResult(resultText: string): string {
  if (!MAYBE_OURS.test(resultText)) return resultText
  const members = splitMembers(resultText)
  let changed = false
  for (const holder of ['_meta', 'structuredContent']) {
    const inner = splitMembers(members.get(holder) ?? 'null')
    const ours = [...inner.keys()].filter(isOurs)
    if (ours.length === 0) continue
    for (const key of ours) inner.delete(key)
    members.set(holder, writeMembers(inner))
    changed = true
  }
  return changed ? writeMembers(members) : resultText
}

function isOurs(key: string): boolean {
  return OURS.test(key)
}
