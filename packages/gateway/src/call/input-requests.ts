// What a server asks of a client inside an answer: sampling, elicitation and roots in a result of the
// stateless generation, pages to open in an error of 2025-11-25. Each is decided as the request it would have
// been in a session, wherever it stands: a question that may not be put reaches nobody.

import { isObject, type JsonObject } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { writeJson } from '@sluice/protocol/json/write-json'
import { readMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest, JsonRpcResponse } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { RPC } from '@sluice/protocol/rpc-codes'
import { SERVER_REQUESTS_MAX } from '../shared/limits.ts'
import { classifyServerMethod, parseCall } from '../shared/parse-call.ts'
import { type DeclaredCapabilities, questionFault } from '../shared/server-questions.ts'
import { admitCall } from './admit-call.ts'
import type { Admission, AdmissionResult, RefusedCall } from './call-request.ts'
import type { CallContext } from './call-session.ts'
import { createWaitOptions } from './wait-options.ts'

/** The protocol lets a server ask for input before it answers these. */
export const MAY_WANT_INPUT: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
])
/** Matches every result that asks for input, however its names are spelt; others may match too. */
const MAY_ASK = /input_required|inputRequests|\\u/

export interface InputRequests {
  /** Key -> `{ method, params }` as text. */
  readonly questions: ReadonlyMap<string, string>
  /** The members of a result that wants the call to be made once more, with the answers. */
  readonly wanted?: Map<string, string>
  /** Why it may not ask here at all. */
  readonly fault?: string
}

/** Finds the input that an answer asks for; undefined if it asks for none. */
export function findInputRequests(
  generation: ProtocolGeneration,
  method: string,
  { result, error }: JsonRpcResponse,
): InputRequests | undefined {
  if (error?.code === RPC.urlElicitationRequired) return inError(generation, error.data)
  if (generation === 'session' || result === undefined || !MAY_ASK.test(result)) return undefined
  const members = splitMembers(result)
  const wants = isInputRequired(members)
  const inner = splitMembers(members.get('result') ?? 'null')
  if (isInputRequired(inner) || inner.has('inputRequests'))
    return faulty('the server asks inside the result of a task')
  if (!wants && !members.has('inputRequests')) return undefined
  if (wants && !MAY_WANT_INPUT.has(method))
    return faulty(`the server asks for input where the protocol has none: \`${method}\``)
  const questions = splitMembers(members.get('inputRequests') ?? '{}')
  return wants ? { questions, wanted: members } : { questions }
}

/** Compares by value, because the same word can be spelt with escapes. */
function isInputRequired(result: ReadonlyMap<string, string>): boolean {
  return JSON.parse(result.get('resultType') ?? 'null') === 'input_required'
}

function inError(generation: ProtocolGeneration, data: unknown): InputRequests {
  if (generation === 'stateless')
    return faulty('the server wants a page to be opened as only revisions with sessions can say')
  const { elicitations: pages = [] } = isObject(data) ? data : {}
  if (!Array.isArray(pages))
    return faulty('the server wants pages to be opened, in no list of them')
  const questions = pages.map((params, at) => {
    const question: JsonObject = { method: 'elicitation/create', params }
    return [String(at), writeJson(question)] as const
  })
  return { questions: new Map(questions) }
}

function faulty(fault: string): InputRequests {
  return { questions: new Map(), fault }
}

export type RefusedInput = RefusedCall | { readonly fault: string }

/** The first question that may not be put to the client: then none is, and none counts. */
export async function findRefusedInput(
  { questions, fault }: InputRequests,
  context: Pick<CallContext, 'pipeline' | 'server' | 'facts' | 'record'>,
  declared: DeclaredCapabilities,
): Promise<RefusedInput | undefined> {
  const { record } = context
  if (fault !== undefined) return { fault }
  if (questions.size > SERVER_REQUESTS_MAX)
    return { fault: `the server asks more than ${SERVER_REQUESTS_MAX} things at once` }
  const startedMs = performance.now()
  const admitted: Admission[] = []
  let refused: RefusedInput | undefined
  for (const text of questions.values()) {
    const question = questionOf(text)
    const fault =
      typeof question === 'string'
        ? `the server asks for \`${question}\`, which does not pass the gate`
        : questionFault(question.method, question.params?.value ?? {}, declared)?.why
    refused =
      fault === undefined
        ? refusalOf(await admitQuestion(question as JsonRpcRequest, context), admitted)
        : { fault }
    if (refused !== undefined) break
  }
  for (const admission of admitted) {
    if (refused === undefined) record(admission, startedMs, { status: 'answered' })
    else record(admission, startedMs, { status: 'cancelled', givenBack: true })
  }
  return refused
}

/** Decides a question of a server. It may wait for a person as long as any call. */
function admitQuestion(
  question: JsonRpcRequest,
  { facts, pipeline, server }: Pick<CallContext, 'pipeline' | 'server' | 'facts'>,
): Promise<AdmissionResult> {
  const call = parseCall(server, question)
  const waitOptions = () => createWaitOptions(question, { isWanted: () => true })
  const lookUp = () => ({ call, facts: facts(), argsText: undefined, waitOptions })
  return admitCall({ pipeline, request: lookUp(), lookUp })
}

function refusalOf(decided: AdmissionResult, admitted: Admission[]): RefusedInput | undefined {
  if (decided.admission === undefined) return decided
  admitted.push(decided.admission)
  return undefined
}

/** Converts a question to the request that it would be; or returns its name if a server may not ask it. */
function questionOf(text: string): JsonRpcRequest | string {
  const members = splitMembers(text)
  const method: unknown = JSON.parse(members.get('method') ?? 'null')
  if (typeof method !== 'string' || classifyServerMethod(method) !== 'judged')
    return String(method).slice(0, 100)
  const params = readMembers(members.get('params') ?? '{}')
  return { kind: 'request', id: 0, method, params, source: text }
}
