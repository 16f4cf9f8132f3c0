// Standing approvals: calls like one that a person approved pass without a new request. Each lists
// every argument, with its exact value or the bound that the approver gave; any other argument,
// tool, principal, definition or rule is a different call. They satisfy `require_approval` and
// nothing else.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { CalledName } from '@sluice/ledger/records/call-title'
import { STANDING_END } from '@sluice/ledger/records/record'
import type { Vault } from '@sluice/ledger/store/vault'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { ArgumentBound, StandingApproval, StandingTerms } from './approval.ts'
import type { SubmittedCall } from './approval-registry.ts'
import { type ArgumentTexts, checkBound, isCovered } from './argument-bounds.ts'
import { isShellTool } from './command-line.ts'
import { canonicalMembers } from './json-text.ts'
import { STANDING_MAX, STANDING_MS_MAX } from './limits.ts'
import { maskText } from './mask-text.ts'
import type { ApprovalRow } from './requests.ts'

/** Which calls a standing approval is for, whatever their arguments. */
interface StandingSubject extends CalledName {
  readonly agent: string | null
  readonly principal: string
  readonly asked: string
  readonly pin: string
}

/** What a call is matched with. */
export interface StandingMatch extends StandingSubject {
  /** Canonical text of every member of `params` except `_meta` and `arguments`. */
  readonly rest: string
  /** The text of the arguments; empty if there are none. */
  readonly args: string
  readonly session: string
}

interface StoredTerms {
  /** When it was given, and how often it may be used. */
  readonly atMs?: number
  readonly calls?: number
  /** The only session that may use it. */
  readonly session?: string
  /** What a call has to have beside its arguments; for one session `toSessionRest`. */
  readonly rest: string
  /** Canonical text of each argument without a bound. */
  readonly exact: Readonly<Record<string, string>>
  readonly bounds: Readonly<Record<string, ArgumentBound>>
}

interface StoredStanding extends StandingSubject {
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
      const { calls = null, session = null } = terms
      return { id, principal, server, name, bounds, by, untilMs, used, calls, session }
    })
  }

  has(id: string, nowMs: number): boolean {
    const standing = this.#approvals.get(id)
    return standing !== undefined && this.#holds(standing, nowMs)
  }

  /** One that matches this call. */
  find(call: StandingMatch, nowMs: number): { id: string; by: readonly string[] } | undefined {
    let members: ArgumentTexts | undefined
    for (const standing of this.#approvals.values()) {
      if (!SAME.every((part) => standing[part] === call[part])) continue
      const { session, rest } = standing.terms
      if (rest !== (session === undefined ? call.rest : toSessionRest(call))) continue
      // Read once: a person may have approved a thousand calls like this one.
      members ??= readArguments(call.args)
      if (members === undefined) return undefined
      if (isCovered(members, standing.terms) && this.#holds(standing, nowMs)) return standing
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
    const isShell = isShellTool(row.name)
    const bounds = Object.fromEntries(
      Object.entries(wanted.bounds ?? {}).map(([name, bound]) => {
        if (!members.has(name))
          throw new OperationError(
            `the call has no argument \`${name}\``,
            `it has ${[...members.keys()].map((key) => `\`${key}\``).join(', ') || 'none'}`,
          )
        return [name, checkBound(name, bound, { members, bounds: wanted.bounds ?? {}, isShell })]
      }),
    )
    const exact = Object.fromEntries([...members].filter(([name]) => !Object.hasOwn(bounds, name)))
    const terms: StoredTerms = {
      atMs: nowMs,
      rest: wanted.session === true ? toSessionRest({ rest, session: row.session }) : rest,
      exact,
      bounds,
      ...(calls === undefined ? {} : { calls }),
      ...(wanted.session === true ? { session: row.session } : {}),
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
    const id = `${row.id}${STANDING_END}`
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

const SAME = ['principal', 'agent', 'server', 'method', 'name', 'asked', 'pin'] as const

/** Returns undefined if the text is no object: it has no members either, and is still not a call without
 * arguments. */
function readArguments(args: string): ArgumentTexts | undefined {
  if (args === '') return new Map()
  return /^\s*\{/.test(args) ? canonicalMembers(args) : undefined
}

/** Makes the bounds as they are displayed, without secrets. */
function maskBounds({ exact, bounds }: StoredTerms): Readonly<Record<string, ArgumentBound>> {
  const masked = Object.entries(exact).map(([key, text]) => {
    const shown = JSON.parse(maskText(`{${JSON.stringify(key)}:${text}}`).text) as object
    return [key, { oneOf: [JSON.stringify(Object.values(shown)[0])] }] as const
  })
  return { ...Object.fromEntries(masked), ...bounds }
}

/** `rest` of an approval for one session. No call has it at a gate of a version without them. */
function toSessionRest({ rest, session }: Pick<StandingMatch, 'rest' | 'session'>): string {
  return `in session ${session}: ${rest}`
}
