// The state that gates share: rows of SQLite tables at every gate, kept equal through PostgreSQL. A change
// at this gate is committed there before a call is admitted by it; a change at another gate is applied here
// before the next call is admitted, because admission compares versions. If two gates change one row at the
// same time, the first one counts, and the second is told. Opened by gateway/start/open-shared-store.ts.

import { Listeners } from '@sluice/policy/structures/listeners'
import { OutageError } from '@sluice/policy/structures/operation-error'
import { StoreError } from '../errors.ts'
import { CHANGED_LENGTH_MAX, SHARED_POLL_MS } from '../limits.ts'
import { isOutage } from '../outage.ts'
import { type MirroredRow, MirroredTables } from '../sqlite/mirrored-tables.ts'
import type { SharedRows } from './shared-rows.ts'
import { refusesWrites } from './statements.ts'

/** Tables of which no two rows belong together. */
const SINGLE_ROWS: ReadonlySet<string> = new Set(['pins', 'refusals', 'logins', 'names'])

/** Tables of which a row that this gate writes stays when another gate removes it at the same time: a freeze applies at
 * once, and who thawed it there meant an earlier one. */
const KEPT_ROWS: ReadonlySet<string> = new Set(['freezes'])

/** Whether calls are decided by a table: see ADMIT in schema.ts. */
const isDeciding = ({ kind }: Pick<MirroredRow, 'kind'>): boolean =>
  kind !== 'logins' && kind !== 'names'

/** Of a change while the store stopped answering. */
const UNKNOWN = 'it is unknown whether this is changed'

export class SharedState {
  readonly tables: MirroredTables
  readonly #applied = new Listeners<[rows: readonly MirroredRow[]]>()
  readonly #moved = new Listeners()
  readonly #fault = new Listeners<[why: string | undefined]>()
  /** After rows of other gates were applied; throws if they cannot be used. */
  readonly onApplied = this.#applied.subscribe
  /** After the version has changed. */
  readonly onMoved = this.#moved.subscribe
  /** `why` is undefined when the fault is over. */
  readonly onFault = this.#fault.subscribe
  readonly #rows: SharedRows
  /** Rows that this gate has changed, and the number of the change. */
  readonly #dirty = new Map<string, number>()
  /** Tables whose rows were replaced by those of another gate, one entry each time. */
  readonly #lost: string[] = []
  #changes = 0
  #stamp = 0
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #soon: NodeJS.Immediate | undefined
  #whyUnread: string | undefined
  #whyUnwritten: string | undefined

