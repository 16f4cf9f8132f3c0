// The limits of the reference: what a call takes from each, by filtering the list of all past
// events, and which denial comes of it. Amounts are bigints in units of ten to the minus 80.
// Pure; called by evaluate.ts.

import type { Action } from '@sluice/policy/calls/actions'
import type { Call, Facts } from '@sluice/policy/calls/call'
import type { JsonValue } from '@sluice/policy/values/json'
import { ExactNumber, isObject } from '@sluice/policy/values/json'
import type { RefEvent, RefLimit, RefTake, RefVerdict } from './document.ts'
import { declared, hasDeclaredType } from './expression.ts'

/** A rule or guardrail with its limits: `by` is the counters' owner, `pointer` what is told. */
export interface Owner {
  by: string
  pointer: string
  rule: { rate_limit?: RefLimit | RefLimit[]; spend_limit?: RefLimit | RefLimit[] }
}

export interface Moment {
  call: Call
  facts: Facts
  used: readonly RefEvent[]
  nowMs: number
}

const UNIT = 10n ** 80n
const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const CODES = {
  allow: 'ALLOWED',
  require_approval: 'APPROVAL_REQUIRED',
  deny: 'DENIED',
  hide: 'DENIED',
} as const

/** The verdict `action` of `rule` after the limits of `owners` (in order: ties go to the first). */
export function settle(
  action: Action,
  rule: string,
  owners: readonly Owner[],
  moment: Moment,
): RefVerdict {
  if (action === 'deny' || action === 'hide')
    return { action, code: CODES[action], rule, charges: [] }
  const looks = owners.flatMap((owner) => {
    const rates = [owner.rule.rate_limit ?? []].flat().map((limit) => look('rate', limit, owner))
    const spends = [owner.rule.spend_limit ?? []].flat().map((limit) => look('spend', limit, owner))
    return [...rates, ...spends]
  })
  const unreadable = looks.find(({ take }) => take === undefined)
  if (unreadable) return { action: 'deny', code: 'DENIED', rule: unreadable.pointer, charges: [] }
  const longest = looks.reduce((most, { waitMs }) => Math.max(most, waitMs), 0)
  const refused = looks.find(({ waitMs }) => waitMs === longest && longest > 0)
  if (refused) {
    const code = refused.take?.kind === 'rate' ? 'RATE_LIMITED' : 'SPEND_LIMITED'
    return { action: 'deny', code, rule: refused.pointer, charges: [] }
  }
  const taken = looks.flatMap(({ take }) => (take && take.amount !== '0' ? [take] : []))
  return { action, code: CODES[action], rule, charges: action === 'allow' ? taken : [] }

  function look(kind: 'rate' | 'spend', limit: RefLimit, { by, pointer }: Owner) {
    const names = [limit.per ?? 'session'].flat()
    const per = names.map((name) => perValue(name, moment))
    const amount = kind === 'rate' ? UNIT : readAmount(limit.amount ?? '', moment)
    if (amount === undefined || amount < 0n || per.includes(undefined)) {
      return { pointer, take: undefined, waitMs: 0 }
    }
    const max = parse(String(limit.max)) ?? 0n
    const take: RefTake = {
      by,
      kind,
      windowMs: readWindowMs(limit.window),
      of: `${names.join(' ')}${kind === 'spend' ? ` of ${limit.amount}` : ''}`,
      per: per as string[],
      max: format(max),
      amount: format(amount),
    }
    return { pointer, take, waitMs: waitFor(take, amount, max, moment) }
  }
}

/** Milliseconds until it fits: 0 now, Infinity never. */
function waitFor(take: RefTake, amount: bigint, max: bigint, { used, nowMs }: Moment): number {
  if (amount > max) return Infinity
  const events = used.filter((event) => isSameCounter(event, take))
  const usedAt = (atMs: number) =>
    events
      .filter((event) => atMs - event.atMs < take.windowMs)
      .reduce((sum, event) => sum + (parse(event.amount) ?? 0n), 0n)
  if (usedAt(nowMs) + amount <= max) return 0
  const moments = events.map((event) => event.atMs + take.windowMs)
  const fits = moments.filter((atMs) => atMs > nowMs && usedAt(atMs) + amount <= max)
  return Math.min(...fits) - nowMs
}

function isSameCounter(a: RefEvent, b: RefTake): boolean {
  return (
    a.by === b.by &&
    a.kind === b.kind &&
    a.windowMs === b.windowMs &&
    a.of === b.of &&
    a.per.every((value, i) => value === b.per[i])
  )
}

export function readWindowMs(window: number | string): number {
  if (typeof window === 'number') return window * 1000
  return Number(window.slice(0, -1)) * (UNIT_MS[window.slice(-1)] ?? Number.NaN)
}

function perValue(name: string, { call, facts }: Moment): string | undefined {
  switch (name) {
    case 'session':
      return facts.session.id
    case 'principal':
      return facts.principal.id
    case 'agent':
      return facts.agent?.id ?? facts.session.id
    case 'server':
      return call.server
    case 'tool':
      return `${call.server}/${call.name}`
    case 'everyone':
      return ''
    default: {
      const value = readPath(name, call)
      const schema = name.split('.').slice(1).reduce(declared, facts.tool?.definition.inputSchema)
      if (value !== undefined && !hasDeclaredType(value, schema)) return undefined
      if (typeof value === 'string' && value.length > 256) return undefined
      if (value instanceof ExactNumber) return value.text
      const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
      return isPlain ? JSON.stringify(value) : undefined
    }
  }
}

function readAmount(text: string, { call }: Moment): bigint | undefined {
  let product = UNIT
  for (const factor of text.split(' * ')) {
    const value = factor.startsWith('args.') ? readPath(factor, call) : factor
    const amount = toAmount(value)
    if (amount === undefined || amount < 0n) return undefined
    product = (product * amount) / UNIT
  }
  return product
}

function readPath(path: string, call: Call): JsonValue | undefined {
  let value: JsonValue | undefined = call.args
  for (const key of path.split('.').slice(1)) {
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

function toAmount(value: JsonValue | undefined): bigint | undefined {
  if (typeof value === 'string') return /^-?\d+(\.\d+)?$/.test(value) ? parse(value) : undefined
  if (value instanceof ExactNumber) return parse(value.text)
  return typeof value === 'number' ? parse(String(value)) : undefined
}

function parse(text: string): bigint | undefined {
  const match = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const shift = 80 - fraction.length + Number(exponent)
  return BigInt(whole + fraction) * 10n ** BigInt(shift)
}

function format(amount: bigint): string {
  const fraction = (amount % UNIT).toString().padStart(80, '0').replace(/0+$/, '')
  return `${amount / UNIT}${fraction ? `.${fraction}` : ''}`
}
