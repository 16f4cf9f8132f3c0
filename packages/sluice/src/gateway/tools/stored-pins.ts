// The accepted definitions in gate.db, with what their servers told the model beside them. Used by
// pins.ts alone.

import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { type KnownTool, type ToolDefinition, toToolKey } from '@sluice/policy/core/tools'
import { INSTRUCTIONS } from '../../catalogue/pins/pin.ts'
import { inTransaction } from '../../store/sqlite/in-transaction.ts'
import { prepareAll } from '../../store/sqlite/prepare.ts'

export interface AcceptedDefinition {
  readonly digest: string
  readonly definition: ToolDefinition | undefined
  /** Of its server at that time; undefined if they were not known. */
  readonly instructions?: string
  /** When it was first accepted, by `steadyMs`; 0 if that was before this start. */
  readonly atMs: number
}

const STATEMENTS = {
  readAll: 'SELECT server, name, digest, definition FROM pins',
  put: 'INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?, ?, ?, ?)',
  decided: `SELECT 1 FROM pins WHERE digest = ?1
    UNION ALL SELECT 1 FROM refusals WHERE digest = ?1`,
} as const

export class StoredPins {
  readonly #store: DatabaseSync
  readonly #statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

  constructor(store: DatabaseSync) {
    this.#store = store
    this.#statements = prepareAll(store, STATEMENTS)
  }

  /** By `toToolKey`. */
  readAll(): Map<string, AcceptedDefinition> {
    return new Map(this.#statements.readAll.all().map(toEntry))
  }

  put(
    { definition, category, risk }: KnownTool,
    pin: Omit<AcceptedDefinition, 'definition'>,
  ): void {
    const { server, name } = definition
    const text = JSON.stringify(withInstructions(definition, pin.instructions, true))
    this.#statements.put.run(server, name, pin.digest, text, category, risk, pin.atMs)
  }

  /** Whether a person, at any gate, has accepted or refused the definition with this digest. */
  isDecided(digest: string): boolean {
    return this.#statements.decided.get(digest) !== undefined
  }

  inOne(work: () => void): void {
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
