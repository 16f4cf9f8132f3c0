// Runs policy cases through the engine, each with fresh counters, and reports where the decision
// differs from the expected one. The traces are kept for coverage.

import type { Counters, LimitUsage } from '../core/counters.ts'
import type { Decision } from '../core/decision.ts'
import type { KnownTool } from '../core/tools.ts'
import { decide, isVisible } from '../decide/decide.ts'
import type { TraceStep } from '../decide/trace.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import type { Expectation, PolicyCase } from './cases.ts'
import { sampleFacts, withPast } from './sample-facts.ts'

/** `differences`: one line for each expectation that fails. */
export type CaseResult = ReturnType<typeof runCase>

export interface CaseTools {
  toolFor(server: string, name: string): KnownTool
  /** In memory: a case does no I/O. */
  counters(): Counters & LimitUsage
}

export function runCase(policy: CompiledPolicy, one: PolicyCase, tools: CaseTools) {
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
