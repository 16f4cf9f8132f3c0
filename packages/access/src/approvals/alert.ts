// An alert: a message for a person on duty, outside the console. Names in it may come from servers and
// callers; channels show them as text. Never arguments, answers or what a server said of a failure.

export const ALERT_KINDS = [
  'denials',
  'injection',
  'limit',
  'server',
  'sandbox',
  'definition',
  'tools',
  'ledger',
  'gate',
  'hooks',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number] | 'test'

export interface Alert {
  readonly kind: AlertKind
  readonly title: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** Words that were found in an answer: shown in the console only, and never sent. */
  readonly found?: string
  /** Path of the page of the console where one acts on it. */
  readonly page: string
  /** What is so until it ends, such as the servers that fail; undefined if it has happened and is past. */
  readonly subjects?: readonly string[]
  /** Title of the message that it is over; without it no such message is sent. */
  readonly overTitle?: string
}

/** An alert as it is sent; again with the title for it when it is over. */
export interface SentAlert extends Alert {
  /** The same in both messages. */
  readonly id: string
  /** The gate that noticed it; empty if there is only one. */
  readonly gate: string
  readonly atMs: number
  /** Alerts of the same kind that were not sent since the last one. */
  readonly suppressed: number
  /** The page of the console; undefined if its address is not known. */
  readonly url: string | undefined
  /** When none of its subjects was so any more. */
  readonly overAtMs?: number
}

/** A channel that alerts go out on. */
export interface AlertChannel {
  readonly channel: string
  /** Rejects if it could not be delivered. */
  alert(alert: SentAlert): Promise<void>
}
