// Standing approvals: calls like one that a person approved pass without a new request. Each lists
// every argument, with its exact value or the bound that the approver gave; any other argument,
// tool, principal, definition or rule is a different call. They satisfy `require_approval` and
// nothing else.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { CallIdentity } from '@sluice/ledger/records/call-title'
import type { Vault } from '@sluice/ledger/store/vault'
import { compareDecimal, type Decimal, toDecimal } from '@sluice/policy/core/decimal'
import { ExactNumber } from '@sluice/policy/core/json'
import { OperationError } from '@sluice/policy/core/operation-error'
import type { ArgumentBound, StandingApproval, StandingTerms } from './approval.ts'
import type { SubmittedCall } from './approval-registry.ts'
import { canonicalMembers, toCanonicalJsonText } from './json-text.ts'
import { STANDING_MAX, STANDING_MS_MAX, STANDING_VALUES_MAX } from './limits.ts'
import { maskText } from './mask-text.ts'
import type { ApprovalRow } from './requests.ts'

/** What a call is matched with. */
export interface StandingMatch extends Omit<CallIdentity, 'callId' | 'session'> {
  readonly principal: string
  readonly asked: string
  readonly pin: string
  /** Canonical text of every member of `params` except `_meta` and `arguments`. */
  readonly rest: string
  /** The text of the arguments; empty if there are none. */
  readonly args: string
}

interface StoredTerms {
  /** When it was given, and how often it may be used. */
  readonly atMs?: number
  readonly calls?: number
  readonly rest: string
  /** Canonical text of each argument without a bound. */
  readonly exact: Readonly<Record<string, string>>
  readonly bounds: Readonly<Record<string, ArgumentBound>>
}

interface StoredStanding extends Omit<StandingMatch, 'rest' | 'args'> {
  readonly id: string
  readonly terms: StoredTerms
  readonly by: readonly string[]
  readonly untilMs: number
  used: number
}

interface StandingRequest {
  readonly wanted: StandingTerms
  readonly by: string
  readonly nowMs: number
}

export class StandingApprovals {
  readonly #database: DatabaseSync
  readonly #vault: Vault
  readonly #isApprover: (name: string, atMs: number) => boolean
  readonly #approvals = new Map<string, StoredStanding>()
  /** Masking many long arguments takes seconds: done once for each. */
  readonly #shown = new WeakMap<StoredTerms, StandingApproval['bounds']>()

  constructor(
    database: DatabaseSync,
    vault: Vault,
    isApprover: (name: string, atMs: number) => boolean,
  ) {
    this.#database = database
    this.#vault = vault
    this.#isApprover = isApprover
    this.reload()
  }

