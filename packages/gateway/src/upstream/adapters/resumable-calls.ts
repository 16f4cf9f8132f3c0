// Calls at a server with sessions, for clients of the stateless generation: one call there, and here one
// request after another that waits for it, its legs. If the server asks something, the leg is
// answered with that, and the call is held until the client comes back with the answers; a handle is
// good for one return. Bounded in number, size and time.

import { randomUUID } from 'node:crypto'
import { patchObject } from '@sluice/protocol/members'
import type { JsonRpcResponse, RequestId } from '@sluice/protocol/message'
import { INPUT_HELD_MS, SERVER_REQUESTS_MAX } from '../../shared/limits.ts'
import { INPUT_GATHER_MS, INPUT_HELD_LENGTH_MAX, INPUT_HELD_MAX } from '../limits.ts'
import type { UpstreamFailure } from '../upstream.ts'

/** A question of the server's, under the key the client answers it by. */
interface ServerInputRequest {
  readonly key: string
  /** The id by which the server calls its request. */
  readonly id: RequestId
  /** `{ method, params }` as text. */
  readonly text: string
}

interface ResumableCall {
  /** The id by which the server knows the call: that of its first leg. */
  readonly id: RequestId
  /** The newest of its legs; `isHeld` where that one is answered. */
  leg: RequestId
  isHeld: boolean
  handle: string
  /** Questions without an answer: those sent to the client, and those not yet sent. */
  sent: ServerInputRequest[]
  unsent: ServerInputRequest[]
  /** What came while nobody waited. */
  end: JsonRpcResponse | UpstreamFailure | undefined
  timer: NodeJS.Timeout | undefined
}

export interface ResumableCallsEvents {
  readonly answerLeg: (leg: RequestId, result: string) => void
  readonly refuseLeg: (leg: RequestId, why: string) => void
  readonly endLeg: (leg: RequestId, end: JsonRpcResponse | UpstreamFailure) => void
  readonly answerServer: (question: RequestId, result: string) => void
  readonly refuseServer: (question: RequestId, why: string) => void
  /** Nobody will come back for it. `reason` is JSON text. */
  readonly cancel: (call: RequestId, reason: string) => void
}

export class ResumableCalls {
  readonly #events: ResumableCallsEvents
  readonly #byId = new Map<RequestId, ResumableCall>()
  readonly #byHandle = new Map<string, ResumableCall>()
  /** Buffered answers that no client has come back for. */
  #keptLength = 0
  #lastKey = 0

  constructor(events: ResumableCallsEvents) {
    this.#events = events
  }

  begin(id: RequestId): void {
    const nothing = { sent: [], unsent: [], end: undefined, timer: undefined }
    this.#byId.set(id, { id, leg: id, isHeld: false, handle: '', ...nothing })
  }

  /** The request that waits for a call of the server's, where one does. */
  legOf(call: RequestId | undefined): RequestId | undefined {
    const found = this.#byId.get(call as RequestId)
    return found?.isHeld === false ? found.leg : undefined
  }

