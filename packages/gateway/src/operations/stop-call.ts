// The smallest change that stops a bad call and its kin: guardrails on its tool whose condition was
// true of it, by labels of its session, recorded arguments and caller, then the tool as a whole. Each
// comes with every other recorded call that it would have stopped; the fewest first.

import { type DecisionInput, isOmittedInput } from '@sluice/policy/calls/decision-inputs'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { compareDecimal, formatDecimal, toDecimal } from '@sluice/policy/values/decimal'
import { compileSuggestion, isToolCall, toolOf } from './fit-policy.ts'
import { evaluateTraffic, type TrafficCall } from './past-traffic.ts'

export interface StopSuggestion {
  /** Undefined: the tool as a whole. */
  readonly when?: string
  /** An entry for `guardrails`. */
  readonly guardrail: string
  /** Records of legitimate calls that it would have stopped as well. */
  readonly hits: readonly number[]
  /** Calls of which the ledger does not hold enough to tell. */
  readonly unknown: number
}

/** Best first. `bad` are calls of one tool. */
export function suggestStops(
  bad: readonly TrafficCall[],
  calls: readonly TrafficCall[],
): StopSuggestion[] {
  const tool = toolOf(bad[0] as TrafficCall)
  const isBad = new Set(bad.map(({ record }) => record.seq))
  const others = calls.filter(
    (call) =>
      call.passed && isToolCall(call) && toolOf(call) === tool && !isBad.has(call.record.seq),
  )
  const single = listConditions(bad, others)
  const alone = evaluate(tool, single, bad, others)
  const clean = alone.some(({ hits, unknown }) => hits.length + unknown === 0)
  const pairs = clean ? [] : evaluate(tool, pairUp(single), bad, others)
  const whole = evaluate(tool, [undefined], bad, others)
  return [...alone, ...pairs, ...whole].sort(
    (a, b) => a.hits.length + a.unknown - (b.hits.length + b.unknown),
  )
}

function evaluate(
  tool: string,
  conditions: readonly (string | undefined)[],
  bad: readonly TrafficCall[],
  others: readonly TrafficCall[],
): StopSuggestion[] {
  return conditions.flatMap((when) => {
    const guardrail = [
      `- name: ${JSON.stringify(`stops ${tool} as in record ${bad[0]?.record.seq}`)}`,
      `  match: { tools: [${JSON.stringify(tool)}] }`,
      ...(when === undefined ? [] : [`  when: ${JSON.stringify(when)}`]),
      '  action: deny',
    ]
    const policy = compileGuardrail(guardrail, bad)
    // It must stop every one of them for certain.
    if (evaluateTraffic(policy, bad.map(asAllowed)).stopped.length < bad.length) return []
    const { stopped, unknown } = evaluateTraffic(policy, others)
    return [
      {
        ...pickDefined({ when }),
        guardrail: `${guardrail.join('\n')}\n`,
        hits: stopped.map(({ seq }) => seq),
        unknown: unknown.length,
      },
    ]
  })
}

/** A bad call may have been denied already: what counts is that the guardrail denies it. */
function asAllowed(call: TrafficCall): TrafficCall {
  const decision = {
    ...call.record.decision,
    action: 'allow',
    code: 'ALLOWED',
    reason: '',
  } as const
  return { ...call, record: { ...call.record, decision } }
}

function compileGuardrail(
  guardrail: readonly string[],
  bad: readonly TrafficCall[],
): CompiledPolicy {
  const labels = [...new Set(bad.flatMap(({ past }) => past.facts.session.saw))]
  const lines = [
    'version: 1',
    'default: allow',
    'guardrails:',
    ...guardrail.map((one) => `  ${one}`),
  ]
  // Conditions may read only labels that the document names.
  if (labels.length > 0) lines.push(`labels: { "x/x": ${JSON.stringify(labels)} }`)
  return compileSuggestion(`${lines.join('\n')}\n`)
}

/** Conditions that are true of every bad call, most telling first. */
function listConditions(bad: readonly TrafficCall[], others: readonly TrafficCall[]): string[] {
  const [first] = bad as [TrafficCall]
  const labels = first.past.facts.session.saw.filter((label) =>
    bad.every(({ past }) => past.facts.session.saw.includes(label)),
  )
  const paths = Object.keys(first.record.judged).filter((path) => path.startsWith('args'))
  const callers = new Set(bad.map(({ record }) => record.principal.id))
  return [
    ...labels.filter((label) => /^\w+$/.test(label)).map((label) => `session.saw.${label}`),
    ...paths.flatMap((path) => conditionsOn(path, bad, others)),
    ...(callers.size === 1 ? [`principal.id == ${JSON.stringify([...callers][0])}`] : []),
    ...(bad.every(({ record }) => record.agent !== null) ? ['agent != null'] : []),
  ]
}

function conditionsOn(
  path: string,
  bad: readonly TrafficCall[],
  others: readonly TrafficCall[],
): string[] {
  const values = bad.map(({ record }) => record.judged[path])
  if (values.some((value) => value === undefined || isOmitted(value))) return []
  const numbers = values.map((value) => (typeof value === 'string' ? undefined : toDecimal(value)))
  if (numbers.every((number) => number !== undefined)) {
    const sorted = numbers.sort(compareDecimal)
    const [least, most] = [sorted[0], sorted.at(-1)] as [(typeof sorted)[0], (typeof sorted)[0]]
    const seen = others.flatMap(({ record }) => {
      const value = record.judged[path]
      const number = value === undefined || isOmitted(value) ? undefined : toDecimal(value)
      return number === undefined ? [] : [number]
    })
    const below = seen
      .filter((one) => compareDecimal(one, least) < 0)
      .sort(compareDecimal)
      .at(-1)
    const above = seen.filter((one) => compareDecimal(one, most) > 0).sort(compareDecimal)[0]
    // Kin are calls at least as far out: the bound is the nearest legitimate value on that side.
    return [
      below ? `${path} > ${formatDecimal(below)}` : `${path} >= ${formatDecimal(least)}`,
      above ? `${path} < ${formatDecimal(above)}` : `${path} <= ${formatDecimal(most)}`,
    ]
  }
  const [value] = new Set(values)
  const isWord = typeof value === 'string' || typeof value === 'boolean'
  return isWord && new Set(values).size === 1 ? [`${path} == ${JSON.stringify(value)}`] : []
}

function isOmitted(value: DecisionInput | undefined): boolean {
  return value !== undefined && isOmittedInput(value)
}

function pairUp(conditions: readonly string[]): string[] {
  return conditions.flatMap((one, index) =>
    conditions.slice(index + 1).map((other) => `${one} && ${other}`),
  )
}
