// Requests of either side, from being read to being carried over or refused. What goes wrong on the
// way is an answer that says so; only an admitted request leaves.

import type { Facts } from '../core/call.ts'
import { TOOL_CALL } from '../policy/methods.ts'
import type { Request } from '../wire/message.ts'
import { type LocalCode, RPC, rpcCodeOf } from '../wire/rpc-codes.ts'
import { writeError } from '../wire/write-message.ts'
import { admit, type Spine } from './admit.ts'
import { frozenAnswer, refusalAnswer, refusalText, unknownAnswer } from './answers.ts'
import { callOf, objectionTo, passageFromClient, passageFromServer } from './call-of.ts'
import type { Crossing } from './crossing.ts'
import { SERVER_REQUESTS_MAX, SESSION_REQUESTS_MAX } from './limits.ts'
import type { Related } from './link.ts'
import type { Frozen } from './operate/freezes.ts'
import type { OwnTasks } from './own-tasks.ts'
import type { SeenLists } from './seen-lists.ts'

export interface JudgeContext {
  readonly spine: Spine
  readonly server: string
  /** Who calls, and in which session; asked anew for every call. */
  readonly facts: () => Omit<Facts, 'tool'>
  /** What of this conversation is frozen. */
  readonly frozen: () => Frozen | undefined
  /** Whether this caller is told the rule and what is left. */
  readonly explain: () => boolean
  readonly lists: SeenLists
  readonly tasks: OwnTasks
  /** A call of the client's was judged; and one was admitted. */
  readonly onAsked: () => void
  readonly onCall: () => void
}

export class RequestJudge {
  readonly #context: JudgeContext

  constructor(context: JudgeContext) {
    this.#context = context
  }

  async fromClient(request: Request, crossing: Crossing): Promise<void> {
    const { id, method } = request
    crossing.begin(id)
    if (crossing.size > SESSION_REQUESTS_MAX) {
      const text = `more than ${SESSION_REQUESTS_MAX} requests are open in this session`
      return crossing.refuse(id, writeError(id, RPC.internal, text))
    }
    const passage = passageFromClient(method)
    const frozen = this.#context.frozen()
    // Calls are refused by the spine, which also puts them on record.
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, frozenAnswer(id, frozen, false))
    if (passage === 'plumbing') return crossing.carry(request, '')
    if (passage === 'unknown') {
      const text = `\`${method}\` is not a method the gate knows`
      return crossing.refuse(id, writeError(id, RPC.methodNotFound, text))
    }
    if (passage === 'task') return this.#aboutTask(request, crossing)
    try {
      await this.#clientCall(request, crossing)
    } catch (error) {
      const text = `the call was not made: ${(error as Error).message}`
      crossing.refuse(id, writeError(id, RPC.internal, text))
    }
  }

  #aboutTask(request: Request, crossing: Crossing): void {
    const { id, method, params } = request
    if (method === 'tasks/list' || this.#context.tasks.isAbout(params?.value))
      return crossing.carry(request, '')
    crossing.refuse(id, unknownAnswer(id, method, ''))
  }

  /** What a server asks of the client, or of the model and the user behind it. */
  async fromServer(request: Request, crossing: Crossing, related: Related): Promise<void> {
    const { id, method } = request
    const refuse = (code: number, text: string) => crossing.refuse(id, writeError(id, code, text))
    crossing.begin(id)
    const passage = passageFromServer(method)
    if (passage === 'unknown')
      return refuse(RPC.methodNotFound, `\`${method}\` does not pass the gate`)
    if (crossing.size > SERVER_REQUESTS_MAX)
      return refuse(RPC.internal, `more than ${SERVER_REQUESTS_MAX} requests are open`)
    const frozen = this.#context.frozen()
    if (frozen !== undefined && passage !== 'judged')
      return crossing.refuse(id, frozenAnswer(id, frozen, false))
    if (passage === 'plumbing') return crossing.carry(request, '', undefined, related)
    try {
      await this.#serverCall(request, crossing, related)
    } catch (error) {
      refuse(RPC.internal, `the gate could not pass it on: ${(error as Error).message}`)
    }
  }

  async #clientCall(request: Request, crossing: Crossing): Promise<void> {
    const { id, method, params } = request
    const { explain, frozen, lists, onAsked, onCall, server, spine } = this.#context
    const call = callOf(server, request)
    const asksForTool = method === TOOL_CALL && frozen() === undefined
    const tool = asksForTool ? await lists.find(call.name) : undefined
    const facts: Facts = { ...this.#context.facts(), ...(tool === undefined ? {} : { tool }) }
    onAsked()
    const objection = objectionTo(call.args, tool)
    const argsText = params?.text.get('arguments')
    const verdict = await admit(spine, { call, facts, argsText, objection })
    if (verdict.admission === undefined)
      return crossing.refuse(
        id,
        refusalAnswer(request, call.name, { ...verdict, explain: explain() }, tool),
      )
    onCall()
    crossing.carry(request, call.name, verdict.admission)
  }

  async #serverCall(request: Request, crossing: Crossing, related: Related): Promise<void> {
    const { facts, server, spine } = this.#context
    const call = callOf(server, request)
    const verdict = await admit(spine, { call, facts: facts(), argsText: undefined })
    if (verdict.admission !== undefined)
      return crossing.carry(request, call.name, verdict.admission, related)
    const { decision } = verdict
    const code = rpcCodeOf(decision.code as LocalCode)
    crossing.refuse(request.id, writeError(request.id, code, refusalText(decision)))
  }
}
