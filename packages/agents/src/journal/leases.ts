// Which families of agents this process runs. It has one lease in the shared store and renews it; a family
// belongs to the lease in its row. A lease that was not renewed is removed by another gate, after which the
// transactions of its owner find no lease and write nothing, and its families are free for others to take. After a
// failover no lease is valid: each process takes its own again and reads its agents again, since steps may be lost.

import {
  AGENT_BEAT_MS,
  AGENT_FAMILIES_TAKEN_MAX,
  AGENT_LEASE_MS,
} from '@sluice/ledger/store/limits'
import type { BlockingStatement, SqlRows } from '@sluice/ledger/store/postgres/blocking-connection'
import { TIMELINE } from '@sluice/ledger/store/postgres/statements'

interface LeaseDatabase {
  transact(statements: readonly BlockingStatement[]): readonly SqlRows[]
  /** The journal is in a transaction that has begun. */
  hasBegun(): boolean
}

export interface TakenLease {
  /** This process had lost its lease, and with it all its agents. */
  readonly wasFenced: boolean
  /** Agents with something under way whose gate is gone; they are this one's now. */
  readonly agents: readonly string[]
}

const IS_FREE = 'NOT EXISTS (SELECT 1 FROM leases l WHERE l.lease = f.lease)'

export class AgentLeases {
  /** The lease of this process. */
  readonly lease: string
  readonly #gate: string
  readonly #database: LeaseDatabase
  readonly #families = new Set<number>()
  /** When the lease was renewed, by the monotonic clock of this process. */
  #renewedAtMs = performance.now()
  #patientUntilMs = Number.NEGATIVE_INFINITY

  constructor(
    { gate, lease }: { readonly gate: string; readonly lease: string },
    database: LeaseDatabase,
  ) {
    if (!/^[0-9a-f-]{36}$/.test(lease)) throw new Error('the lease is not a UUID')
    this.#gate = gate
    this.lease = lease
    this.#database = database
  }

