// Handles that a server gives out (cursors, tasks, the state of a call that wants input) as one
// principal may hold them: sealed on the way out, opened on the way in. A server knows the gate by
// one credential, so that unsealed A's would work for B.

import type { HandleSealer, SealBinding } from '@sluice/access/identity/keys/handle-sealer'
import { digestText } from '@sluice/ledger/records/record'
import { TOOL_CALL } from '@sluice/policy/language/methods'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest, ParsedMembers } from '@sluice/protocol/message'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { writeMembers } from '@sluice/protocol/write-message'
import { INPUT_ROUNDS_MAX } from '../shared/limits.ts'
import { parseCall } from '../shared/parse-call.ts'
import type { Continuations } from './continuations.ts'

/** Cannot be missed by a result that has one, however its name is spelt. */
const MAY_HAVE_CURSOR = /nextCursor|\\u/
const MAY_HAVE_TASK = /taskId|\\u/

export interface HandlesContext {
  readonly generation: ProtocolGeneration
  readonly seals: HandleSealer
  readonly server: string
  readonly principal: string
  readonly continuations: Continuations
}

export type OpenedRequest =
  | {
      readonly request: JsonRpcRequest
      /** It goes on with a call that was counted. */
      readonly continues: boolean
      /** What had asked for a person when that call was approved. */
      readonly approvedFor?: string | undefined
      /** How often the server has wanted to know more before. */
      readonly rounds: number
      /** A retry for a verdict, with the client's answer to the gate. */
      readonly leg?: ApprovalRetry & { readonly response: JsonValue | undefined }
    }
  | { readonly request?: undefined; readonly refused: string }

/** A held call of the stateless generation, whose client is kept by asking it to come again. */
export interface ApprovalRetry {
  /** How often it was retried. */
  readonly number: number
  /** The request for approval that it waits for; empty if it was only shown where to sign in at its server. */
  readonly approval: string
  /** What the client was shown. */
  readonly shown: 'form' | 'url' | null
}

/** The key of what the gate asks beside it. */
const APPROVAL = 'sluice-approval'

/** What a retry must be equal in, and how many there were. */
export interface RetriedCall {
  readonly method: string
  readonly name: string
  readonly params: ParsedMembers | undefined
  readonly rounds: number
  readonly admission?: { readonly approval?: { readonly asked: string } | undefined } | undefined
}

/** What is sealed of a call that wants input: the round, the keys that were asked for, and the
 * server's own state, where it has one. */
type SealedRound = readonly [round: number, keys: readonly string[], state: string | null]

type SealedApprovalRetry = readonly [
  number: number,
  approval: string,
  shown: ApprovalRetry['shown'],
]

const OF_ROUNDS = ['inputResponses', 'requestState'] as const
const BROUGHT: ReadonlySet<string> = new Set([...OF_ROUNDS, '_meta'])
/** A task's questions are answered by a method of their own. */
const ANSWERS_TASKS = 'tasks/update'

export class SealedHandles {
  readonly #context: HandlesContext
  readonly #for: SealBinding

  constructor(context: HandlesContext) {
    this.#context = context
    this.#for = { server: context.server, principal: context.principal }
  }

