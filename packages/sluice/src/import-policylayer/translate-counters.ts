// The counters of one tool of an Intercept policy. Limits there are conditions on a counter, read
// before the call and reserved after; what they come to is the smallest of them. Conditions that
// are no limit of the tool's own counter have no counterpart here and are errors.

import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { isAmbiguous, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'
import type { CounterLimit } from './translate-limit.ts'

export interface StateBlock {
  readonly counter: string
  readonly window: string
  readonly increment: number
  readonly incrementFrom: string | undefined
  readonly at: number
}

export interface CountingRule {
  readonly state: StateBlock | undefined
  /** Conditions whose path starts with `state.`. */
  readonly stateConditions: readonly LocatedMap[]
}

interface CounterBound {
  readonly max: number
  readonly at: number
  /** The original counts only if the limit stands beside its counter. */
  readonly counted: boolean
}

/** For each rule with a counter, the limit it comes to; undefined after an error. */
export function translateCounters(
  rules: readonly CountingRule[],
  tool: string,
  report: ImportReport,
): ReadonlyMap<CountingRule, CounterLimit> | undefined {
  const scope = tool === '*' ? '_global' : tool
  const owners = new Map<string, CountingRule>()
  for (const rule of rules)
    for (const part of [scope, tool])
      if (rule.state !== undefined) owners.set(`state.${part}.${rule.state.counter}`, rule)
  const bounds = new Map<CountingRule, CounterBound[]>()
  const before = report.errorCount
  for (const rule of rules)
    for (const condition of rule.stateConditions)
      readBound(rule, condition, { owners, scope, bounds, report })
  if (report.errorCount > before) return undefined
  const limits = new Map<CountingRule, CounterLimit>()
  for (const rule of rules) {
    if (rule.state === undefined) continue
    const limit = limitOf(rule.state, bounds.get(rule) ?? [], tool, report)
    if (limit !== undefined) limits.set(rule, limit)
  }
  return report.errorCount > before ? undefined : limits
}

interface BoundContext {
  readonly owners: ReadonlyMap<string, CountingRule>
  readonly scope: string
  readonly bounds: Map<CountingRule, CounterBound[]>
  readonly report: ImportReport
}

function readBound(
  rule: CountingRule,
  condition: LocatedMap,
  { owners, scope, bounds, report }: BoundContext,
): void {
  const path = readText(condition, 'path', report) ?? ''
  const op = readText(condition, 'op', report) ?? ''
  const at = (findEntry(condition, 'path') ?? condition).at
  const owner = owners.get(path)
  if (owner === undefined) {
    report.error(
      'IMPORT_STATE',
      at,
      `\`${path}\` is not a counter of this tool`,
      'a rule here cannot read another counter: write a guardrail with a limit over both tools by hand',
    )
    return
  }
  const value = numberOf(findEntry(condition, 'value'), report)
  if (op === 'exists' && booleanOf(findEntry(condition, 'value')) === true) return
  if ((op !== 'lt' && op !== 'lte') || value === undefined) {
    report.error(
      'IMPORT_STATE',
      at,
      `\`${op}\` on a counter is not a limit`,
      'write `lte` with a number, or the rule by hand',
    )
    return
  }
  const max = op === 'lt' ? Math.trunc(value) - 1 : Math.trunc(value)
  const counted = owner === rule && path === `state.${scope}.${owner.state?.counter}`
  const list = bounds.get(owner) ?? []
  list.push({ max, at, counted })
  bounds.set(owner, list)
}

function limitOf(
  state: StateBlock,
  bounds: readonly CounterBound[],
  tool: string,
  report: ImportReport,
): CounterLimit | undefined {
  const { window, increment, incrementFrom, counter } = state
  const tightest = bounds.reduce<CounterBound | undefined>(
    (least, bound) => (least === undefined || bound.max < least.max ? bound : least),
    undefined,
  )
  if (tightest === undefined) {
    report.error(
      'IMPORT_NO_LIMIT',
      state.at,
      `nothing limits the counter \`${counter}\``,
      'take the `state` block out, or add a condition with `lte`',
    )
    return undefined
  }
  if (!bounds.some((bound) => bound.counted))
    report.warn(
      'IMPORT_NEVER_COUNTED',
      tightest.at,
      `the original never adds to \`${counter}\`, so that this limit lets everything pass`,
      'here it holds',
    )
  if (tool === '*')
    report.warn(
      'IMPORT_SHARED_COUNTER',
      tightest.at,
      `the original shares the counter \`${counter}\` with every Intercept that has the same state directory`,
      'here it counts the calls to this server; for one limit over all servers take `match` from the guardrail',
    )
  const from = incrementFrom === undefined ? {} : { incrementFrom }
  const { at, max } = tightest
  return { at, window, max, increment, ...from, per: 'everyone', calendar: 'is' }
}

function numberOf(node: LocatedNode | undefined, report: ImportReport): number | undefined {
  if (node?.kind !== 'scalar' || isAmbiguous(node, report)) return undefined
  return typeof node.value === 'number' && Number.isFinite(node.value) ? node.value : undefined
}

function booleanOf(node: LocatedNode | undefined): boolean | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'boolean' ? node.value : undefined
}
