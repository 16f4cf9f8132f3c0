// Test support: judges calls as the original does, from its documentation and observed behaviour.
// Written apart from the importer, on plain objects, so that the two can be compared with each
// other. Takes a document that the original accepts.

import type { JsonObject, JsonValue } from '@sluice/policy/values/json'

export interface Condition {
  readonly path: string
  readonly op: string
  readonly value: unknown
}

interface State {
  readonly counter: string
  readonly window: string
  readonly increment?: number
  readonly increment_from?: string
}

export interface InterceptDoc {
  readonly version: string
  readonly default?: string
  readonly hide?: readonly string[]
  readonly tools: Readonly<
    Record<
      string,
      {
        readonly rules: readonly {
          readonly name: string
          readonly action?: string
          readonly rate_limit?: string
          readonly conditions?: readonly Condition[]
          readonly state?: State
        }[]
      }
    >
  >
}

export interface HostedDoc {
  readonly version: string
  readonly default: string
  readonly hide?: readonly string[]
  readonly all_tools?: { readonly limits: readonly HostedLimit[] }
  readonly tools: Readonly<
    Record<
      string,
      {
        readonly require?: readonly Condition[]
        readonly deny_if?: readonly Condition[]
        readonly limits?: readonly HostedLimit[]
      }
    >
  >
}

interface HostedLimit {
  readonly window: string
  readonly max: number
  readonly increment_from?: string
}

export type Verdict = 'allow' | 'deny' | 'require_approval'

/** Counters by the calendar. */
class Calendar {
  readonly #counters = new Map<string, { start: number; value: number }>()

  value(key: string, window: string, nowMs: number): number {
    const counter = this.#counters.get(key)
    return counter?.start === startOf(window, nowMs) ? counter.value : 0
  }

  add(key: string, window: string, amount: number, nowMs: number): void {
    const value = this.value(key, window, nowMs) + amount
    this.#counters.set(key, { start: startOf(window, nowMs), value })
  }
}

const LENGTH_MS: Record<string, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

function startOf(window: string, nowMs: number): number {
  return Math.floor(nowMs / (LENGTH_MS[window] as number))
}

interface Reservation {
  readonly key: string
  readonly window: string
  readonly amount: number
}

type Judged = { readonly verdict: Verdict; readonly reservations: readonly Reservation[] }
const DENY: Judged = { verdict: 'deny', reservations: [] }

export class OriginalIntercept {
  readonly #doc: InterceptDoc
  readonly #calendar = new Calendar()
  constructor(doc: InterceptDoc) {
    this.#doc = doc
  }

