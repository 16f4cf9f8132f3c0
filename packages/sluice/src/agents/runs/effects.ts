// Carries out what agents ask for: a model's turn, a tool behind the gate, a program. An effect is in
// the journal before it is begun and its result before the agent sees it; what was begun and lost is
// not begun again, unless it only reads. Nothing of a guest runs here. Owned by the service.

import type { Effect, GrantedTool, JournalEvent } from '../../guest/protocol.ts'
import type { Programs } from '../../sandbox/programs.ts'
import type { AgentRow, EffectRow } from '../journal/rows.ts'
import { type AskOptions, ModelCaller } from '../models/ask-model.ts'
import { BudgetSpent, type Reservation } from '../models/family-budget.ts'
import type { ModelSettings } from '../models/models.ts'
import type { AgentError } from '../shared/errors.ts'
import type { GateCall, GateOutcome, ToolGate } from '../shared/tool-gate.ts'
import type { Steps } from '../step-thread/step-client.ts'
import type { AppliedStep } from '../steps/stepper.ts'
import { codeLimitsOf } from '../transfer/create-config.ts'
import { type ProgramCall, type ProgramCallResult, runProgram } from './run-program.ts'
import { SuspendedPrograms } from './suspended-programs.ts'

export interface EffectSetting {
  readonly steps: Steps
  readonly programs: Programs
  readonly gate: ToolGate
  readonly models: ModelSettings
  /** Commits the result; the effects it leads to come back to `carryOut`. */
  apply(agent: AgentRow, event: JournalEvent, bytes?: Uint8Array): Promise<AppliedStep>
  now(): number
  warn(message: string): void
}

type OutgoingCall = Pick<GateCall, 'server' | 'tool' | 'args' | 'effectId' | 'signal'>

type EffectResult = { readonly event: JournalEvent; readonly bytes?: Uint8Array | undefined }

/** The agent went on, or away, without the result. */
const TOO_LATE: ReadonlySet<string> = new Set(['AGENT_EVENT', 'AGENT_NOT_FOUND', 'AGENT_STOPPED'])

/** Of what an agent is shown to wait for. */
const WAITING_LENGTH_MAX = 1_000

export class Effects {
  readonly #setting: EffectSetting
  readonly #models: ModelCaller
  readonly #resting = new SuspendedPrograms()
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  /** Those with a result that is not in the journal yet. */
  readonly #settling = new Set<string>()
  #closed = false

  constructor(setting: EffectSetting) {
    this.#setting = setting
    this.#models = new ModelCaller(setting.steps, setting.models)
  }

  get count(): number {
    return this.#running.size
  }

  carryOut(agent: AgentRow, effects: readonly Effect[]): void {
    for (const effect of effects) this.#begin(agent, effect, undefined)
  }

  /** What was open when the process ended. */
  async recover(row: EffectRow): Promise<void> {
    const { agent, held } = await this.#setting.steps.standing(null, row.agent, this.#setting.now())
    if (held !== null || agent.pausedAt !== null) return
    this.#begin(agent, JSON.parse(row.body) as Effect, row)
  }

  /** It is being carried out, or its result is being committed. */
  isUnderWay({ agent, id }: Pick<EffectRow, 'agent' | 'id'>): boolean {
    return this.#running.has(`${agent} ${id}`) || this.#settling.has(`${agent} ${id}`)
  }

  /** Nobody needs these any more. */
  drop(agent: string, effectIds: readonly string[]): void {
    for (const id of effectIds) this.#running.get(`${agent} ${id}`)?.abort.abort()
  }