  constructor(rows: SharedRows) {
    this.#rows = rows
    this.tables = new MirroredTables((kind, key) => {
      this.#mark({ kind, key })
      // After the transaction that it is part of.
      this.#soon ??= setImmediate(() => {
        this.#soon = undefined
        void this.settle().catch(() => {})
      })
    })
  }

  /** Of the shared store, as far as this gate knows it. */
  get version(): number {
    return this.#rows.version
  }

  /** Rises with every change that counts for decisions, here and elsewhere: a decision is by the state of one
   * stamp. */
  get stamp(): number {
    return this.#stamp
  }

  /** Why other gates' changes cannot be applied, or the changes of this gate cannot be stored. */
  get why(): string | undefined {
    return this.#whyUnread ?? this.#whyUnwritten
  }

  /** Everything that the shared store has, in place of what the tables had. The first gate of an empty
   * store gives it what it has. */
  load(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#rows.readNews((rows) => {
        this.tables.clear()
        this.tables.apply(rows)
      })
      if (this.version > 0) return
      for (const row of this.tables.readAll()) this.#mark(row)
    })
  }

  startPolling(): void {
    this.#timer = setInterval(() => {
      void this.catchUp()
        .then(() => this.settle())
        .catch(() => {})
    }, SHARED_POLL_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    clearImmediate(this.#soon)
  }

  /** Applies what other gates have changed. */
  catchUp(): Promise<void> {
    return this.#inTurn(async () => this.#noteLost(await this.#read()))
  }

  /** Resolves when every change of this gate is committed, or replaced by that of another gate. */
  settle(): Promise<void> {
    return this.#dirty.size === 0 ? Promise.resolve() : this.#inTurn(() => this.#commit())
  }

  /** Before a person changes something. What it returns is the same as `settle`, and rejects if another
   * gate has changed the same in between. */
  beginChange(): () => Promise<void> {
    const before = this.#lost.length
    return async () => {
      await this.#turn
      await this.settle().catch((error) => {
        throw isOutage(error)
          ? new OutageError(UNKNOWN, 'look at it when the store answers')
          : error
      })
      const lost = this.#lost.slice(before)
      if (lost.length === 0) return
      throw new StoreError(
        'STORE_CONFLICT',
        `another gate changed the same at the same time: ${lost.join(', ')}`,
        'look at what holds now, and try again',
      )
    }
  }

  #mark({ kind, key }: Pick<MirroredRow, 'kind' | 'key'>): void {
    this.#dirty.set(JSON.stringify([kind, key]), ++this.#changes)
    if (isDeciding({ kind })) this.#stamp++
  }

  async #commit(): Promise<void> {
    while (this.#dirty.size > 0) {
      const { taken, rows } = this.#take()
      try {
        await this.#rows.change(rows)
        this.#whyUnwritten = undefined
        for (const [name, change] of taken)
          if (this.#dirty.get(name) === change) this.#dirty.delete(name)
        this.#moved.emit()
      } catch (error) {
        const { code, message } = error as Error & { code?: string }
        // Calls wait for this change, so a database that refuses it admits none.
        if (refusesWrites(code)) this.#whyUnwritten = message
        if (code !== 'SL001') throw error
        this.#noteLost(await this.#read())
      }
    }
  }

  /** What is committed next. A server may list thousands of tools: their rows, which stand for themselves,
   * go in parts; all other rows together. */
  #take(): { readonly taken: readonly [string, number][]; readonly rows: readonly MirroredRow[] } {
    const taken: [string, number][] = []
    const rows: MirroredRow[] = []
    let length = 0
    for (const entry of this.#dirty) {
      const [kind, key] = JSON.parse(entry[0]) as [string, string]
      if (length > CHANGED_LENGTH_MAX && SINGLE_ROWS.has(kind)) continue
      const row = this.tables.read(kind, key)
      length += key.length + (row.body?.length ?? 0)
      taken.push(entry)
      rows.push(row)
    }
    return { taken, rows }
  }

  /** The tables whose rows were changed here too: the first change counts. */
  async #read(): Promise<string[]> {
    const lost: string[] = []
    const before = this.version
    try {
      await this.#rows.readNews((found, again) => {
        for (const row of again) this.#mark(row)
        const rows = found.filter((row) => !this.#isKept(row))
        for (const row of rows) {
          const name = JSON.stringify([row.kind, row.key])
          if (!this.#dirty.delete(name)) continue
          if (this.tables.read(row.kind, row.key).body !== row.body) lost.push(row.kind)
        }
        if (rows.some(isDeciding)) this.#stamp++
        this.tables.apply(rows)
        this.#applied.emit(rows)
      })
      this.#report(undefined)
      if (this.version !== before) this.#moved.emit()
    } catch (error) {
      this.#report((error as Error).message)
      throw error
    }
    return lost
  }

  #isKept({ kind, key, body }: MirroredRow): boolean {
    if (body !== null || !KEPT_ROWS.has(kind)) return false
    const isChanged = this.#dirty.has(JSON.stringify([kind, key]))
    return isChanged && this.tables.read(kind, key).body !== null
  }

  #noteLost(tables: readonly string[]): void {
    for (const table of tables) this.#lost.push(table)
  }

  #report(why: string | undefined): void {
    if (why === this.#whyUnread) return
    this.#whyUnread = why
    this.#fault.emit(why)
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => {})
    return mine
  }
}