  /** Reads what is stored; another gate may have added or ended some. The terms of one never change. */
  reload(): void {
    const ids = this.#database.prepare('SELECT id FROM approvals_standing ORDER BY rowid').all()
    const stored = new Set(ids.map(({ id }) => String(id)))
    for (const id of this.#approvals.keys()) if (!stored.has(id)) this.#approvals.delete(id)
    const read = this.#database.prepare('SELECT * FROM approvals_standing WHERE id = ?')
    for (const id of stored) {
      const row = this.#approvals.has(id) ? undefined : read.get(id)
      if (row !== undefined) this.#approvals.set(id, this.#toStanding(row))
    }
  }

  #toStanding(row: Record<string, SQLOutputValue>): StoredStanding {
    const id = String(row.id)
    return {
      id,
      principal: String(row.principal),
      server: String(row.server),
      agent: row.agent === null ? null : String(row.agent),
      method: String(row.method),
      name: String(row.name),
      asked: String(row.asked),
      pin: String(row.pin),
      terms: JSON.parse(this.#vault.open(`standing ${id}`, row.terms as Uint8Array)) as StoredTerms,
      by: JSON.parse(String(row.approved_by)) as string[],
      untilMs: Number(row.until),
      used: Number(row.used),
    }
  }

  list(nowMs: number): StandingApproval[] {
    const valid = [...this.#approvals.values()].filter((standing) => this.#holds(standing, nowMs))
    return valid.map(({ id, principal, server, name, terms, by, untilMs, used }) => {
      const bounds = this.#shown.get(terms) ?? maskBounds(terms)
      this.#shown.set(terms, bounds)
      return { id, principal, server, name, bounds, by, untilMs, used, calls: terms.calls ?? null }
    })
  }

  has(id: string, nowMs: number): boolean {
    const standing = this.#approvals.get(id)
    return standing !== undefined && this.#holds(standing, nowMs)
  }

  /** One that matches this call. */
  find(call: StandingMatch, nowMs: number): { id: string; by: readonly string[] } | undefined {
    let members: ReadonlyMap<string, string> | undefined
    for (const standing of this.#approvals.values()) {
      if (!SAME.every((part) => standing[part] === call[part])) continue
      if (standing.terms.rest !== call.rest) continue
      // Read once: a person may have approved a thousand calls like this one.
      members ??= readArguments(call.args)
      if (members === undefined) return undefined
      if (covers(standing.terms, members) && this.#holds(standing, nowMs)) return standing
    }
    return undefined
  }

  /** How often it may be used; undefined for no bound, 0 if it is over. */
  usesMax(id: string, nowMs: number): number | undefined {
    const standing = this.#approvals.get(id)
    return standing === undefined || !this.#holds(standing, nowMs) ? 0 : standing.terms.calls
  }

  /** Ends those whose approver was removed; returns their ids. */
  endGone(nowMs: number): string[] {
    const gone = [...this.#approvals.values()].filter(
      ({ untilMs, by, terms }) => untilMs > nowMs && !this.#isByApprovers(by, terms.atMs ?? nowMs),
    )
    for (const { id } of gone) this.end(id)
    return gone.map(({ id }) => id)
  }

  /** Ends those that were given after this time; returns their ids. */
  endAhead(latestMs: number): string[] {
    const ahead = [...this.#approvals.values()].filter(
      ({ untilMs, terms }) => (terms.atMs ?? untilMs - STANDING_MS_MAX) > latestMs,
    )
    for (const { id } of ahead) this.end(id)
    return ahead.map(({ id }) => id)
  }

  /**
   * For one call, counted on disk before it is forwarded; false if it has expired or is used up.
   */
  take(id: string, nowMs: number): boolean {
    const standing = this.#approvals.get(id)
    if (standing === undefined || !this.#holds(standing, nowMs)) return false
    this.#count(standing, 1)
    return true
  }

  /** The call that claimed it was not sent. */
  refund(id: string): void {
    const standing = this.#approvals.get(id)
    if (standing !== undefined && standing.used > 0) this.#count(standing, -1)
  }

  #count(standing: StoredStanding, by: 1 | -1): void {
    standing.used += by
    const sql = 'UPDATE approvals_standing SET used = ? WHERE id = ?'
    this.#database.prepare(sql).run(standing.used, standing.id)
  }

  /** Rejects an invalid bound before it is confirmed to the approver. */
  check(row: ApprovalRow, sent: SubmittedCall, { wanted, by, nowMs }: StandingRequest): () => void {
    const { rest, args } = sent
    if (!(wanted.forMs > 0 && wanted.forMs <= STANDING_MS_MAX))
      throw new OperationError(
        `an approval for ${wanted.forMs} ms cannot be given`,
        `more than nothing, at most ${STANDING_MS_MAX / 3_600_000} hours`,
      )
    const { calls } = wanted
    if (calls !== undefined && !(Number.isSafeInteger(calls) && calls > 0))
      throw new OperationError(`${calls} calls cannot be given`, 'a whole number, at least 1')
    this.#forgetOver(nowMs)
    if (this.#approvals.size >= STANDING_MAX)
      throw new OperationError(
        `${STANDING_MAX} standing approvals exist already`,
        'end some of them',
      )
    const members = canonicalMembers(args === '' ? '{}' : args)
    const bounds = Object.fromEntries(
      Object.entries(wanted.bounds ?? {}).map(([name, bound]) => {
        if (!members.has(name))
          throw new OperationError(
            `the call has no argument \`${name}\``,
            `it has ${[...members.keys()].map((key) => `\`${key}\``).join(', ') || 'none'}`,
          )
        return [name, checkBound(name, bound, members.get(name) as string)]
      }),
    )
    const exact = Object.fromEntries([...members].filter(([name]) => !Object.hasOwn(bounds, name)))
    const terms: StoredTerms = {
      atMs: nowMs,
      rest,
      exact,
      bounds,
      ...(calls === undefined ? {} : { calls }),
    }
    return () => this.#keep(row, terms, [by], nowMs + wanted.forMs)
  }

  end(id: string): boolean {
    this.#database.prepare('DELETE FROM approvals_standing WHERE id = ?').run(id)
    return this.#approvals.delete(id)
  }

  #holds({ untilMs, used, by, terms }: StoredStanding, nowMs: number): boolean {
    const isOver = untilMs <= nowMs || used >= (terms.calls ?? Number.POSITIVE_INFINITY)
    return !isOver && this.#isByApprovers(by, terms.atMs ?? nowMs)
  }

  #isByApprovers(by: readonly string[], givenMs: number): boolean {
    return by.every((name) => this.#isApprover(name, givenMs))
  }

  #keep(row: ApprovalRow, terms: StoredTerms, by: readonly string[], untilMs: number): void {
    const { principal, agent, server, method, name, asked, pin } = row
    const id = `${row.id}-while`
    const sealed = this.#vault.seal(`standing ${id}`, JSON.stringify(terms))
    this.#database
      .prepare('INSERT INTO approvals_standing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)')
      .run(
        id,
        principal.id,
        agent,
        server,
        method,
        name,
        asked,
        pin,
        sealed,
        JSON.stringify(by),
        untilMs,
      )
    const call = { principal: principal.id, agent, server, method, name, asked, pin }
    this.#approvals.set(id, { ...call, id, terms, by, untilMs, used: 0 })
  }

  #forgetOver(nowMs: number): void {
    for (const { id, untilMs } of [...this.#approvals.values()]) if (untilMs <= nowMs) this.end(id)
  }
}

/**
 * Where a bound with only an upper end starts: the author of `amount<=50` means amounts, and a
 * negative one may be a payment in the other direction.
 */
const LOWEST = '0'

const SAME = ['principal', 'agent', 'server', 'method', 'name', 'asked', 'pin'] as const

/** Undefined if it is not an object: it has no members either, and is still not a call without arguments. */
function readArguments(args: string): ReadonlyMap<string, string> | undefined {
  if (args === '') return new Map()
  return /^\s*\{/.test(args) ? canonicalMembers(args) : undefined
}

/** For display, without secrets. */
function maskBounds({ exact, bounds }: StoredTerms): Readonly<Record<string, ArgumentBound>> {
  const masked = Object.entries(exact).map(([key, text]) => {
    const shown = JSON.parse(maskText(`{${JSON.stringify(key)}:${text}}`).text) as object
    return [key, { oneOf: [JSON.stringify(Object.values(shown)[0])] }] as const
  })
  return { ...Object.fromEntries(masked), ...bounds }
}

function covers({ exact, bounds }: StoredTerms, members: ReadonlyMap<string, string>): boolean {
  for (const name of Object.keys(exact)) if (!members.has(name)) return false
  for (const [name, text] of members) {
    if (Object.hasOwn(exact, name)) {
      if (exact[name] !== text) return false
    } else if (!Object.hasOwn(bounds, name)) return false
    else if (!isWithin(bounds[name] as ArgumentBound, text)) return false
  }
  return Object.keys(bounds).every((name) => members.has(name))
}

function isWithin(bound: ArgumentBound, text: string): boolean {
  if ('any' in bound) return true
  if ('oneOf' in bound) return bound.oneOf.includes(text)
  const value = decimalIn(text)
  if (value === undefined) return false
  const { max } = bound
  const min = bound.min ?? (max === undefined ? undefined : LOWEST)
  if (min !== undefined && compareDecimal(value, decimalIn(min) as Decimal) < 0) return false
  return max === undefined || compareDecimal(value, decimalIn(max) as Decimal) <= 0
}

/** Canonical, and such that the call itself is within it. */
function checkBound(name: string, bound: ArgumentBound, own: string): ArgumentBound {
  const wrong = (what: string): OperationError =>
    new OperationError(`the bound of \`${name}\` ${what}`, 'give `min` and `max`, `oneOf` or `any`')
  let read: ArgumentBound
  if ('any' in bound && bound.any === true) read = { any: true }
  else if ('oneOf' in bound && Array.isArray(bound.oneOf)) {
    if (bound.oneOf.length === 0 || bound.oneOf.length > STANDING_VALUES_MAX)
      throw wrong(`lists none, or more than ${STANDING_VALUES_MAX} values`)
    read = { oneOf: bound.oneOf.map((text) => canonicalOr(text, () => wrong('is not JSON'))) }
  } else {
    const { min, max } = bound as { min?: string; max?: string }
    if (min === undefined && max === undefined) throw wrong('is none')
    for (const side of [min, max])
      if (side !== undefined && decimalIn(side) === undefined) throw wrong('is not a number')
    read = max === undefined ? { min: min as string } : { min: min ?? LOWEST, max }
    if (min === undefined && !isWithin(read, own))
      throw new OperationError(
        `the bound of \`${name}\` has no lower end and therefore begins at ${LOWEST}, which leaves out the call that is decided`,
        `write the lower end too, such as \`${name}>=${own}\``,
      )
  }
  if (!isWithin(read, own)) throw wrong('leaves out the call that is decided')
  return read
}

function canonicalOr(text: string, refused: () => OperationError): string {
  try {
    return toCanonicalJsonText(text)
  } catch {
    throw refused()
  }
}

function decimalIn(text: string): Decimal | undefined {
  return /^-?\d/.test(text) ? toDecimal(new ExactNumber(text)) : undefined
}