  get #isValid(): string {
    return `lease = '${this.lease}' AND timeline = ${TIMELINE}`
  }

  /** Fails if the lease is gone; keeps it from being removed until the transaction ends. */
  get fence(): BlockingStatement {
    const held = `SELECT 1 FROM leases WHERE ${this.#isValid} FOR SHARE`
    return { text: `SELECT 1 / count(*) FROM (${held}) AS held` }
  }

  /** After the database was away, every lease looks expired: the others have time to renew theirs. One from the
   * future was renewed before the clock of the database was set back. */
  get #expired(): string {
    const isPatient = performance.now() < this.#patientUntilMs
    const most = `interval '${AGENT_LEASE_MS} ms'`
    return isPatient ? 'false' : `l.beat_at NOT BETWEEN now() - ${most} AND now() + ${most}`
  }

  /** Waits for the transaction of its owner, if there is one. */
  get #removeExpired(): BlockingStatement {
    const other = `l.lease <> '${this.lease}'`
    return { text: `DELETE FROM leases l WHERE ${this.#expired} AND ${other}` }
  }

  #renewed(): void {
    const nowMs = performance.now()
    if (nowMs - this.#renewedAtMs > AGENT_LEASE_MS / 2)
      this.#patientUntilMs = nowMs + 2 * AGENT_BEAT_MS
    this.#renewedAtMs = nowMs
  }

  has(family: number): boolean {
    return this.#families.has(family)
  }

  add(family: number): void {
    this.#families.add(family)
  }

  /** Takes the lease, or takes it again: a family that no other gate has taken meanwhile is still its own.
   * An earlier process of the same name is fenced. */
  enter(): void {
    const values = [this.#gate]
    const mine = `lease = '${this.lease}'`
    const results = this.#database.transact([
      { text: `DELETE FROM leases WHERE gate = $1 AND NOT ${mine}`, values },
      {
        text: `INSERT INTO leases (lease, gate, timeline)
          VALUES ('${this.lease}', $1, ${TIMELINE})
          ON CONFLICT (lease) DO UPDATE SET beat_at = now(), timeline = excluded.timeline`,
        values,
      },
      { text: `SELECT family FROM families WHERE ${mine}` },
    ])
    this.#families.clear()
    for (const { family } of results[2] ?? []) this.#families.add(Number(family))
  }

  release(): void {
    this.#families.clear()
    this.#database.transact([{ text: `DELETE FROM leases WHERE lease = '${this.lease}'` }])
  }

  /** False if another gate runs the family. */
  acquireFamily(family: number): boolean {
    return this.#acquire('f.family = $1', family) === undefined && this.#families.has(family)
  }

  /** The name of the gate that runs the agent; empty if that is not known yet, undefined if it is this one from now on. */
  acquireAgent(id: string): string | undefined {
    const condition = 'f.family = (SELECT family FROM agents WHERE id = $1)'
    return this.#acquire(condition, id)
  }

  #acquire(condition: string, value: string | number): string | undefined {
    const find = ():
      | { family: number; lease: string | null; holder: string | null }
      | undefined => {
      const [rows] = this.#database.transact([
        {
          text: `SELECT f.family, f.lease, l.gate AS holder FROM families f
            LEFT JOIN leases l
              ON l.lease = f.lease AND NOT (${this.#expired})
            WHERE ${condition}`,
          values: [value],
        },
      ])
      return rows?.[0] as ReturnType<typeof find>
    }
    let row = find()
    // A family taken in a transaction that is rolled back would not be this gate's.
    if (row?.holder === null && !this.#database.hasBegun()) {
      this.#transactFenced([
        this.#removeExpired,
        {
          text: `UPDATE families f SET lease = '${this.lease}'
            WHERE ${condition} AND (f.lease IS NULL OR ${IS_FREE})`,
          values: [value],
        },
      ])
      row = find()
    }
    if (row === undefined) return undefined
    if (row.lease !== this.lease) return row.holder ?? ''
    this.#families.add(row.family)
    return undefined
  }

  /** Renews the lease, and takes over what is under way and belongs to nobody. */
  takeOver(nowMs: number): TakenLease {
    const beat = `UPDATE leases SET beat_at = now() WHERE ${this.#isValid} RETURNING 1`
    const [renewed = []] = this.#database.transact([{ text: beat }])
    this.#renewed()
    const wasFenced = renewed.length === 0
    if (wasFenced) this.enter()
    const results = this.#transactFenced([
      this.#removeExpired,
      {
        text: `WITH open AS (
            SELECT a.family FROM effects e JOIN agents a ON a.agent = e.agent
            UNION
            SELECT family FROM agents WHERE wake_at <= $1
            UNION
            SELECT a.family FROM schedules s JOIN agents a ON a.agent = s.agent WHERE s.next_at <= $1
          ), free AS (
            SELECT f.family FROM families f JOIN open o ON o.family = f.family
            WHERE f.lease IS NULL OR ${IS_FREE}
            LIMIT ${AGENT_FAMILIES_TAKEN_MAX} FOR UPDATE OF f SKIP LOCKED
          ), taken AS (
            UPDATE families f SET lease = '${this.lease}'
            FROM free WHERE f.family = free.family RETURNING f.family
          )
          SELECT t.family, a.id FROM taken t JOIN agents a ON a.family = t.family`,
        values: [nowMs],
      },
    ])
    const rows = results.at(-1) ?? []
    for (const { family } of rows) this.#families.add(Number(family))
    return { wasFenced, agents: rows.map(({ id }) => String(id)) }
  }

  /** Runs statements only while the lease is held, so that a process that has lost it takes nothing. */
  #transactFenced(statements: readonly BlockingStatement[]): readonly SqlRows[] {
    try {
      return this.#database.transact([this.fence, ...statements])
    } catch (error) {
      // Another gate has something of it locked: it is tried again.
      if ((error as { code?: string }).code === '55P03') return []
      throw error
    }
  }
}
