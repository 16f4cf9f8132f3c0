// Alerts as a store keeps them, so that each is told once: sqlite/alert-rows.ts (gate.db) and
// postgres/alert-rows.ts (gates that share a store) implement it; both pass alert-rows.test.ts. A message
// is claimed before it is sent and marked as told after it: if its gate is killed in between, it is told
// by another one, or by the same after a restart.

/** An alert in one state; `body` is its text, which a store does not read. */
export interface AlertRow {
  readonly id: string
  /** The gate that noticed it; empty if there is only one. */
  readonly gate: string
  readonly atMs: number
  readonly body: string
  /** It is about something that is so until it ends. */
  readonly isOpen: boolean
}

export interface ListedAlertRow extends AlertRow {
  /** Its gate runs, as far as the store knows. */
  readonly isGateLive: boolean
}

export interface AlertRows {
  /** The newest first. */
  list(): Promise<readonly ListedAlertRow[]>
  /**
   * Stores an alert and claims its message. Each of its facts belongs to one open alert at a time: resolves
   * with those that another one has. If there are any, nothing is stored.
   */
  add(row: AlertRow, facts: readonly string[]): Promise<readonly string[]>
  /** Stores an alert that was told without the store, in whatever state it is now. */
  put(row: AlertRow, facts: readonly string[]): Promise<void>
  /**
   * Ends an open alert, and claims the message about that unless there is none (`isSilent`). False if it had
   * ended: only one caller tells of it.
   */
  end(row: AlertRow, isSilent: boolean): Promise<boolean>
  /** The message about this state was sent, or given up. Ignored if the state has changed since. */
  told(row: AlertRow): Promise<void>
  /** Claims messages that were never finished, except `own`, which this process is sending. */
  takeOver(own: readonly string[]): Promise<readonly AlertRow[]>
}
