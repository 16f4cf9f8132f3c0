// The counters of one tool of an Intercept policy. Limits there are conditions on a counter, read
// before the call and reserved after; what they come to is the smallest of them. Conditions that
// are no limit of the tool's own counter have no counterpart here and are errors.

import type { Fields } from './fields.ts'
import type { ImportReport } from './report.ts'
import type { OriginalRule } from './to-check.ts'
import { type CounterLimit, parseRate, WINDOWS, type Window } from './translate-limit.ts'

export interface Counter {
  readonly name: string
  readonly window: Window
  readonly increment: number
  readonly incrementFrom: string | undefined
  readonly at: number
  /** The limit of the form `5/hour`. */
  readonly max?: number
}

export interface InterceptRule extends OriginalRule {
  readonly counter: Counter | undefined
  /** Conditions whose path starts with `state.`. */
  readonly onCounters: readonly Fields[]
}

interface CounterBound {
  readonly max: number
  readonly at: number
  /** The original counts only if the limit stands beside its counter. */
  readonly isCounted: boolean
}

const OTHER_COUNTER =
  'a rule here cannot read another counter: write a guardrail with a limit over both tools by hand'
const STATE_KEYS = ['counter', 'window', 'increment', 'increment_from']

/** `state`, or `rate_limit: 5/hour`; undefined if there is none, or after an error. */
export function readCounter(rule: Fields): Counter | undefined {
  const short = rule.text('rate_limit') || undefined
  if (short === undefined) return readState(rule)
  const rate = parseRate(short)
  const at = (rule.node('rate_limit') ?? rule.map).at
  const common = { increment: 1, incrementFrom: undefined, at }
  if (rate !== undefined) return { ...rate, ...common, name: `_rate_${rate.window}` }
  const message = `\`${short}\` is not of the form \`<count>/<window>\``
  const help = 'write `5/hour`, with `minute`, `hour` or `day`'
  return rule.report.error('IMPORT_INVALID', at, message, help)
}

function readState(rule: Fields): Counter | undefined {
  const state = rule.child('state', STATE_KEYS)
  if (state === undefined || state.map.entries.length === 0) return undefined
  const name = state.text('counter') ?? ''
  const increment = state.has('increment') ? state.number('increment') : 1
  if (name === '') state.error('IMPORT_INVALID', 'counter', 'a counter without a name')
  if (!Number.isSafeInteger(increment))
    state.error('IMPORT_INVALID', 'increment', '`increment` is not a whole number')
  const window = state.word('window', WINDOWS, state.text('window') ?? '')
  if (window === undefined) return undefined
  const incrementFrom = state.text('increment_from') || undefined
  // The original takes an increment of 0 for "left out".
  return { name, window, increment: increment || 1, incrementFrom, at: rule.keyAt('state') }
}

/** Finds the limit that each rule with a counter comes to. */
export function limitCounters(
  rules: readonly InterceptRule[],
  tool: string,
  report: ImportReport,
): ReadonlyMap<InterceptRule, CounterLimit> {
  const before = report.errorCount
  const limits = new Map<InterceptRule, CounterLimit>()
  const bounds = readBounds(rules, tool, report)
  refuseDoubled(rules, report)
  if (report.errorCount > before) return limits
  for (const rule of rules) {
    const limit = rule.counter && limitOf(rule.counter, bounds.get(rule) ?? [], tool, report)
    if (limit !== undefined) limits.set(rule, limit)
  }
  return limits
}

function refuseDoubled(rules: readonly InterceptRule[], report: ImportReport): void {
  const seen = new Set<string>()
  for (const { counter } of rules) {
    if (counter === undefined) continue
    const message = `two rules of one tool count in \`${counter.name}\``
    const help = 'the original refuses this document; keep the smaller limit'
    if (seen.has(counter.name)) report.error('IMPORT_INVALID', counter.at, message, help)
    seen.add(counter.name)
  }
}

function readBounds(rules: readonly InterceptRule[], tool: string, report: ImportReport) {
  const scope = tool === '*' ? '_global' : tool
  const owners = new Map<string, InterceptRule>()
  const bounds = new Map<InterceptRule, CounterBound[]>()
  for (const rule of rules) {
    const { at, max, name } = rule.counter ?? {}
    bounds.set(rule, at === undefined || max === undefined ? [] : [{ at, max, isCounted: true }])
    // `5/hour` has no counter that conditions could name.
    for (const part of max === undefined && name !== undefined ? [scope, tool] : [])
      owners.set(`state.${part}.${name}`, rule)
  }
  for (const rule of rules)
    for (const condition of rule.onCounters) {
      const path = condition.text('path') ?? ''
      const { at } = condition.node('path') ?? condition.map
      const owner = owners.get(path)
      const max = owner && readMax(condition, at)
      const isCounted = owner === rule && path === `state.${scope}.${rule.counter?.name}`
      if (owner === undefined)
        report.error('IMPORT_STATE', at, `\`${path}\` is not a counter of this tool`, OTHER_COUNTER)
      else if (max !== undefined) bounds.get(owner)?.push({ max, at, isCounted })
    }
  return bounds
}

/** The largest value that the condition lets the counter have; undefined if it always holds, or after an error. */
function readMax(condition: Fields, at: number): number | undefined {
  const op = condition.text('op') ?? ''
  const value = condition.node('value')
  if (op === 'exists' && value?.kind === 'scalar' && value.value === true) return undefined
  const max = Math.trunc(condition.number('value') ?? Number.NaN)
  const message = `\`${op}\` on a counter is not a limit`
  const help = 'write `lte` with a number, or the rule by hand'
  if ((op !== 'lt' && op !== 'lte') || Number.isNaN(max))
    return condition.report.error('IMPORT_STATE', at, message, help)
  return op === 'lt' ? max - 1 : max
}

function limitOf(
  { name, at: counterAt, window, increment, incrementFrom }: Counter,
  bounds: readonly CounterBound[],
  tool: string,
  report: ImportReport,
): CounterLimit | undefined {
  const [tightest] = bounds.toSorted((a, b) => a.max - b.max)
  if (tightest === undefined) {
    const help = 'add a condition with `lte`, or write the rule without `state`'
    const message = `nothing limits the counter \`${name}\``
    return report.error('IMPORT_NO_LIMIT', counterAt, message, help)
  }
  const { at, max } = tightest
  const idle = `the original never adds to \`${name}\`, so that this limit lets everything pass`
  if (!bounds.some((bound) => bound.isCounted))
    report.warn('IMPORT_NEVER_COUNTED', at, idle, 'here it holds')
  if (tool === '*')
    report.warn(
      'IMPORT_SHARED_COUNTER',
      at,
      'the original shares this counter with every Intercept that has the same state directory',
      'here it counts the calls to this server; for one limit over all servers take `match` from the guardrail',
    )
  return { at, window, max, increment, incrementFrom, per: 'everyone' }
}
