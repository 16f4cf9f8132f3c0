// Carries out one effect of an agent: a model call, a tool behind the gate, a program. Recorded as begun
// before anything is sent: an effect that was begun and lost is not begun again, unless it only reads. No
// guest code runs here. Called by run-turn.ts.

import { hash } from 'node:crypto'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { type ProgramOrigin, readProgramOwner } from '@sluice/protocol/agent-calls'
import type { Effect, JournalEvent } from '../guest/protocol.ts'
import type { AgentRow, EffectRow } from '../journal/rows.ts'
import { ModelCaller } from '../models/ask-model.ts'
import { BudgetSpent, type Reservation } from '../models/family-budget.ts'
import type { ModelSettings } from '../models/models.ts'
import type { Programs } from '../sandbox/programs.ts'
import type { AgentError } from '../shared/errors.ts'
import { CALLS_SENT_KEPT_MAX } from '../shared/limits.ts'
import { orAborted } from '../shared/or-aborted.ts'
import type { GateCall, GateOutcome, ToolGate } from '../shared/tool-gate.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { codeLimitsOf } from '../transfer/create-config.ts'
import {
  type ProgramCall,
  type ProgramCallError,
  type ProgramCallResult,
  runProgram,
} from './run-program.ts'
import { SuspendedPrograms } from './suspended-programs.ts'
import { whenStored } from './when-stored.ts'

export interface EffectEnvironment {
  readonly steps: Steps
  readonly programs: Programs
  readonly gate: ToolGate
  readonly models: ModelSettings
  now(): number
}

export interface PerformOptions {
  /** Its row, if it was open when the process ended. */
  readonly before: EffectRow | undefined
  readonly signal: AbortSignal
  /** The caller releases it when the result is in the journal. */
  onReserved(reservation: Reservation): void
  /** Text of the model as it comes, if somebody follows. */
  readonly onText?: ((text: string) => void) | undefined
  /** What the agent waits for is committed; an empty text ends the wait. */
  onWaiting(on: string): Promise<void>
}

type OutgoingCall = Pick<GateCall, 'server' | 'tool' | 'args' | 'effectId' | 'signal' | 'program'>

export type EffectResult = { readonly event: JournalEvent; readonly bytes?: Uint8Array | undefined }

/** Bound of the text that says what an agent waits for. */
const WAITING_LENGTH_MAX = 1_000
/** Bound of the text of an error that a program gets. */
const CALL_ERROR_LENGTH_MAX = 10_000
/** Why the outcome of a call that was begun is unknown. */
const LOST = 'the process ended while the call was out'

export class EffectPerformer {
  readonly #environment: EffectEnvironment
  readonly #models: ModelCaller
  readonly #suspended = new SuspendedPrograms()
  /** Calls that this process has sent: a failover of a shared store may lose the steps that say so. */
  readonly #sent = new LruMap<string, true>(CALLS_SENT_KEPT_MAX)

  constructor(environment: EffectEnvironment) {
    this.#environment = environment
    this.#models = new ModelCaller(environment.steps, environment.models)
  }

  /** The conversation of an agent is read from the guest again. */
  forget(agent: string): void {
    this.#models.forget(agent)
  }

