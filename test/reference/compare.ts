// The engine beside the reference, on the same worlds: every decision, its takes and its shadow
// verdicts must be equal. Says what the decisions were made of, so that an easy mix is noticed.
// The engine comes in as an argument, so that one with a planted fault can be tried.

import { formatDecimal } from '../../src/core/decimal.ts'
import type { Decision, ShadowVerdict } from '../../src/core/decision.ts'
import type { compile } from '../../src/policy/compile.ts'
import type { decide } from '../../src/policy/decide/decide.ts'
import type { MemoryCounters } from '../../src/store/memory/counters.ts'
import type { RefDecision, RefEvent, RefVerdict } from './document.ts'
import { referenceDecide } from './evaluate.ts'
import { generateWorld, seededRandom } from './generate.ts'

export interface Engine {
  compile: typeof compile
  decide: typeof decide
  MemoryCounters: typeof MemoryCounters
}

export interface Comparison {
  decisions: number
  mix: Map<string, number>
  /** The first that differ, in words. */
  differences: string[]
}

export const LEAST_PERCENT: readonly (readonly [string, number])[] = [
  ['action allow', 10],
  ['action deny', 10],
  ['action hide', 10],
  ['action require_approval', 10],
  ['two or more globs count', 1],
  ['undecidable when', 1],
  ['guardrail laid over', 1],
  ['limit exhausted', 1],
]

export function compareWorlds(engine: Engine, firstSeed: number, worlds: number): Comparison {
  const comparison: Comparison = { decisions: 0, mix: new Map(), differences: [] }
  for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
    compareWorld(engine, seed, comparison)
    if (comparison.differences.length >= 5) break
  }
  return comparison
}

function compareWorld(engine: Engine, seed: number, comparison: Comparison): void {
  const { documentText, document, tools, calls } = generateWorld(seededRandom(seed))
  const { policy, problems } = engine.compile(
    { file: `seed-${seed}.yaml`, text: documentText },
    { tools, unmatched: 'warning' },
  )
  if (policy === undefined) {
    const errors = problems.filter(({ severity }) => severity === 'error')
    comparison.differences.push(
      `seed ${seed}: refused: ${JSON.stringify(errors, null, 1)}\n${documentText}`,
    )
    return
  }
  const counters = new engine.MemoryCounters()
  const used: RefEvent[] = []
  for (const { call, facts, nowMs } of calls) {
    const expected = referenceDecide(document, call, facts, used, nowMs)
    for (const verdict of [expected, ...expected.shadow])
      for (const take of verdict.takes) used.push({ ...take, atMs: nowMs })
    const now = { wallMs: nowMs, monotonicMs: nowMs }
    const got = engine.decide(policy, call, facts, counters, now)
    for (const verdict of [got, ...got.shadow])
      if (verdict.action === 'allow' && verdict.limits.length > 0)
        counters.consume(verdict.limits, now)
    comparison.decisions++
    tally(expected, comparison.mix)
    const [want, have] = [JSON.stringify(ofReference(expected)), JSON.stringify(ofEngine(got))]
    if (want !== have) {
      const shown = JSON.stringify({ call, facts: { ...facts, tool: facts.tool?.definition } })
      comparison.differences.push(
        `seed ${seed}:\nreference ${want}\nengine    ${have}\n${shown}\n${documentText}`,
      )
      return
    }
  }
}

function ofReference({ guardrails, shadow, ...verdict }: RefDecision): object {
  return { ...plain(verdict), guardrails, shadow: shadow.map(plain).sort(byText) }
}

function ofEngine({ guardrails, shadow, ...verdict }: Decision): object {
  const names = guardrails.map(({ name }) => name).sort()
  return { ...ofVerdict(verdict), guardrails: names, shadow: shadow.map(ofVerdict).sort(byText) }
}

function plain({ action, code, rule, takes }: RefVerdict): object {
  return {
    action,
    code,
    rule,
    takes: takes
      .map(({ kind, windowMs, max, amount }) => `${kind} ${windowMs} ${max} ${amount}`)
      .sort(),
  }
}

function ofVerdict({ action, code, rule, limits }: ShadowVerdict | Decision): object {
  const takes = action === 'allow' ? limits.filter((take) => take.amount.units !== 0n) : []
  return {
    action,
    code,
    rule,
    takes: takes
      .map(
        (take) =>
          `${take.kind} ${take.windowMs} ${formatDecimal(take.max)} ${formatDecimal(take.amount)}`,
      )
      .sort(),
  }
}

function byText(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

function tally(
  { action, code, guardrails, shadow, notes }: RefDecision,
  mix: Map<string, number>,
): void {
  const add = (name: string) => mix.set(name, (mix.get(name) ?? 0) + 1)
  add(`action ${action}`)
  if (notes.globs >= 2) add('two or more globs count')
  if (notes.undecidable > 0) add('undecidable when')
  if (guardrails.length > 0) add('guardrail laid over')
  if (code.endsWith('LIMITED')) add('limit exhausted')
  if (shadow.length > 0) add('shadow')
}

export function mixTable({ mix, decisions }: Comparison): { name: string; percent: number }[] {
  return [...mix].sort().map(([name, count]) => ({ name, percent: (100 * count) / decisions }))
}