  /** A client's request as the server is to have it. */
  open(request: JsonRpcRequest): OpenedRequest {
    const { generation, seals } = this.#context
    const { method, params } = request
    const values = params?.value ?? {}
    if (generation === 'session') {
      // A server of the other generation would take them for answers to what it asked.
      const smuggled = OF_ROUNDS.find((key) => values[key] !== undefined)
      if (smuggled !== undefined) return { refused: `a session has no \`${smuggled}\`` }
    }
    if (typeof values.cursor === 'string') {
      const cursor = seals.open('cursor', { ...this.#for, call: method }, values.cursor)
      if (cursor === undefined) return { refused: 'this cursor is not one that was given here' }
      return first(setHandle(request, 'cursor', cursor))
    }
    if (generation === 'session') return first(request)
    if (values.taskId !== undefined || method.startsWith('tasks/')) {
      const task = seals.open('task', this.#for, String(values.taskId))
      if (task === undefined) return { refused: 'Task not found' }
      return first(setHandle(request, 'taskId', task))
    }
    if (values.requestState !== undefined) return this.#goOn(request)
    // Every question goes out with a state, so these answer none that was judged.
    if (values.inputResponses !== undefined && method !== ANSWERS_TASKS)
      return { refused: '`inputResponses` without the `requestState` that came with the questions' }
    return first(request)
  }

  #goOn(request: JsonRpcRequest): OpenedRequest {
    const { seals, continuations } = this.#context
    const { method, params } = request
    const sealed = String(params?.value.requestState)
    const { name } = parseCall(this.#context.server, request)
    const call = callDigest({ method, name, params })
    const content = seals.open('held', { ...this.#for, call }, sealed)
    if (content !== undefined) return this.#comeBack(request, content)
    const opened = seals.open('requestState', { ...this.#for, call }, sealed)
    if (opened === undefined)
      return { refused: 'this requestState is not one that was given for this call' }
    const [rounds, keys, state] = JSON.parse(opened) as SealedRound
    const responses = splitMembers(params?.text.get('inputResponses') ?? '{}')
    for (const key of [...responses.keys()]) if (!keys.includes(key)) responses.delete(key)
    const members = {
      requestState: state === null ? undefined : JSON.stringify(state),
      inputResponses: responses.size === 0 ? undefined : writeMembers(responses),
    }
    const back = { ...request, params: withMembers(params, members) }
    return { request: back, ...continuations.take(sealed), rounds }
  }

  /** To its verdict; the server knows of none of this. */
  #comeBack(request: JsonRpcRequest, content: string): OpenedRequest {
    const { params } = request
    const [number, approval, shown] = JSON.parse(content) as SealedApprovalRetry
    const responses = params?.value.inputResponses
    const response = isObject(responses) ? responses[APPROVAL] : undefined
    const plain = withMembers(params, { requestState: undefined, inputResponses: undefined })
    const leg = { number, approval, shown, response }
    const rounds = approval === '' ? number : 0
    return { request: { ...request, params: plain }, continues: false, rounds, leg }
  }

  /** A result that asks the client of a held call to come again. */
  sealLeg(
    call: Omit<RetriedCall, 'rounds'>,
    leg: ApprovalRetry,
    params: JsonObject | undefined,
  ): string {
    const retry: SealedApprovalRetry = [leg.number, leg.approval, leg.shown]
    const sealedFor = { ...this.#for, call: callDigest(call) }
    const requestState = this.#context.seals.seal('held', sealedFor, JSON.stringify(retry))
    const asks = params && { [APPROVAL]: { method: 'elicitation/create', params } }
    return JSON.stringify({
      resultType: 'input_required',
      ...(asks === undefined ? {} : { inputRequests: asks }),
      requestState,
    })
  }

  /** A list's result, with its cursor sealed. */
  sealCursor(method: string, resultText: string): string {
    if (!method.endsWith('list') || !MAY_HAVE_CURSOR.test(resultText)) return resultText
    return this.#sealed(resultText, 'nextCursor', (cursor) =>
      this.#context.seals.seal('cursor', { ...this.#for, call: method }, cursor),
    )
  }

  /** The result of a call that has become a task, or of asking about one. */
  sealTask(method: string, resultText: string): string {
    const mayHave = method === TOOL_CALL || method.startsWith('tasks/')
    if (!mayHave || !MAY_HAVE_TASK.test(resultText)) return resultText
    return this.#sealed(resultText, 'taskId', (task) =>
      this.#context.seals.seal('task', this.#for, task),
    )
  }

  /** The result of a call that wants input, with its state sealed for just this call and this round;
   * undefined if it has wanted input often enough. Coming back with it is not counted, once. */
  sealRound(wanted: ReadonlyMap<string, string>, call: RetriedCall): string | undefined {
    const { seals, continuations } = this.#context
    const round = call.rounds + 1
    if (round > INPUT_ROUNDS_MAX) return undefined
    const state: unknown = JSON.parse(wanted.get('requestState') ?? 'null')
    const keys = [...splitMembers(wanted.get('inputRequests') ?? '{}').keys()]
    const content: SealedRound = [round, keys, typeof state === 'string' ? state : null]
    const sealedFor = { ...this.#for, call: callDigest(call) }
    const sealed = seals.seal('requestState', sealedFor, JSON.stringify(content))
    continuations.give(sealed, call.admission?.approval?.asked)
    return writeMembers(new Map(wanted).set('requestState', JSON.stringify(sealed)))
  }

  #sealed(resultText: string, key: string, seal: (handle: string) => string): string {
    const members = splitMembers(resultText)
    const handle: unknown = JSON.parse(members.get(key) ?? 'null')
    if (typeof handle !== 'string') return resultText
    members.set(key, JSON.stringify(seal(handle)))
    return writeMembers(members)
  }
}

function setHandle(request: JsonRpcRequest, key: string, handle: string): JsonRpcRequest {
  return { ...request, params: withMembers(request.params, { [key]: JSON.stringify(handle) }) }
}

function first(request: JsonRpcRequest): OpenedRequest {
  return { request, continues: false, rounds: 0 }
}

/** Every member but what a retry brings: a person may have approved it with all the others. */
function callDigest({ method, name, params }: Omit<RetriedCall, 'rounds' | 'admission'>): string {
  const members = [...(params?.text ?? [])].filter(([key]) => !BROUGHT.has(key))
  return digestText(JSON.stringify([method, name, members.sort(([a], [b]) => (a < b ? -1 : 1))]))
}
