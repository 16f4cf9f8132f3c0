// The client of a held call: how long it is kept, what it is shown meanwhile, and what it says to that.
// A session is kept on its open request and asked beside it; a client of the stateless generation is asked to
// come again, with a sealed state, a few times. Used by the steps of the call path, one for each relay.

import type { Call, Facts } from '@sluice/policy/calls/call'
import type { JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcRequest } from '@sluice/protocol/message'
import { getMeta, META, type ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { writeResult } from '@sluice/protocol/write-message'
import type { ClientElicitations } from '../session/client-elicitations.ts'
import type { ApprovalRetry, SealedHandles } from '../session/sealed-handles.ts'
import type { RpcReply } from '../shared/error-reply.ts'
import { INPUT_ROUNDS_MAX } from '../shared/limits.ts'
import type { CallPipeline, PendingApproval } from './call-request.ts'
import {
  type ApprovalElicitation,
  clientPerson,
  clientVerdict,
  toElicitation,
} from './elicitation.ts'
import { MAY_WANT_INPUT } from './input-requests.ts'

export interface HeldClientsContext {
  readonly generation: ProtocolGeneration
  readonly pipeline: CallPipeline
  readonly handles: SealedHandles
  readonly questions: ClientElicitations
}

export type ApprovalRetryReply = ApprovalRetry & { readonly response: JsonValue | undefined }

/** These members are shown elsewhere in a question, or an approval is not bound to them. */
const NOT_BESIDE = new Set(['name', 'arguments', '_meta'])

export class ClientApprovalPrompts {
  readonly #context: HeldClientsContext

  constructor(context: HeldClientsContext) {
    this.#context = context
  }

  /** How long its request stays open here. An agent waits by itself; who has something to show to its
   * person gets that first. */
  patienceMs(
    request: JsonRpcRequest,
    facts: Facts,
    pending: PendingApproval,
    leg: ApprovalRetryReply | undefined,
  ): number {
    if (facts.agent !== null) return 0
    const isFirst = this.#context.generation === 'stateless' && leg === undefined
    return isFirst && this.#askOf(request, pending) !== undefined ? 0 : Number.POSITIVE_INFINITY
  }

  /** Asks the client while its request stays open. Returns a function that withdraws the question. */
  ask(request: JsonRpcRequest, facts: Facts, pending: PendingApproval): () => void {
    const { generation, questions } = this.#context
    questions.noteHeld(request.id)
    const ask = generation === 'session' ? this.#askOf(request, pending) : undefined
    if (ask === undefined || facts.agent !== null) return () => {}
    return questions.ask('elicitation/create', { ...ask.params }, request.id, (result) => {
      if (ask.mode === 'form') void this.#decide(pending.id, facts, result)
    })
  }

  /** The answers of a client that returns. */
  async acceptRetry(
    { approval, shown, response }: ApprovalRetryReply,
    facts: Facts,
  ): Promise<void> {
    if (shown === 'form') await this.#decide(approval, facts, response)
  }

  /** Builds the answer that asks the client to return, instead of one that says `pending`; undefined if the
   * client has waited long enough. */
  comeAgain(
    request: JsonRpcRequest,
    call: Call,
    pending: PendingApproval,
    leg: ApprovalRetryReply | undefined,
  ): RpcReply | undefined {
    const { generation, handles, pipeline } = this.#context
    const number = (leg?.number ?? 0) + 1
    const mayCome = MAY_WANT_INPUT.has(request.method) && number <= INPUT_ROUNDS_MAX
    if (generation === 'session' || !mayCome || pipeline.approvals.engine.isClosed) return undefined
    // Answers for the server would be lost on the way.
    const values = request.params?.value ?? {}
    if (values.requestState !== undefined || values.inputResponses !== undefined) return undefined
    const isNew = leg?.approval !== pending.id
    const ask = isNew ? this.#askOf(request, pending) : undefined
    const state = { number, approval: pending.id, shown: ask?.mode ?? null }
    const { method, params, id } = request
    return {
      text: writeResult(id, handles.sealLeg({ ...call, method, params }, state, ask?.params)),
    }
  }

  #askOf(request: JsonRpcRequest, pending: PendingApproval): ApprovalElicitation | undefined {
    const { generation, questions } = this.#context
    const isSession = generation === 'session'
    const can = isSession ? questions.capabilities : getMeta(request.params)[META.capabilities]
    const text = request.params?.text ?? new Map<string, string>()
    const name = request.params?.value.name ?? request.params?.value.uri ?? request.method
    const beside = [...text].filter(([member]) => !NOT_BESIDE.has(member))
    const members = beside.map(([member, value]) => `${JSON.stringify(member)}:${value}`)
    const rest = members.length === 0 ? '' : `{${members.join()}}`
    const shown = { what: String(name), args: text.get('arguments') ?? '', rest }
    return toElicitation(pending, shown, can, isSession)
  }

  /** Unverified; a word that does not count changes nothing. */
  async #decide(id: string, { principal }: Facts, result: JsonValue | undefined): Promise<void> {
    const verdict = clientVerdict(result)
    if (verdict === undefined) return
    const { engine } = this.#context.pipeline.approvals
    await engine.decide(id, { verdict }, clientPerson(principal.id), 'client').catch(() => {})
  }
}
