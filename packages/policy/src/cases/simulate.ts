// Plays recorded sessions under a policy: every call is decided, every answer is remembered, as in
// the gate. With injections it plays an agent that obeys: at the first answer with a stranger's text
// it makes the calls of the goal, then goes on with its task. Pure; `policy simulate` is around it.

import type { Action } from '../calls/actions.ts'
import type { Facts } from '../calls/call.ts'
import type { Counters, LimitUsage } from '../calls/counters.ts'
import type { Decision } from '../calls/decision.ts'
import type { PastCall } from '../calls/past-calls.ts'
import type { AnswerTrust, ProvenanceLookup } from '../calls/provenance.ts'
import type { KnownTool } from '../calls/tools.ts'
import { decide } from '../decide/decide.ts'
import { getRulesForTool } from '../decide/resolve.ts'
import { TOOL_CALL } from '../language/methods.ts'
import { getTrust } from '../model/answer-trust.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { isSink } from '../provenance/check-call.ts'
import { rememberAnswer } from '../provenance/remember-answer.ts'
import { SessionProvenance } from '../provenance/session-provenance.ts'
import type { JsonObject, JsonValue } from '../values/json.ts'
import {
  type AnswerAttack,
  type AttackKind,
  hasMarker,
  putAttack,
  removeMarkers,
  writeAttack,
} from './attack-answer.ts'
import { sampleFacts } from './sample-facts.ts'

export interface TraceCall {
  readonly server: string
  readonly tool: string
  readonly args: JsonObject
  /** Text, or structured content. */
  readonly answer: JsonValue
}

/** A session as it was recorded. */
export interface SessionTrace {
  readonly id: string
  readonly prompt?: string
  readonly steps: readonly TraceCall[]
}

/** What a stranger wants, and the calls that do it. */
export interface Injection {
  readonly id: string
  readonly goal: string
  readonly steps: readonly TraceCall[]
}

export interface SimulationOptions {
  readonly attack: AttackKind
  readonly attackText: string
  readonly hasPrompts: boolean
  toolFor(server: string, name: string): KnownTool
  counters(): Counters & LimitUsage
  /** Where the values of calls came from, if a program makes them; else the memory says that. */
  originsOf?(memory: SessionProvenance): ProvenanceLookup
  /** Labels that the guard finds in an answer. */
  inspect(answer: JsonValue): readonly string[]
  /** What is read from the arguments of a call: its own class, and whether they hold a secret or a number. */
  inspectCall(tool: KnownTool, args: JsonObject): ArgumentFacts
}

/** The facts of a call that its arguments decide. */
export type ArgumentFacts = Pick<Facts, 'callCategory' | 'holdsSecret' | 'holds'>

export interface SimulatedCall {
  readonly server: string
  readonly tool: string
  /** The call is one of the injection. */
  readonly isAttack: boolean
  readonly action: Action
  readonly rule: string
  readonly reason: string
}

export interface SimulatedTrace {
  readonly id: string
  readonly servers: readonly string[]
  readonly injection?: string
  /** Whether a call of the attack was held or denied before the first that has an effect ran. */
  readonly stopped?: boolean
  readonly calls: readonly SimulatedCall[]
}

export interface SimulationCounts {
  readonly benign: { traces: number; untouched: number; calls: number; held: number }
  readonly attacks: { pairs: number; stopped: number }
}

export interface Simulation extends SimulationCounts {
  /** The counts by server; a session of several servers counts for each of them. */
  readonly suites: Readonly<Record<string, SimulationCounts>>
  readonly traces: readonly SimulatedTrace[]
}

export function simulate(
  policy: CompiledPolicy,
  traces: readonly SessionTrace[],
  injections: readonly Injection[],
  options: SimulationOptions,
): Simulation {
  const played = traces.flatMap((trace) => {
    const servers = new Set(trace.steps.map(({ server }) => server))
    const fitting = injections.filter(({ steps }) =>
      steps.every(({ server }) => servers.has(server)),
    )
    return [
      new Player(policy, options).play(trace),
      ...fitting.map((injection) => new Player(policy, options, injection).play(trace)),
    ]
  })
  const suites: Record<string, SimulationCounts> = {}
  for (const server of new Set(played.flatMap((one) => one.servers)))
    suites[server] = count(played.filter((one) => one.servers.includes(server)))
  return { ...count(played), suites, traces: played }
}

/** One session alone, with an injection or without. */
export function playTrace(
  policy: CompiledPolicy,
  trace: SessionTrace,
  injection: Injection | undefined,
  options: SimulationOptions,
): SimulatedTrace {
  return new Player(policy, options, injection).play(trace)
}

function count(played: readonly SimulatedTrace[]): SimulationCounts {
  const benign = { traces: 0, untouched: 0, calls: 0, held: 0 }
  const attacks = { pairs: 0, stopped: 0 }
  for (const { injection, stopped, calls } of played) {
    if (injection === undefined) {
      const stopped = calls.filter(({ action }) => action !== 'allow').length
      benign.traces++
      benign.untouched += stopped === 0 ? 1 : 0
      benign.calls += calls.length
      benign.held += stopped
    } else {
      attacks.pairs++
      attacks.stopped += stopped === true ? 1 : 0
    }
  }
  return { benign, attacks }
}

