// Runs policy cases through the engine, each with fresh counters, and reports where the decision
// differs from the expected one. The traces are kept for coverage.

import type { Counters, LimitUsage } from '../calls/counters.ts'
import type { Decision } from '../calls/decision.ts'
import type { KnownTool } from '../calls/tools.ts'
import { decide, isVisible } from '../decide/decide.ts'
import type { TraceStep } from '../decide/trace.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Expectation, PolicyCase } from './cases.ts'
import { sampleFacts, withPast } from './sample-facts.ts'

/** What running a case of a policy gave. */
export interface CaseResult {
  readonly case: PolicyCase
  /** The decision is the expected one: there are no differences. */
  readonly passed: boolean
  /** One line for each expectation that fails. */
  readonly differences: readonly string[]
  /** The decision on the last of the repeated calls. */
  readonly decision: Decision
  /** How each of the repeated calls was decided, for coverage. */
  readonly traces: readonly (readonly TraceStep[])[]
}

/** What a case runs with. */
export interface CaseTools {
  toolFor(server: string, name: string): KnownTool
  /** In memory: a case does no I/O. */
  counters(): Counters & LimitUsage
}

/** Calls what the case says, as often as it says, and compares the last decision with the expected one. */
export function runCase(policy: CompiledPolicy, one: PolicyCase, tools: CaseTools): CaseResult {
  const call = { server: one.server, name: one.tool, method: one.method, args: one.args }
  const tool = one.method === TOOL_CALL ? tools.toolFor(one.server, one.tool) : undefined
  const { facts, remember } = withPast(sampleFacts(tool, one.facts))
  const counters = tools.counters()
  const traces: TraceStep[][] = []
  let decision: Decision | undefined
  let now = { wallMs: one.atMs, monotonicMs: 0 }
  for (let round = 0; round < one.repeat; round++) {
    now = { wallMs: one.atMs + round * one.everyMs, monotonicMs: round * one.everyMs }
    const trace: TraceStep[] = []
    decision = decide(policy, call, facts, counters, now, trace)
    traces.push(trace)
    if (decision.action !== 'allow') continue
    counters.consume(decision.limits, now)
    remember(call, now)
  }
  const last = decision as Decision
  const shown = one.expect.visible === undefined ? undefined : isVisible(policy, call, facts, now)
  const differences = compare(one.expect, last, shown)
  return { case: one, passed: differences.length === 0, differences, decision: last, traces }
}

function compare(expect: Expectation, decision: Decision, shown: boolean | undefined): string[] {
  const got = {
    action: decision.action,
    code: decision.code,
    rule: decision.rule,
    reason: decision.reason,
    guardrails: decision.guardrails
      .map(({ name }) => name)
      .sort()
      .join(', '),
    visible: shown,
  }
  const wanted = {
    ...expect,
    guardrails: expect.guardrails && [...expect.guardrails].sort().join(', '),
  }
  return (Object.keys(got) as (keyof typeof got)[]).flatMap((name) =>
    wanted[name] === undefined || wanted[name] === got[name]
      ? []
      : [`${name}: expected \`${wanted[name]}\`, got \`${got[name]}\``],
  )
}
