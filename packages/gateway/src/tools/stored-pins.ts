// The accepted definitions in gate.db, with what their servers told the model beside them: the only writer of
// the table. Used by pins.ts, and by the operation that accepts without a gate.

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite'
import { INSTRUCTIONS } from '@sluice/catalogue/pins/pin'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import { prepareAll } from '@sluice/ledger/store/sqlite/prepare'
import { type KnownTool, type ToolDefinition, toToolKey } from '@sluice/policy/calls/tools'

export interface AcceptedDefinition {
  readonly digest: string
  readonly definition: ToolDefinition | undefined
  /** The instructions of its server at that time; undefined if they were not known. */
  readonly instructions?: string
  /** When it was first accepted, by `steadyMs`; 0 if that was before this start. */
  readonly atMs: number
}

/** What is stored of an accepted definition, beside the tool. */
export interface StoredPin extends Pick<AcceptedDefinition, 'digest' | 'instructions'> {
  /** When it was accepted, by the clock of the system: `steadyMs` means nothing after a restart. */
  readonly acceptedAtMs: number
}

const STATEMENTS = {
  readAll: 'SELECT server, name, digest, definition FROM pins',
  read: 'SELECT server, name, digest, definition FROM pins WHERE server = ? AND name = ?',
  put: `INSERT OR REPLACE INTO pins (server, name, digest, definition, category, risk, at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  decided: `SELECT 1 FROM pins WHERE digest = ?1
    UNION ALL SELECT 1 FROM refusals WHERE digest = ?1`,
} as const

export class StoredPins {
  readonly #store: DatabaseSync
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>
  readonly #onFault: (count: number, why: string) => void
  #waiting: SQLInputValue[][] = []

  /** `onFault`: so many pins were not stored. */
  constructor(store: DatabaseSync, onFault: (count: number, why: string) => void) {
    this.#store = store
    this.#onFault = onFault
    this.#statements = prepareAll(store, STATEMENTS)
  }

  /** Reads all accepted definitions, by `toToolKey`. */
  readAll(): Map<string, AcceptedDefinition> {
    this.#flush()
    return new Map(this.#statements.readAll.all().map(toEntry))
  }

  read(server: string, name: string): AcceptedDefinition | undefined {
    this.#flush()
    const row = this.#statements.read.get(server, name)
    return row === undefined ? undefined : toEntry(row)[1]
  }

  /**
   * Stored before the event loop goes on, in one transaction with the other pins of this slice of a
   * list: one for each took a fifth of the first list of a large server.
   */
  put({ definition, category, risk }: KnownTool, pin: StoredPin): void {
    const { server, name } = definition
    const text = JSON.stringify(withInstructions(definition, pin.instructions, true))
    const values = [server, name, pin.digest, text, category, risk, pin.acceptedAtMs]
    if (this.#store.isTransaction) this.#write([values])
    else if (this.#waiting.push(values) === 1) queueMicrotask(() => this.#flush())
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length > 0) this.#write(waiting)
  }

  #write(pins: readonly SQLInputValue[][]): void {
    const write = () => {
      for (const values of pins) this.#statements.put.run(...values)
    }
    try {
      if (this.#store.isTransaction) write()
      else inTransaction(this.#store, write)
    } catch (error) {
      this.#onFault(pins.length, (error as Error).message)
    }
  }

  /** Whether a person, at any gate, has accepted or refused the definition with this digest. */
  isDecided(digest: string): boolean {
    this.#flush()
    return this.#statements.decided.get(digest) !== undefined
  }

  inOne(work: () => void): void {
    this.#flush()
    inTransaction(this.#store, work)
  }
}

/** The definition together with its server's instructions, for callers that compare or store both. */
export function withInstructions(
  definition: ToolDefinition,
  instructions: string | undefined,
  isKept = false,
): ToolDefinition {
  const says = instructions !== undefined && (isKept || instructions !== '')
  return says ? ({ ...definition, [INSTRUCTIONS]: instructions } as ToolDefinition) : definition
}

function toEntry(row: Record<string, SQLOutputValue>): [string, AcceptedDefinition] {
  const { [INSTRUCTIONS]: instructions, ...definition } = JSON.parse(
    String(row.definition),
  ) as ToolDefinition & { [INSTRUCTIONS]?: string }
  const extra = instructions === undefined ? {} : { instructions }
  const pin = { digest: String(row.digest), definition, ...extra, atMs: 0 }
  return [toToolKey(String(row.server), String(row.name)), pin]
}
