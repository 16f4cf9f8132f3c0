// The grants of an installation: those in its store and those fixed in sluice.yaml. Commands add
// and revoke them; a running gate checks for changes by another process, which costs a few
// microseconds, and so sees them with the next request. A grant may have an end.

import {
  BYTES,
  createRowReader,
  FLAG,
  json,
  NUMBER,
  nullable,
  type StoredRow,
  TEXT,
} from '@sluice/ledger/store/read-row'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import { IdentityError } from '../errors.ts'
import { IdentityFile } from '../identity-file.ts'
import { GRANTS_MAX, LAST_USED_EVERY_MS, LAST_USES_STORED_MAX } from '../limits.ts'
import {
  type FixedGrant,
  type Grant,
  type GrantTerms,
  hasGrantEnded,
  hashGrantToken,
  isGrantValid,
  makeToken,
  matchesGrant,
  toGrantId,
} from './grant.ts'

/** Members of a grant that the table has no column for: computed, or for grants of sluice.yaml only. */
type NotStored = 'id' | 'isFixed' | 'windowMs' | 'hooks' | 'acs'

/** The column of each other member. A new member of `Grant` does not compile until it has one. */
const COLUMNS: Readonly<Record<Exclude<keyof Grant, NotStored>, string>> = {
  hash: 'hash',
  name: 'name',
  policy: 'policy',
  slots: 'slots',
  groups: 'groups',
  explain: 'explain',
  canSayPrompt: 'says_prompt',
  createdMs: 'created_ms',
  lastUsedMs: 'last_used_ms',
  untilMs: 'until_ms',
  // Of a grant that was not revoked, `revoked_ms` is its end: see identity-file.ts.
  revokedMs: 'nullif(revoked_ms, until_ms)',
}

const KEPT = `SELECT ${Object.entries(COLUMNS)
  .map(([name, sql]) => `${sql} AS ${name}`)
  .join()} FROM grants ORDER BY created_ms, name`

/** The stored members of a grant. */
const readStored = createRowReader<Required<Omit<Grant, NotStored>>>({
  hash: { read: (value) => Buffer.from(BYTES.read(value)) },
  name: TEXT,
  policy: TEXT,
  slots: NUMBER,
  groups: json(),
  explain: FLAG,
  canSayPrompt: FLAG,
  createdMs: nullable(NUMBER),
  lastUsedMs: nullable(NUMBER),
  untilMs: nullable(NUMBER),
  revokedMs: nullable(NUMBER),
})

/** Unless the name has a valid grant. */
const ADD = `INSERT INTO grants (hash, name, policy, slots, groups, explain, says_prompt, created_ms, until_ms, revoked_ms)
  SELECT :hash, :name, :policy, :slots, :groups, :explain, :prompt, :now, :until, :until
  WHERE NOT EXISTS (SELECT 1 FROM grants WHERE name = :name AND nullif(revoked_ms, until_ms) IS NULL
    AND (until_ms IS NULL OR until_ms > :now))`
/** Never at the very time of its end, which would look like a grant that was not revoked. Those that have
 * ended are marked too, see `getRevocationMs`. */
const REVOKE = `UPDATE grants SET revoked_ms = :now - (until_ms IS :now)
  WHERE name = :name AND nullif(revoked_ms, until_ms) IS NULL`

export class Grants {
  readonly file: IdentityFile
  readonly #fixed: readonly Grant[]
  readonly #used = new Map<string, { atMs: number; writtenMs: number }>()
  #all: readonly Grant[] = []
  /** The terms of the grants, for comparison: without the time of last use. */
  #terms = ''
  #byId = new Map<string, Grant>()

  private constructor(directory: string, fixed: readonly FixedGrant[]) {
    this.file = new IdentityFile(directory)
    this.#fixed = fixed.map(asGrant)
    this.refresh()
  }

  static open(directory: string, fixed: readonly FixedGrant[] = []): Grants {
    return new Grants(directory, fixed)
  }