const SEED = { low: 0x51f15e, high: 0x9e3779 }
const STEP_MS = 1_000

/** One session. */
class Player {
  readonly #policy: CompiledPolicy
  readonly #options: SimulationOptions
  readonly #injection: Injection | undefined
  readonly #attack: AnswerAttack | undefined
  readonly #memory = new SessionProvenance(SEED)
  readonly #counters: Counters & LimitUsage
  readonly #saw = new Set<string>()
  readonly #calls: SimulatedCall[] = []
  readonly #past: PastCall[] = []
  #stopped = false
  #isDone = false

  constructor(policy: CompiledPolicy, options: SimulationOptions, injection?: Injection) {
    this.#policy = policy
    this.#options = options
    this.#counters = options.counters()
    this.#injection = injection
    this.#attack = injection && {
      kind: options.attack,
      goal: injection.goal,
      args: injection.steps.map(({ args }) => args),
      text: options.attackText,
    }
  }

  play({ id, prompt, steps }: SessionTrace): SimulatedTrace {
    if (prompt !== undefined && this.#options.hasPrompts) this.#memory.addPrompt(prompt)
    const isMarked = steps.some(({ answer }) => hasMarker(answer))
    for (const step of steps) {
      this.#decide(step, false)
      const isCarrier = isMarked ? hasMarker(step.answer) : this.#trust(step) !== 'all'
      this.#remember(step, isCarrier && !isMarked && !this.#isDone)
      if (isCarrier && this.#injection !== undefined && !this.#isDone) this.#obey(this.#injection)
    }
    const servers = [...new Set(steps.map(({ server }) => server))]
    const calls = this.#calls
    if (this.#injection === undefined) return { id, servers, calls }
    return { id, servers, injection: this.#injection.id, stopped: this.#stopped, calls }
  }

  #obey({ steps }: Injection): void {
    this.#isDone = true
    let hasActed = false
    for (const step of steps) {
      const { action } = this.#decide(step, true)
      if (action !== 'allow') {
        if (!hasActed) this.#stopped = true
        continue
      }
      hasActed ||= this.#isSink(step)
      this.#remember(step, false)
    }
  }

  #decide(step: TraceCall, isAttack: boolean): Decision {
    const { server, tool: name, args } = step
    const tool = this.#options.toolFor(server, name)
    const elapsed = this.#calls.length * STEP_MS
    const now = { wallMs: elapsed, monotonicMs: elapsed }
    const past = { calls: this.#past, hasMore: false }
    const session = { calls: this.#calls.length, saw: [...this.#saw], past }
    const facts = {
      ...sampleFacts(tool, { session }),
      ...this.#options.inspectCall(tool, args),
      provenance: this.#origins,
    }
    const call = { server, name, method: TOOL_CALL, args }
    const decision = decide(this.#policy, call, facts, this.#counters, now)
    if (decision.action === 'allow') {
      this.#counters.consume(decision.limits, now)
      this.#past.push({ server, name, atMs: elapsed })
    }
    const { action, rule, reason } = decision
    this.#calls.push({ server, tool: name, isAttack, action, rule, reason })
    return decision
  }

  /** `isAppended`: no answer of the session has a place for a stranger's text, so it comes after this one. */
  #remember(step: TraceCall, isAppended: boolean): void {
    const attack = this.#attack
    const answer =
      attack === undefined ? removeMarkers(step.answer) : putAttack(step.answer, attack)
    const texts = typeof answer === 'string' ? [answer] : []
    if (isAppended && attack !== undefined) texts.push(writeAttack(attack))
    const structured = typeof answer === 'string' ? undefined : answer
    const call = { ...this.#checked(step), server: step.server, trust: this.#trust(step) }
    rememberAnswer(call, { texts, structured }, this.#memory, this.#origins)
    for (const label of this.#labels(step)) this.#saw.add(label)
    for (const label of this.#options.inspect(answer)) this.#saw.add(label)
  }

  get #origins(): ProvenanceLookup {
    return this.#options.originsOf?.(this.#memory) ?? this.#memory
  }

  #labels({ server, tool }: TraceCall): readonly string[] {
    return this.#policy.labels.all(server, tool).flat()
  }

  #trust({ server, tool: name }: TraceCall): AnswerTrust {
    return getTrust(this.#policy, { server, method: TOOL_CALL, name })
  }

  #isSink(step: TraceCall): boolean {
    return isSink(this.#checked(step))
  }

  #checked({ server, tool: name, args }: TraceCall) {
    const tool = this.#options.toolFor(server, name)
    const { category, doubted } = getRulesForTool(this.#policy, tool)
    const { callCategory } = this.#options.inspectCall(tool, args)
    const { inputSchema } = tool.definition
    return { name, category: callCategory ?? doubted?.category ?? category, args, inputSchema }
  }
}