  forget(agent: string): void {
    this.#models.forget(agent)
    for (const [name, { abort }] of this.#running) if (name.startsWith(`${agent} `)) abort.abort()
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { abort } of this.#running.values()) abort.abort()
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done))
  }

  #begin(agent: AgentRow, effect: Effect, before: EffectRow | undefined): void {
    const name = `${agent.id} ${effect.id}`
    if (this.#closed || this.#running.has(name)) return
    const abort = new AbortController()
    const done = this.#run(agent, effect, before, abort.signal)
      .catch((error: unknown) => {
        // A result that came too late, or an agent that is gone.
        if (!abort.signal.aborted && !this.#closed)
          this.#setting.warn(`effect ${name} ended without a result: ${(error as Error).message}`)
      })
      .finally(() => this.#running.delete(name))
    this.#running.set(name, { abort, done })
  }

  async #run(
    agent: AgentRow,
    effect: Effect,
    before: EffectRow | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const name = `${agent.id} ${effect.id}`
    let reservation: Reservation | undefined
    const onReserved = (made: Reservation): void => {
      reservation = made
    }
    try {
      const { event, bytes } = await this.#result(agent, effect, before, { signal, onReserved })
      if (signal.aborted) return
      this.#running.delete(name)
      this.#settling.add(name)
      await this.#apply(agent, event, bytes)
    } finally {
      this.#settling.delete(name)
      // Not before what it used is in the journal.
      await reservation?.release()
    }
  }

  async #apply(agent: AgentRow, event: JournalEvent, bytes: Uint8Array | undefined): Promise<void> {
    try {
      await this.#setting.apply(agent, event, bytes)
    } catch (error) {
      // A result that the agent cannot take must not leave it waiting for ever.
      const { code, message } = error as AgentError
      const instead = TOO_LATE.has(code) ? undefined : unusable(event, message)
      if (instead === undefined) throw error
      await this.#setting.apply(agent, instead)
    }
  }

  async #result(
    agent: AgentRow,
    effect: Effect,
    before: EffectRow | undefined,
    options: AskOptions,
  ): Promise<EffectResult> {
    const { now } = this.#setting
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
        const outcome = await this.#tool(agent, effect, before, signal)
        return { event: { kind: 'tool', at: now(), effectId, ...toText(outcome) } }
      }
      case 'code':
        return this.#code(agent, effect, signal)
    }
  }

  async #tool(
    agent: AgentRow,
    effect: Extract<Effect, { kind: 'tool' }>,
    before: EffectRow | undefined,
    signal: AbortSignal,
  ): Promise<GateOutcome> {
    const { steps, now } = this.#setting
    const { id: effectId, server, tool, input } = effect
    const refused = notGranted(agent, server, tool)
    if (refused !== undefined) return refused
    if (before?.ticket) return this.#settle(agent, before.ticket, signal)
    if (before?.startedAt && !(await this.#onlyReads(agent.owner, server, tool)))
      return { kind: 'unknown', reason: 'the process ended while the call was out' }
    if (!(await steps.beginEffect(agent.id, effectId, now()))) throw new Error('it was dropped')
    const outcome = await this.#call(agent, { server, tool, args: input, effectId, signal })
    if (outcome.kind !== 'held') return outcome
    await steps.holdEffect(agent.id, effectId, outcome.ticket)
    await this.#waits(agent, effectId, waitingFor(server, tool, outcome.reason))
    return this.#settle(agent, outcome.ticket, signal)
  }

  /** Judged with all that the family has seen by now; what it sees is kept before the agent has it. */
  async #call(agent: AgentRow, call: OutgoingCall): Promise<GateOutcome> {
    const { id, owner, depth, template, family, summary } = agent
    const facts = { id, owner, template: template ?? '', depth, turn: summary.turnCount }
    const effectId = `${id}.${call.effectId}`
    const labels = await this.#labels(agent)
    const about = { owner, agent: facts, family: String(family), labels }
    return this.#keepLabels(agent, await this.#setting.gate.call({ ...call, ...about, effectId }))
  }

  async #labels({ id }: AgentRow): Promise<readonly string[]> {
    return (await this.#setting.steps.standing(null, id, this.#setting.now())).family.labels
  }

  async #keepLabels(agent: AgentRow, outcome: GateOutcome): Promise<GateOutcome> {
    const { saw = [] } = outcome
    const known = await this.#labels(agent)
    if (saw.some((label) => !known.includes(label)))
      await this.#setting.steps.addLabels(null, agent.id, saw, this.#setting.now())
    return outcome
  }

  async #waits(agent: AgentRow, effectId: string, on: string): Promise<void> {
    await this.#setting.apply(agent, { kind: 'waiting', at: this.#setting.now(), effectId, on })
  }

  async #settle(agent: AgentRow, ticket: string, signal: AbortSignal): Promise<GateOutcome> {
    const settled = this.#setting.gate.settle(ticket, signal, () => this.#labels(agent))
    const outcome = await this.#keepLabels(agent, await orAborted(settled, signal))
    if (outcome.kind === 'held') return { kind: 'unknown', reason: 'it was held a second time' }
    return outcome
  }

  async #code(
    agent: AgentRow,
    { id: effectId, code }: Extract<Effect, { kind: 'code' }>,
    signal: AbortSignal,
  ): Promise<EffectResult> {
    const { steps, programs, now } = this.#setting
    const { value } = await steps.ask(null, agent.id, { ask: 'portable' }, now())
    const { tools } = (value as { config: { tools: readonly GrantedTool[] } }).config
    const waits = new Map<string, string>()
    const callTool = (call: ProgramCall) =>
      this.#callForProgram(agent, effectId, call, waits, signal)
    const { id, owner } = agent
    const place = { programs, steps, resting: this.#resting }
    const limits = codeLimitsOf(agent)
    const setting = { ...place, limits, agent: id, owner, effectId, code, tools, callTool }
    const { bytes, ...outcome } = await runProgram(setting, signal)
    return { event: { kind: 'code', at: now(), effectId, ...outcome }, bytes }
  }

  /** `waits` is what the calls of this program are held for. */
  async #callForProgram(
    agent: AgentRow,
    effectId: string,
    { tool: { server, tool }, input, callId, again, ticket, held, over }: ProgramCall,
    waits: Map<string, string>,
    signal: AbortSignal,
  ): Promise<ProgramCallResult> {
    const refused = notGranted(agent, server, tool)
    if (refused !== undefined) return { error: toText(refused).content }
    if (ticket === undefined && again && !(await this.#onlyReads(agent.owner, server, tool)))
      return { error: 'OUTCOME_UNKNOWN: the process ended while the call was out' }
    const spent =
      again || ticket !== undefined
        ? null
        : await this.#setting.steps.chargeCall(agent.id, this.#setting.now())
    if (spent !== null) return { error: `AGENT_LIMIT: no call is left (${spent.detail})` }
    let outcome: GateOutcome =
      ticket === undefined
        ? await this.#call(agent, { server, tool, args: input, effectId: callId, signal })
        : { kind: 'held', ticket, reason: 'it was held before the process ended' }
    if (outcome.kind === 'held') {
      if (ticket === undefined) await held(outcome.ticket)
      waits.set(callId, waitingFor(server, tool, outcome.reason))
      if (ticket === undefined) await this.#waits(agent, effectId, waits.get(callId) ?? '')
      outcome = await this.#settle(agent, outcome.ticket, over)
      waits.delete(callId)
      const [another = ''] = waits.values()
      if (!signal.aborted) await this.#waits(agent, effectId, another)
    }
    if (outcome.kind === 'result' && !outcome.isError)
      return { value: outcome.structured ?? outcome.text }
    return { error: toText(outcome).content.slice(0, 10_000) }
  }

  async #onlyReads(owner: string, server: string, tool: string): Promise<boolean> {
    const tools = await this.#setting.gate.list(owner).catch(() => [])
    const found = tools.find((each) => each.server === server && each.name === tool)
    return found?.category === 'Read'
  }
}

