// Alerts as the store has them, and in words of the gate: which are ongoing, and whose they are. A person who
// was told of something finds it in the console of any gate, also after a restart.

import type { AlertKind, SentAlert } from '@sluice/access/approvals/alert'
import type { AlertRow, AlertRows } from '@sluice/ledger/store/alert-rows'

/** An alert that was sent, and the channels that did not take it. */
export interface ListedAlert extends SentAlert {
  readonly undelivered: readonly string[]
  /** Every gate of the store sees what it is about. */
  readonly isShared: boolean
  /** False if the gate that noticed it does not run; undefined if that is not known. */
  readonly isGateLive?: boolean
}

/** The newest first. */
export async function listStored(rows: AlertRows): Promise<readonly ListedAlert[]> {
  return (await rows.list()).map(({ isGateLive, ...row }) => ({ ...readAlert(row), isGateLive }))
}

export function readAlert({ id, gate, atMs, body }: AlertRow): ListedAlert {
  const alert = JSON.parse(body) as Omit<ListedAlert, 'id' | 'gate' | 'atMs'>
  // One of an older version may have less.
  return { ...alert, isShared: alert.isShared ?? false, id, gate, atMs }
}

export function toRow(alert: ListedAlert): AlertRow {
  const { id, gate, atMs, isGateLive: _, subjects, ...rest } = alert
  const isOpen = isOngoing(alert)
  // What one was about that is over is in its facts, for people.
  const body = JSON.stringify(isOpen ? { ...rest, subjects } : rest)
  return { id, gate, atMs, body, isOpen }
}

export function isOngoing({ subjects, overAtMs }: SentAlert): boolean {
  return subjects !== undefined && overAtMs === undefined
}

/** What only one open alert may be about: of all gates, or of one. */
export function nameFact(
  { kind, gate, isShared }: Pick<ListedAlert, 'gate' | 'isShared'> & { readonly kind: AlertKind },
  subject: string,
): string {
  return JSON.stringify([kind, isShared ? '' : gate, subject])
}
