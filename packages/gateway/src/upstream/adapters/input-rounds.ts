// Calls of a client with a session at a server of the stateless generation: if the server wants to know
// more, its questions go to the client as requests, and the call is made once more with the answers.
// The client sees one call; the server sees a request for each round.

import { randomUUID } from 'node:crypto'
import { splitMembers } from '@sluice/protocol/json/raw-members'
import { patchObject, readMembers, withMembers } from '@sluice/protocol/members'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { RPC } from '@sluice/protocol/rpc-codes'
import { writeError, writeRequest } from '@sluice/protocol/write-message'
import { INPUT_ROUNDS_MAX, SERVER_REQUESTS_MAX } from '../../shared/limits.ts'
import { INPUT_ROUND_PAUSE_MS } from '../limits.ts'
import type { OutboundRequest } from '../upstream.ts'
import { sessionQuestion } from './translate.ts'

/** What the server wants to know in this round. */
interface OpenRound {
  /** The state as text, if the server sent one. */
  readonly requestState: string | undefined
  /** The client's request -> the server's key. */
  readonly open: Map<RequestId, string>
  readonly responses: Map<string, string>
}

interface InputRoundCall {
  readonly passing: OutboundRequest
  /** The id of the present round, as the server knows it. */
  round: RequestId
  rounds: number
  asking: OpenRound | undefined
  timer: NodeJS.Timeout | undefined
}

export interface RoundsEvents {
  readonly ask: (passing: OutboundRequest) => void
  readonly put: (question: JsonRpcRequest, call: RequestId) => void
  /** The question need not be answered any more. */
  readonly withdraw: (question: RequestId) => void
  readonly answer: (answer: JsonRpcResponse) => void
}

export class InputRounds {
  readonly #events: RoundsEvents
  /** The calls by the id that the client's side knows; bounded by what a client may have open. */
  readonly #calls = new Map<RequestId, InputRoundCall>()
  readonly #byRound = new Map<RequestId, InputRoundCall>()
  #lastId = 0

  constructor(events: RoundsEvents) {
    this.#events = events
  }

  begin(passing: OutboundRequest): void {
    const { id } = passing
    const call = { passing, round: id, rounds: 0, asking: undefined, timer: undefined }
    this.#calls.set(id, call)
    this.#byRound.set(id, call)
    this.#events.ask(passing)
  }

  /** The id by which the server knows the present round of a call. */
  roundOf(call: RequestId): RequestId | undefined {
    return this.#calls.get(call)?.round
  }

  /** The call that something of the server's belongs to, as the client's side knows it. */
  callOf(round: RequestId | undefined): RequestId | undefined {
    return this.#byRound.get(round as RequestId)?.passing.id
  }

  /** The end of a call, however it comes. */
  forget(id: RequestId): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#calls.delete(id)
    this.#byRound.delete(call.round)
    clearTimeout(call.timer)
    for (const question of call.asking?.open.keys() ?? []) this.#events.withdraw(question)
  }

  /** A result that wants input. */
  wants(id: RequestId, result: ReadonlyMap<string, string>): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    call.rounds += 1
    const questions = splitMembers(result.get('inputRequests') ?? '{}')
    if (call.rounds > INPUT_ROUNDS_MAX)
      return this.#giveUp(id, `the server wanted input more than ${INPUT_ROUNDS_MAX} times`)
    if (questions.size > SERVER_REQUESTS_MAX)
      return this.#giveUp(id, `the server asks more than ${SERVER_REQUESTS_MAX} things at once`)
    const asking: OpenRound = {
      requestState: result.get('requestState'),
      open: new Map(),
      responses: new Map(),
    }
    for (const question of call.asking?.open.keys() ?? []) this.#events.withdraw(question)
    call.asking = asking
    for (const key of questions.keys()) asking.open.set(`input-${++this.#lastId}`, key)
    if (questions.size === 0)
      call.timer = setTimeout(() => this.#goOn(call), INPUT_ROUND_PAUSE_MS).unref()
    // Where one is refused at once, the rest need not be asked.
    for (const [question, key] of [...asking.open])
      if (call.asking === asking && this.#calls.has(id))
        this.#put(id, question, questions.get(key) as string)
  }

  /** What the client says to one of the questions; `text` is its whole answer. */
  answered(question: RequestId, text: string): void {
    const call = [...this.#calls.values()].find(({ asking }) => asking?.open.has(question))
    if (call?.asking === undefined) return
    const { open, responses } = call.asking
    const members = splitMembers(text)
    const result = members.get('result')
    if (result === undefined) {
      open.delete(question)
      const { message } = JSON.parse(members.get('error') ?? '{}') as { message?: string }
      return this.#giveUp(call.passing.id, `what the server asked for was not given: ${message}`)
    }
    responses.set(open.get(question) as string, result)
    open.delete(question)
    if (open.size === 0) this.#goOn(call)
  }

  close(): void {
    for (const { timer } of this.#calls.values()) clearTimeout(timer)
    this.#calls.clear()
    this.#byRound.clear()
  }

  #put(call: RequestId, id: RequestId, text: string): void {
    const question = splitMembers(text)
    const method: unknown = JSON.parse(question.get('method') ?? 'null')
    if (typeof method !== 'string') return this.#giveUp(call, 'the server asked for nothing known')
    const written = sessionQuestion(question.get('params'), randomUUID)
    const params = written === undefined ? undefined : readMembers(written)
    const source = writeRequest(id, method, params?.text)
    this.#events.put({ kind: 'request', id, method, params, source }, call)
  }

  /** The same call once more, with the answers. */
  #goOn(call: InputRoundCall): void {
    const { passing, asking } = call
    if (asking === undefined) return
    call.asking = undefined
    this.#byRound.delete(call.round)
    call.round = `round-${++this.#lastId}`
    this.#byRound.set(call.round, call)
    const { requestState, responses } = asking
    const inputResponses =
      responses.size === 0 ? undefined : patchObject('{}', Object.fromEntries(responses))
    const params = withMembers(passing.params, { inputResponses, requestState })
    this.#events.ask({ ...passing, id: call.round, params })
  }

  #giveUp(id: RequestId, message: string): void {
    this.forget(id)
    const error = { code: RPC.internal, message }
    const source = writeError(id, error.code, message)
    this.#events.answer({ kind: 'answer', id, result: undefined, error, source })
  }
}
