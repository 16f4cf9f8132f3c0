// Tools that appeared on a server that was known before, and were trusted at first sight: a person has
// yet to look at them. Kept in gate.db until a person has seen them or they are old, and recorded in the
// ledger, one event for those that came together. No call waits for it.

import { createRowReader, NUMBER, TEXT } from '@sluice/ledger/store/read-row'
import { inTransaction } from '@sluice/ledger/store/sqlite/in-transaction'
import type { KnownTool } from '@sluice/policy/calls/tools'
import type { StateOptions } from '../shared/state-options.ts'
import { KEEP_TOOLS_EVERY_MS, NEW_TOOL_MS, NEW_TOOLS_MAX, NEW_TOOLS_SHOWN_MAX } from './limits.ts'

export interface NewTool {
  readonly server: string
  readonly name: string
  readonly atMs: number
}

const readNewTool = createRowReader<NewTool>({ server: TEXT, name: TEXT, atMs: NUMBER })
const LIST = 'SELECT server, name, at AS atMs FROM new_tools WHERE at > ? ORDER BY at DESC LIMIT ?'

export class NewTools {
  readonly #options: StateOptions
  readonly #waiting = new Map<string, KnownTool[]>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: StateOptions) {
    this.#options = options
  }

  add(tool: KnownTool): void {
    const { server } = tool.definition
    const mine = this.#waiting.get(server)
    if (mine === undefined) this.#waiting.set(server, [tool])
    else mine.push(tool)
    this.#timer ??= setTimeout(() => this.flush(), KEEP_TOOLS_EVERY_MS).unref()
  }

  /** The newest first. */
  list(): NewTool[] {
    const { store, nowMs } = this.#options
    return store
      .prepare(LIST)
      .all(nowMs() - NEW_TOOL_MS, NEW_TOOLS_MAX)
      .map(readNewTool)
  }

  /** A person has looked at the new tools of a server; how many there were. */
  markSeen(server: string): number {
    const { store } = this.#options
    return Number(store.prepare('DELETE FROM new_tools WHERE server = ?').run(server).changes)
  }

  /** What waits, at once: at the end of the process, too. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const [server, tools] of all)
      this.#keep(server, tools).catch(({ message }: Error) =>
        this.#options.log('warn', 'new tools were not recorded', { server, why: message }),
      )
  }

  async #keep(server: string, tools: readonly KnownTool[]): Promise<void> {
    const { store, ledger, nowMs } = this.#options
    const atMs = nowMs()
    inTransaction(store, () => {
      store.prepare('DELETE FROM new_tools WHERE at <= ?').run(atMs - NEW_TOOL_MS)
      const room =
        NEW_TOOLS_MAX - Number(store.prepare('SELECT count(*) AS n FROM new_tools').get()?.n)
      const insert = store.prepare('INSERT OR REPLACE INTO new_tools VALUES (?, ?, ?)')
      for (const { definition } of tools.slice(0, Math.max(0, room)))
        insert.run(server, definition.name, atMs)
    })
    const shown = tools
      .slice(0, NEW_TOOLS_SHOWN_MAX)
      .map(({ definition, category, risk }) => ({ name: definition.name, category, risk }))
    const detail = { how: 'new', server, count: tools.length, tools: shown }
    await ledger.event({ atMs, name: 'pin', detail })
  }
}