  judge(tool: string, args: JsonObject, nowMs: number): Judged {
    const { hide = [], tools } = this.#doc
    if (hide.includes(tool) || hide.includes('*')) return DENY
    if (this.#doc.default === 'deny' && !Object.hasOwn(tools, tool)) return DENY
    const own = (Object.hasOwn(tools, tool) ? tools[tool] : undefined)?.rules ?? []
    const rules = [
      ...own.map((rule) => ({ rule: desugar(rule, tool), scope: tool })),
      ...(tools['*']?.rules ?? []).map((rule) => ({
        rule: desugar(rule, '_global'),
        scope: '_global',
      })),
    ]
    let held = false
    for (const { rule } of rules) {
      if (rule.action === 'deny') return DENY
      const all = rule.conditions.every((condition) => this.#holds(condition, args, nowMs))
      if (rule.action === 'require_approval') held ||= all
      else if (!all) return DENY
    }
    const reservations: Reservation[] = []
    for (const { rule, scope } of rules) {
      if (rule.state === undefined) continue
      const { counter, window, increment, increment_from: from } = rule.state
      const amount = from === undefined ? increment || 1 : whole(resolve(from, args).value)
      if (amount === undefined) return DENY
      const limit = limitOf(rule.conditions, `state.${scope}.${counter}`)
      if (limit === undefined) continue
      const key = `${scope}.${counter}`
      if (this.#calendar.value(key, window, nowMs) + amount > limit) return DENY
      reservations.push({ key, window, amount })
    }
    return { verdict: held ? 'require_approval' : 'allow', reservations }
  }

  commit({ reservations }: Judged, nowMs: number): void {
    for (const { key, window, amount } of reservations)
      this.#calendar.add(key, window, amount, nowMs)
  }

  #holds(condition: Condition, args: JsonObject, nowMs: number): boolean {
    if (!condition.path.startsWith('state.')) return holds(condition, args)
    const key = condition.path.slice('state.'.length)
    const counters = Object.entries(this.#doc.tools).flatMap(([tool, { rules }]) =>
      rules.map((rule) => ({
        rule: desugar(rule, tool === '*' ? '_global' : tool),
        scope: tool === '*' ? '_global' : tool,
      })),
    )
    const owner = counters.find(({ rule, scope }) => `${scope}.${rule.state?.counter}` === key)
    const value = this.#calendar.value(key, owner?.rule.state?.window ?? 'minute', nowMs)
    return compare(condition.op, value, condition.value)
  }
}

type Rule = InterceptDoc['tools'][string]['rules'][number]

function desugar(rule: Rule, scope: string) {
  const action = rule.action ?? 'evaluate'
  if (rule.rate_limit === undefined) return { ...rule, action, conditions: rule.conditions ?? [] }
  const [count, window] = rule.rate_limit.split('/') as [string, string]
  const counter = `_rate_${window}`
  const conditions: Condition[] = [
    { path: `state.${scope}.${counter}`, op: 'lte', value: Number(count) },
  ]
  return { ...rule, action, conditions, state: { counter, window, increment: 1 } as State }
}

function limitOf(conditions: readonly Condition[], path: string): number | undefined {
  for (const { path: at, op, value } of conditions) {
    if (at !== path || typeof value !== 'number') continue
    if (op === 'lt') return Math.trunc(value) - 1
    if (op === 'lte') return Math.trunc(value)
  }
  return undefined
}

export class OriginalHosted {
  readonly #doc: HostedDoc
  readonly #calendar = new Calendar()
  constructor(doc: HostedDoc) {
    this.#doc = doc
  }

  judge(tool: string, args: JsonObject, nowMs: number): Judged {
    const { hide = [], tools, all_tools: everyTool } = this.#doc
    if (hide.includes(tool) || hide.includes('*')) return DENY
    const rules = Object.hasOwn(tools, tool) ? tools[tool] : undefined
    if (rules === undefined && this.#doc.default === 'deny') return DENY
    if (!(rules?.require ?? []).every((condition) => holds(condition, args))) return DENY
    if ((rules?.deny_if ?? []).some((condition) => holds(condition, args))) return DENY
    const reservations: Reservation[] = []
    const limits = [
      ...(rules?.limits ?? []).map((limit, index) => ({ limit, key: `${tool}.${index}` })),
      ...(everyTool?.limits ?? []).map((limit, index) => ({ limit, key: `*.${index}` })),
    ]
    for (const { limit, key } of limits) {
      const amount =
        limit.increment_from === undefined ? 1 : whole(resolve(limit.increment_from, args).value)
      if (amount === undefined) return DENY
      if (this.#calendar.value(key, limit.window, nowMs) + amount > limit.max) return DENY
      reservations.push({ key, window: limit.window, amount })
    }
    return { verdict: 'allow', reservations }
  }

  commit({ reservations }: Judged, nowMs: number): void {
    for (const { key, window, amount } of reservations)
      this.#calendar.add(key, window, amount, nowMs)
  }
}

/** A missing argument fails every operator but `exists`. */
export function holds({ path, op, value }: Condition, args: JsonObject): boolean {
  const found = resolve(path, args)
  if (op === 'exists') return (found.there && found.value !== null) === value
  return found.there && compare(op, found.value, value)
}

export function resolve(
  path: string,
  args: JsonObject,
): { there: boolean; value: JsonValue | undefined } {
  let at: JsonValue | undefined = args
  for (const name of path.slice('args.'.length).split('.')) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, name))
      return { there: false, value: undefined }
    at = (at as JsonObject)[name]
  }
  return { there: true, value: at }
}

function compare(op: string, actual: unknown, expected: unknown): boolean {
  const numbers = typeof actual === 'number' && typeof expected === 'number'
  switch (op) {
    case 'eq':
      return equal(actual, expected)
    case 'neq':
      return !equal(actual, expected)
    case 'in':
      return (expected as unknown[]).some((item) => equal(actual, item))
    case 'not_in':
      return !(expected as unknown[]).some((item) => equal(actual, item))
    case 'lt':
      return numbers && actual < expected
    case 'lte':
      return numbers && actual <= expected
    case 'gt':
      return numbers && actual > expected
    case 'gte':
      return numbers && actual >= expected
    case 'regex':
      return typeof actual === 'string' && new RegExp(expected as string).test(actual)
    case 'contains':
      if (typeof actual === 'string')
        return typeof expected === 'string' && actual.includes(expected)
      return Array.isArray(actual) && actual.some((item) => equal(item, expected))
    default:
      return false
  }
}

/** Numbers as numbers, everything else by what Go prints. */
function equal(actual: unknown, expected: unknown): boolean {
  if (typeof actual === 'number' && typeof expected === 'number') return actual === expected
  return print(actual, true) === print(expected, false)
}

/** Whole numbers of a YAML file are integers there; those of a call are floats. */
function print(value: unknown, float: boolean): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number')
    return float || !Number.isInteger(value) ? printFloat(value) : String(value)
  if (Array.isArray(value)) return `[${value.map((item) => print(item, float)).join(' ')}]`
  if (typeof value === 'object')
    return `map[${Object.entries(value as object)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => `${key}:${print(item, float)}`)
      .join(' ')}]`
  return String(value)
}

function printFloat(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  if (value === 0 || (Number(exponent) >= -4 && Number(exponent) < 6)) return String(value)
  return `${mantissa}e${exponent.startsWith('-') ? '-' : '+'}${exponent.slice(1).padStart(2, '0')}`
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' ? Math.trunc(value) : undefined
}