  /**
   * True if another process has changed grants. Throws if the file cannot be read: then no caller
   * is authenticated.
   */
  refresh(): boolean {
    const before = this.#terms
    this.file.ifChanged(() => this.#read())
    return this.#terms !== before
  }

  /** The fixed ones first, then by age; including revoked ones. */
  list(): readonly Grant[] {
    return this.#all
  }

  /**
   * Whether any grant for callers exists or existed: revoking the last one must not open the gate to
   * the local user. One for hooks is the local user's own, and one for ACS opens nothing that the local user needs.
   */
  get exist(): boolean {
    return this.#all.some(({ acs, hooks }) => hooks === undefined && acs === undefined)
  }

  /** Finds also a grant that has ended: its caller is told so. */
  find(token: string): Grant | undefined {
    const digest = hashGrantToken(token)
    if (digest === undefined) return undefined
    const grant = this.#byId.get(toGrantId(digest))
    return grant !== undefined && matchesGrant(grant, digest) ? grant : undefined
  }

  /** The grant of an agent of ACS; also one that has ended. */
  findAcs(name: string): Grant | undefined {
    return this.#all.find((one) => one.name === name && one.acs !== undefined)
  }

  /** Whether a valid grant has this name. */
  hasValid(name: string, nowMs: number): boolean {
    return this.#all.some((one) => one.name === name && isGrantValid(one, nowMs))
  }

  /** Names of the valid ones. */
  validNames(nowMs: number): string[] {
    return this.#all.filter((one) => isGrantValid(one, nowMs)).map(({ name }) => name)
  }

  /** When the next one ends by itself; infinite if none does. */
  nextEndMs(nowMs: number): number {
    const valid = this.#all.filter((one) => isGrantValid(one, nowMs))
    return Math.min(...valid.map(({ untilMs }) => untilMs ?? Number.POSITIVE_INFINITY))
  }

  /** When it was last used, also if that is not stored yet. */
  lastUseMs({ id, lastUsedMs }: Grant): number | null {
    return this.#used.get(id)?.atMs ?? lastUsedMs
  }

  /** Whether it was not revoked, and was not even read again. */
  isCurrent(grant: Grant): boolean {
    return this.#byId.get(grant.id) === grant
  }

  /** Whether this grant is still valid and unchanged. */
  holds(grant: Grant, nowMs: number): boolean {
    const now = this.#byId.get(grant.id)
    return now !== undefined && !hasGrantEnded(now, nowMs) && sameTerms(now, grant)
  }

  /** From now on only the caller has the token. */
  add(request: GrantTerms, nowMs: number): { grant: Grant; token: string } {
    const { name, policy, slots, groups, explain, canSayPrompt = false, untilMs = null } = request
    if (this.hasValid(name, nowMs)) throw createNameError(name)
    if (this.#all.length >= GRANTS_MAX)
      throw new IdentityError(
        'GRANT_LIMIT',
        `there are ${GRANTS_MAX} grants, the revoked ones too`,
        '`sluice grants revoke NAME --forget` makes room',
      )
    const token = makeToken()
    const digest = hashGrantToken(token) as Buffer
    const row = {
      hash: digest,
      name,
      policy,
      slots,
      groups: JSON.stringify(groups),
      now: nowMs,
      explain: Number(explain),
      prompt: Number(canSayPrompt),
      until: untilMs,
    }
    const added = this.file.run(ADD, row)
    this.#read()
    // Another process was faster.
    if (added === 0) throw createNameError(name)
    return { grant: this.#byId.get(toGrantId(digest)) as Grant, token }
  }

  /** Revokes also a grant that has ended: the clock may be ahead. Returns undefined if there is none to revoke. */
  revoke(name: string, nowMs: number): Grant | undefined {
    const open = this.#all.filter(
      (one) => one.name === name && one.revokedMs === null && !one.isFixed,
    )
    const grant = open.find((one) => isGrantValid(one, nowMs)) ?? open[0]
    if (grant === undefined) return undefined
    this.file.run(REVOKE, { name, now: nowMs })
    this.#read()
    return grant
  }

  /** Deletes every grant of this name from the store; returns how many there were. */
  forget(name: string): number {
    const forgotten = this.file.run('DELETE FROM grants WHERE name = ?', name)
    this.#read()
    return forgotten
  }

  used({ id, isFixed }: Grant, nowMs: number): void {
    if (isFixed) return
    const used = this.#used.get(id)
    if (used === undefined) this.#used.set(id, { atMs: nowMs, writtenMs: 0 })
    else used.atMs = nowMs
  }

  /** Stores when grants were last used, some at a time. Informational only: a failure is ignored. */
  storeLastUse(everyMs: number = LAST_USED_EVERY_MS, most: number = LAST_USES_STORED_MAX): void {
    const due: (readonly [grant: Grant, used: { atMs: number; writtenMs: number }])[] = []
    for (const [id, used] of this.#used) {
      if (due.length === most) break
      const grant = used.atMs - used.writtenMs < everyMs ? undefined : this.#byId.get(id)
      if (grant !== undefined) due.push([grant, used])
    }
    if (due.length === 0) return
    try {
      const update = 'UPDATE grants SET last_used_ms = ? WHERE hash = ?'
      inTransaction(this.file.database, () => {
        for (const [{ hash }, { atMs }] of due) this.file.run(update, atMs, hash)
      })
      for (const [, used] of due) used.writtenMs = used.atMs
    } catch {}
  }

  close(): void {
    if (this.file.database.isOpen) this.storeLastUse(1, GRANTS_MAX)
    this.file.close()
  }

  #read(): void {
    const stored = this.file.all(KEPT).map(toGrant)
    this.#all = [...this.#fixed, ...stored]
    const live = this.#all.filter(({ revokedMs }) => revokedMs === null)
    this.#byId = new Map(live.map((grant) => [grant.id, grant]))
    // A buffer as JSON is a list of numbers.
    const terms = this.#all.map(({ lastUsedMs: _, hash, ...rest }) => [rest, hash.toString('hex')])
    this.#terms = JSON.stringify(terms)
  }
}

function createNameError(name: string): IdentityError {
  const help = 'take another name, or revoke that one first'
  return new IdentityError('GRANT_TAKEN', `\`${name}\` has a grant already`, help)
}

function asGrant(fixed: FixedGrant): Grant {
  const never = { createdMs: null, lastUsedMs: null, revokedMs: null }
  return { ...fixed, ...never, id: toGrantId(fixed.hash), isFixed: true }
}

function toGrant(row: StoredRow): Grant {
  const stored = readStored(row)
  return { ...stored, id: toGrantId(stored.hash), isFixed: false }
}

function sameTerms(one: Grant, other: Grant): boolean {
  return (
    one.policy === other.policy &&
    one.slots === other.slots &&
    one.windowMs === other.windowMs &&
    one.explain === other.explain &&
    one.canSayPrompt === other.canSayPrompt &&
    (one.untilMs ?? null) === (other.untilMs ?? null) &&
    one.groups.join(',') === other.groups.join(',')
  )
}