  /** The event that the effect results in; a denial or a failure is a result too. */
  async perform(agent: AgentRow, effect: Effect, options: PerformOptions): Promise<EffectResult> {
    const { now } = this.#environment
    const { signal } = options
    const effectId = effect.id
    switch (effect.kind) {
      case 'model':
      case 'compact':
        try {
          const answer = await this.#models.ask(agent, effect, options)
          return { event: { kind: 'model', at: now(), effectId, ...answer } }
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof BudgetSpent)
            return { event: { kind: 'stop', ...error.stop, at: now() } }
          const { code = 'MODEL_FAILED', message } = error as AgentError
          return { event: { kind: 'model_failed', at: now(), effectId, code, message } }
        }
      case 'tool': {
        const outcome = await this.#tool(agent, effect, options)
        return { event: { kind: 'tool', at: now(), effectId, ...toText(outcome) } }
      }
      case 'code':
        return this.#code(agent, effect, options)
    }
  }

  async #tool(
    agent: AgentRow,
    effect: Extract<Effect, { kind: 'tool' }>,
    { before, signal, onWaiting }: PerformOptions,
  ): Promise<GateOutcome> {
    const { steps, now } = this.#environment
    const { id: effectId, server, tool, input } = effect
    const refused = notGranted(agent, server, tool)
    if (refused !== undefined) return refused
    const sent = { server, tool, args: input, effectId, signal }
    const ticket = before?.ticket ?? (before?.startedAt && this.#findHeld(agent, sent))
    if (ticket) return this.#settle(agent, ticket, signal)
    if (before?.startedAt && !(await this.#onlyReads(agent.owner, server, tool)))
      return { kind: 'unknown', reason: LOST }
    // Begun and not sent would be taken for lost: that it was not sent is known here alone.
    const begin = () => steps.beginEffect(agent.id, effectId, now())
    if (!(await whenStored(begin, () => signal.aborted))) throw new Error('it was dropped')
    const outcome = await this.#call(agent, sent)
    if (outcome.kind !== 'held') return outcome
    await whenStored(
      () => steps.holdEffect(agent.id, effectId, outcome.ticket),
      () => signal.aborted,
    )
    await onWaiting(waitingFor(server, tool, outcome.reason))
    return this.#settle(agent, outcome.ticket, signal)
  }

  /** Decided with the labels of the family; new labels are stored before the agent gets the answer. */
  async #call(agent: AgentRow, call: OutgoingCall): Promise<GateOutcome> {
    const labels = await this.#labels(agent, call.signal)
    const gateCall = toGateCall(agent, call)
    const { owner, server, tool, args } = gateCall
    // The journal as it was then: after a reset, effects are numbered from the beginning again. Not the run: a store that
    // has lost the step has lost the run, and another one makes the same call.
    const place = [agent.id, call.effectId, agent.seq]
    const sent = hash('sha256', JSON.stringify([...place, server, tool, args]))
    if (this.#sent.has(sent) && !(await this.#onlyReads(owner, server, tool)))
      return { kind: 'unknown', reason: 'the store has lost the step in which it was sent' }
    this.#sent.set(sent, true)
    const outcome = await this.#environment.gate.call({ ...gateCall, labels })
    // It was not sent.
    if (outcome.kind === 'held' || outcome.kind === 'denied') this.#sent.delete(sent)
    return this.#keepLabels(agent, outcome, call.signal)
  }

  /** A call that was begun may be pending approval: then it was not sent. */
  #findHeld(agent: AgentRow, call: OutgoingCall): string | undefined {
    const isInRun = agent.summary.runId !== null
    return isInRun ? this.#environment.gate.findHeld?.(toGateCall(agent, call)) : undefined
  }

  async #labels({ id }: AgentRow, signal: AbortSignal): Promise<readonly string[]> {
    const { steps, now } = this.#environment
    const read = () => steps.standing(null, id, now())
    return (await whenStored(read, () => signal.aborted)).family.labels
  }

  async #keepLabels(
    agent: AgentRow,
    outcome: GateOutcome,
    signal: AbortSignal,
  ): Promise<GateOutcome> {
    const { saw = [] } = outcome
    if (saw.length === 0) return outcome
    const { steps, now } = this.#environment
    const known = await this.#labels(agent, signal)
    const add = () => steps.addLabels(null, agent.id, saw, now())
    if (saw.some((label) => !known.includes(label))) await whenStored(add, () => signal.aborted)
    return outcome
  }

  async #settle(
    agent: AgentRow,
    ticket: string,
    signal: AbortSignal,
    program?: ProgramOrigin,
  ): Promise<GateOutcome> {
    const labels = () => this.#labels(agent, signal)
    const settled = this.#environment.gate.settle(ticket, signal, labels, program)
    // An approval may take days: a cancelled effect does not wait for it.
    const outcome = await this.#keepLabels(agent, await orAborted(settled, signal), signal)
    if (outcome.kind === 'held') return { kind: 'unknown', reason: 'it was held a second time' }
    return outcome
  }

  async #code(
    agent: AgentRow,
    { id: effectId, code }: Extract<Effect, { kind: 'code' }>,
    options: PerformOptions,
  ): Promise<EffectResult> {
    const { steps, programs, now } = this.#environment
    const run = isClients(agent) && (await steps.run(null, agent.id, agent.summary.runId))
    const waits = new Map<string, string>()
    const callTool = (call: ProgramCall) => {
      const { hasReceived } = call
      const program = run === false ? undefined : { parent: run?.request ?? '', code, hasReceived }
      return this.#callForProgram(agent, { ...call, program }, waits, options)
    }
    const { id, owner, summary } = agent
    const place = { programs, steps, resting: this.#suspended }
    const limits = codeLimitsOf(agent)
    const about = { effectId, code, hasFiles: summary.fileCount > 0 }
    const setting = { ...place, limits, agent: id, owner, ...about, callTool }
    const { bytes, ...outcome } = await runProgram(setting, options.signal)
    return { event: { kind: 'code', at: now(), effectId, ...outcome }, bytes }
  }

  /** `waits`: which approvals the calls of this program wait for, by call. */
  async #callForProgram(
    agent: AgentRow,
    call: ProgramCall & Pick<OutgoingCall, 'program'>,
    waits: Map<string, string>,
    { signal, onWaiting }: PerformOptions,
  ): Promise<ProgramCallResult> {
    const { server, tool, input, callId, again, held, over, program } = call
    const sent = { server, tool, args: input, effectId: callId, signal, program }
    const ticket = call.ticket ?? (again ? this.#findHeld(agent, sent) : undefined)
    const refused = notGranted(agent, server, tool)
    if (refused !== undefined) return { error: toCallError(refused) }
    if (ticket === undefined && again && !(await this.#onlyReads(agent.owner, server, tool)))
      return { error: toCallError({ kind: 'unknown', reason: LOST }) }
    // What a client's program may call, the limits of the policy say.
    const spent =
      again || ticket !== undefined || program !== undefined
        ? null
        : await this.#environment.steps.chargeCall(agent.id, this.#environment.now())
    if (spent !== null)
      return { error: { code: 'AGENT_LIMIT', message: `no call is left (${spent.detail})` } }
    let outcome: GateOutcome =
      ticket === undefined
        ? await this.#call(agent, sent)
        : { kind: 'held', ticket, reason: 'it was held before the process ended' }
    if (outcome.kind === 'held') {
      if (call.ticket === undefined) await held(outcome.ticket)
      waits.set(callId, waitingFor(server, tool, outcome.reason))
      if (call.ticket === undefined) await onWaiting(waits.get(callId) ?? '')
      outcome = await this.#settle(agent, outcome.ticket, over, program)
      waits.delete(callId)
      const [another = ''] = waits.values()
      if (!signal.aborted) await onWaiting(another)
    }
    if (outcome.kind === 'result' && !outcome.isError)
      return { value: outcome.structured ?? outcome.text }
    return { error: toCallError(outcome) }
  }

  async #onlyReads(owner: string, server: string, tool: string): Promise<boolean> {
    const tools = await this.#environment.gate.list(owner).catch(() => [])
    const found = tools.find((each) => each.server === server && each.name === tool)
    return found?.category === 'Read'
  }
}

/** The call of an agent as the gate sees it. Effects are numbered from the beginning again after a reset, runs are not. */
function toGateCall(agent: AgentRow, call: OutgoingCall): GateCall {
  const { id, owner, depth, template, family, summary } = agent
  const facts = { id, owner, template: template ?? '', depth, turn: summary.turnCount }
  const from = isClients(agent)
    ? { agent: null, family: String(agent.asked.session) }
    : { agent: facts, family: String(family) }
  const effectId = [id, ...(summary.runId === null ? [] : [summary.runId]), call.effectId].join('.')
  return { ...call, owner, ...from, effectId }
}

/** It runs the programs of a client, whose own calls they make. */
function isClients({ owner }: AgentRow): boolean {
  return readProgramOwner(owner) !== undefined
}

/** An imported image may believe that it has more tools than it was given. */
function notGranted(agent: AgentRow, server: string, tool: string): GateOutcome | undefined {
  if (isClients(agent) || agent.grants.includes(`${server}/${tool}`)) return undefined
  const reason = `the agent was not given \`${server}/${tool}\``
  return { kind: 'denied', code: 'TOOL_UNKNOWN', reason }
}

function waitingFor(server: string, tool: string, reason: string): string {
  return `approval of ${server}/${tool}: ${reason}`.slice(0, WAITING_LENGTH_MAX)
}

/** What the model reads. A denial is a result that it can act on. */
function toText(outcome: GateOutcome): { content: string; isError: boolean } {
  if (outcome.kind === 'result') return { content: outcome.text, isError: outcome.isError }
  const { code, message } = describeFailure(outcome)
  return toFailedContent(code, message)
}

/** What a program catches, of a call that has no value. */
function toCallError(outcome: GateOutcome): ProgramCallError {
  const { code, message } = describeFailure(outcome)
  return { code, message: message.slice(0, CALL_ERROR_LENGTH_MAX) }
}

function describeFailure(outcome: GateOutcome): ProgramCallError {
  switch (outcome.kind) {
    case 'result':
      return { code: 'TOOL_FAILED', message: outcome.text }
    case 'denied':
      return { code: outcome.code, message: outcome.reason }
    case 'held':
      return { code: 'APPROVAL_REQUIRED', message: outcome.reason }
    case 'unknown':
      return {
        code: 'OUTCOME_UNKNOWN',
        message: `${outcome.reason}: it may have happened; it is not sent again`,
      }
  }
}

/** An error as the content of a tool result. */
export function toFailedContent(
  code: string,
  message: string,
): { content: string; isError: boolean } {
  return { content: JSON.stringify({ error: { code, message } }), isError: true }
}
