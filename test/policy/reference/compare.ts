// The engine beside the reference, on the same worlds: every decision, its takes and its shadow
// verdicts must be equal. Says what the decisions were made of, so that an easy mix is noticed.
// The engine comes in as an argument, so that one with a planted fault can be tried.

import type { Decision, ShadowDecision } from '@sluice/policy/calls/decision'
import type { compile } from '@sluice/policy/compile/compile'
import type { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { decide } from '@sluice/policy/decide/decide'
import { formatDecimal } from '@sluice/policy/values/decimal'
import type { RefDecision, RefEvent, RefVerdict } from './document.ts'
import { referenceDecide } from './evaluate.ts'
import { generateWorld, seededRandom } from './generate.ts'
import { RAW_MEMORIES } from './protect.ts'

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
  /** By the name of a faulty engine, what showed it. */
  found: Map<string, string>
}

export const LEAST_PERCENT: readonly (readonly [string, number])[] = [
  ['action allow', 10],
  ['action deny', 10],
  ['action hide', 10],
  ['action require_approval', 10],
  ['two or more globs count', 1],
  ['undecidable when', 1],
  ['guardrail applied', 1],
  ['limit exhausted', 1],
]

/** Every world of `engine`; and of each of `faulty` until it differs, which is then in `found`. */
export function compareWorlds(
  engine: Engine,
  firstSeed: number,
  worlds: number,
  faulty: ReadonlyMap<string, Engine> = new Map(),
): Comparison {
  const comparison: Comparison = { decisions: 0, mix: new Map(), differences: [], found: new Map() }
  for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
    const world = judge(seed)
    const difference = differenceIn(engine, world)
    if (difference !== undefined) comparison.differences.push(difference)
    comparison.decisions += world.calls.length
    for (const { expected } of world.calls) tally(expected, comparison.mix)
    for (const [name, wrong] of faulty) {
      if (comparison.found.has(name)) continue
      const found = differenceIn(wrong, world)
      if (found !== undefined) comparison.found.set(name, found)
    }
    if (comparison.differences.length >= 5) break
  }
  return comparison
}

interface JudgedWorld {
  readonly seed: number
  readonly world: ReturnType<typeof generateWorld>
  readonly calls: readonly (ReturnType<typeof generateWorld>['calls'][number] & {
    readonly expected: RefDecision
  })[]
}

/** A world, and what the reference says to each of its calls. */
function judge(seed: number): JudgedWorld {
  const world = generateWorld(seededRandom(seed))
  const used: RefEvent[] = []
  const calls = world.calls.map((each) => {
    const expected = referenceDecide(world.document, each.call, each.facts, used, each.nowMs)
    for (const verdict of [expected, ...expected.shadow])
      for (const take of verdict.charges) used.push({ ...take, atMs: each.nowMs })
    return { ...each, expected }
  })
  return { seed, world, calls }
}

/** The first call that the engine decides otherwise, in words. */
function differenceIn(engine: Engine, { seed, world, calls }: JudgedWorld): string | undefined {
  const { documentText, tools } = world
  const { policy, problems } = engine.compile(
    { file: `seed-${seed}.yaml`, text: documentText },
    { tools, unmatched: 'warning' },
  )
  if (policy === undefined) {
    const errors = problems.filter(({ severity }) => severity === 'error')
    return `seed ${seed}: refused: ${JSON.stringify(errors, null, 1)}\n${documentText}`
  }
  const counters = new engine.MemoryCounters()
  for (const { call, facts, nowMs, expected } of calls) {
    const now = { wallMs: nowMs, monotonicMs: nowMs }
    const got = engine.decide(policy, call, facts, counters, now)
    for (const verdict of [got, ...got.shadow])
      if (verdict.action === 'allow' && verdict.limits.length > 0)
        counters.consume(verdict.limits, now)
    const [want, have] = [JSON.stringify(ofReference(expected)), JSON.stringify(ofEngine(got))]
    if (want !== have) {
      const provenance = RAW_MEMORIES.get(facts.provenance ?? {})
      const about = { ...facts, tool: facts.tool?.definition, provenance }
      const shown = JSON.stringify({ call, facts: about })
      return `seed ${seed}:\nreference ${want}\nengine    ${have}\n${shown}\n${documentText}`
    }
  }
  return undefined
}

function ofReference({ guardrails, shadow, ...verdict }: RefDecision): object {
  return { ...plain(verdict), guardrails, shadow: shadow.map(plain).sort(byText) }
}

function ofEngine({ guardrails, shadow, ...verdict }: Decision): object {
  const names = guardrails.map(({ name }) => name).sort()
  return { ...ofVerdict(verdict), guardrails: names, shadow: shadow.map(ofVerdict).sort(byText) }
}

function plain({ action, code, rule, charges }: RefVerdict): object {
  return {
    action,
    code,
    rule,
    charges: charges
      .map(({ kind, windowMs, max, amount }) => `${kind} ${windowMs} ${max} ${amount}`)
      .sort(),
  }
}

function ofVerdict({ action, code, rule, limits }: ShadowDecision | Decision): object {
  const charges = action === 'allow' ? limits.filter((take) => take.amount.units !== 0n) : []
  return {
    action,
    code,
    rule,
    charges: charges
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
  if (guardrails.length > 0) add('guardrail applied')
  if (code.endsWith('LIMITED')) add('limit exhausted')
  if (shadow.length > 0) add('shadow')
}

export function mixTable({ mix, decisions }: Comparison): { name: string; percent: number }[] {
  return [...mix].sort().map(([name, count]) => ({ name, percent: (100 * count) / decisions }))
}