/** A verdict may take days; who no longer waits for it is not kept by it. */
function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    promise.then(resolve, reject)
  })
}

/** An image from elsewhere may believe it has more than it was given. */
function notGranted(agent: AgentRow, server: string, tool: string): GateOutcome | undefined {
  if (agent.grants.includes(`${server}/${tool}`)) return undefined
  const reason = `the agent was not given \`${server}/${tool}\``
  return { kind: 'denied', code: 'TOOL_UNKNOWN', reason }
}

function waitingFor(server: string, tool: string, reason: string): string {
  return `approval of ${server}/${tool}: ${reason}`.slice(0, WAITING_LENGTH_MAX)
}

/** What is said in place of a result that made the agent fail inside. */
function unusable(event: JournalEvent, message: string): JournalEvent | undefined {
  const { at } = event
  switch (event.kind) {
    case 'model':
      return { kind: 'model_failed', at, effectId: event.effectId, code: 'AGENT_FAULT', message }
    case 'tool':
      return { kind: 'tool', at, effectId: event.effectId, ...failed('AGENT_FAULT', message) }
    case 'code': {
      const nothing = { write: [], remove: [] }
      return {
        kind: 'code',
        at,
        effectId: event.effectId,
        ...failed('AGENT_FAULT', message),
        ...nothing,
      }
    }
    default:
      return undefined
  }
}

/** What the model gets to read. A denial is a result it can act on. */
function toText(outcome: GateOutcome): { content: string; isError: boolean } {
  switch (outcome.kind) {
    case 'result':
      return { content: outcome.text, isError: outcome.isError }
    case 'denied':
      return failed(outcome.code, outcome.reason)
    case 'held':
      return failed('APPROVAL_REQUIRED', outcome.reason)
    case 'unknown':
      return failed(
        'OUTCOME_UNKNOWN',
        `${outcome.reason}: it may have happened; it is not sent again`,
      )
  }
}

function failed(code: string, message: string): { content: string; isError: boolean } {
  return { content: JSON.stringify({ error: { code, message } }), isError: true }
}
