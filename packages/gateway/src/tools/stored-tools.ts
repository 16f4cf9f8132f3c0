// The definitions of tools as servers last listed them, in gate.db: so that a policy can be tried on
// past calls, and looked at, while no server runs. Written a little later than seen: no call waits.

import type { DatabaseSync } from 'node:sqlite'
import { classify } from '@sluice/catalogue/classify/classify'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import type { Category, KnownTool, Risk, ToolDefinition } from '@sluice/policy/calls/tools'
import type { Log } from '../shared/log.ts'
import { takeTurn } from '../shared/slices.ts'
import {
  KEEP_TOOLS_EVERY_MS,
  KEPT_TOOL_LENGTH_MAX,
  KEPT_TOOLS_MAX,
  KEPT_TOOLS_PER_TURN,
} from './limits.ts'

export class StoredTools {
  readonly #store: DatabaseSync
  readonly #log: Log
  readonly #waiting = new Map<string, KnownTool>()
  #timer: NodeJS.Timeout | undefined

  constructor(store: DatabaseSync, log: Log) {
    this.#store = store
    this.#log = log
  }

  learn(tool: KnownTool): void {
    const { server, name } = tool.definition
    if (this.#waiting.size >= KEPT_TOOLS_MAX) return
    this.#waiting.set(`${server}/${name}`, tool)
    this.#timer ??= setTimeout(() => this.#flushSome(), KEEP_TOOLS_EVERY_MS).unref()
  }

  /** How many are stored of each server, also from before this start. */
  counts(): ReadonlyMap<string, number> {
    const rows = this.#store
      .prepare('SELECT server, count(*) AS n FROM tools GROUP BY server')
      .all()
    return new Map(rows.map(({ server, n }) => [String(server), Number(n)]))
  }

  /** All that wait, at once: at the end of the process. */
  flush(): void {
    while (this.#waiting.size > 0) this.#flushSome()
  }

  /** All that wait, with other work in between. */
  async flushInTurns(): Promise<void> {
    while (this.#waiting.size > 0) {
      this.#flushSome()
      await takeTurn()
    }
  }

  #flushSome(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const some: KnownTool[] = []
    for (const [key, tool] of this.#waiting) {
      this.#waiting.delete(key)
      if (some.push(tool) === KEPT_TOOLS_PER_TURN) break
    }
    this.#keep(some)
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#flushSome()).unref()
  }

  #keep(tools: readonly KnownTool[]): void {
    if (tools.length === 0) return
    try {
      this.#write(tools)
    } catch (error) {
      this.#log('warn', 'definitions of tools were not kept', { why: (error as Error).message })
    }
  }

  #write(tools: readonly KnownTool[]): void {
    const count = Number(this.#store.prepare('SELECT count(*) AS n FROM tools').get()?.n ?? 0)
    const insert = this.#store.prepare('INSERT OR REPLACE INTO tools VALUES (?, ?, ?, ?, ?, ?)')
    inTransaction(this.#store, () => {
      for (const { definition, category, risk } of tools.slice(0, KEPT_TOOLS_MAX - count)) {
        const text = JSON.stringify(definition)
        if (text.length > KEPT_TOOL_LENGTH_MAX) continue
        insert.run(definition.server, definition.name, text, category, risk, Date.now())
      }
    })
  }
}

export function readKeptTools(store: DatabaseSync): KnownTool[] {
  return store
    .prepare('SELECT definition, category, risk FROM tools ORDER BY server, name')
    .all()
    .map(({ definition, category, risk }) => {
      const whole = JSON.parse(String(definition)) as ToolDefinition
      const now = classify(whole)
      // A class that another reading accepted is no guess of this one.
      const unknown = now.unknown && now.category === category
      return {
        definition: whole,
        category: category as Category,
        risk: risk as Risk,
        ...(unknown ? { unknown } : {}),
      }
    })
}