  /** A question of the server's, gathered with others of the same call; if the server does not say
   * which, of the newest that somebody waits for. */
  ask(call: RequestId | undefined, question: RequestId, text: string): void {
    const found = this.#byId.get(call as RequestId) ?? this.#newest
    if (found === undefined || found.unsent.length + found.sent.length >= SERVER_REQUESTS_MAX) {
      const why =
        found === undefined
          ? 'no client waits for an answer that could carry this'
          : `more than ${SERVER_REQUESTS_MAX} questions are open for this call`
      return this.#events.refuseServer(question, why)
    }
    found.unsent.push({ key: `input-${++this.#lastKey}`, id: question, text })
    if (!found.isHeld)
      found.timer ??= setTimeout(() => this.#notify(found), INPUT_GATHER_MS).unref()
  }

  /** The end of a call; false if it is none. */
  end(call: RequestId | undefined, end: JsonRpcResponse | UpstreamFailure): boolean {
    const found = this.#byId.get(call as RequestId)
    if (found === undefined) return false
    if (!found.isHeld) {
      this.#forget(found)
      this.#events.endLeg(found.leg, end)
    } else if (found.end === undefined) this.#keep(found, end)
    return true
  }

  /** The client is back with answers; false if there is no call to continue. */
  goOn(leg: RequestId, handle: string, responses: ReadonlyMap<string, string>): boolean {
    const call = this.#byHandle.get(handle)
    if (call === undefined) return false
    this.#release(call)
    Object.assign(call, { leg, isHeld: false })
    if (call.end !== undefined) {
      this.#forget(call)
      this.#events.endLeg(leg, call.end)
      return true
    }
    const open = call.sent
    call.sent = []
    for (const question of open) {
      const response = responses.get(question.key)
      if (response === undefined) call.unsent.push(question)
      else this.#events.answerServer(question.id, response)
    }
    if (call.unsent.length > 0) this.#notify(call)
    return true
  }

  /** Nobody waits for this leg and nobody will retry it: the server is notified. */
  drop(leg: RequestId, reason?: string): void {
    const call = [...this.#byId.values()].find((each) => each.leg === leg)
    if (call !== undefined) this.#giveUp(call, 'the client no longer waits', reason)
  }

  close(): void {
    for (const call of [...this.#byId.values()]) this.#forget(call)
  }

  get #newest(): ResumableCall | undefined {
    const calls = [...this.#byId.values()]
    return calls.findLast(({ isHeld }) => !isHeld) ?? calls.at(-1)
  }

  /** Answers the leg with what is wanted, and holds the call. */
  #notify(call: ResumableCall): void {
    clearTimeout(call.timer)
    call.timer = undefined
    if (this.#byHandle.size >= INPUT_HELD_MAX) {
      this.#giveUp(call, 'too many calls wait for input already')
      return this.#events.refuseLeg(call.leg, 'too many calls wait for input already')
    }
    call.sent = call.unsent
    call.unsent = []
    call.isHeld = true
    call.handle = randomUUID()
    call.timer = setTimeout(
      () => this.#giveUp(call, 'the client did not come back with an answer'),
      INPUT_HELD_MS,
    ).unref()
    this.#byHandle.set(call.handle, call)
    const questions = Object.fromEntries(call.sent.map(({ key, text }) => [key, text]))
    const result = patchObject('{}', {
      resultType: '"input_required"',
      inputRequests: patchObject('{}', questions),
      requestState: JSON.stringify(call.handle),
    })
    this.#events.answerLeg(call.leg, result)
  }

  #keep(call: ResumableCall, end: JsonRpcResponse | UpstreamFailure): void {
    call.end = end
    const length = lengthOf(end)
    if (this.#keptLength + length <= INPUT_HELD_LENGTH_MAX) this.#keptLength += length
    else {
      const message = 'the server answered before the client came back, with more than is kept'
      const { id: request } = call
      call.end = { code: 'UPSTREAM_TOO_LARGE', message, request, repeatable: false }
    }
  }

  #giveUp(call: ResumableCall, why: string, reason = JSON.stringify(why)): void {
    this.#forget(call)
    if (call.end !== undefined) return
    for (const { id } of [...call.sent, ...call.unsent]) this.#events.refuseServer(id, why)
    this.#events.cancel(call.id, reason)
  }

  #forget(call: ResumableCall): void {
    this.#release(call)
    this.#byId.delete(call.id)
    if (call.end !== undefined) this.#keptLength -= lengthOf(call.end)
  }

  #release(call: ResumableCall): void {
    clearTimeout(call.timer)
    call.timer = undefined
    this.#byHandle.delete(call.handle)
  }
}

function lengthOf(end: JsonRpcResponse | UpstreamFailure): number {
  return 'kind' in end ? end.source.length : 0
}
