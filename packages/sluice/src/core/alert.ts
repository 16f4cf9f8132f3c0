// An alert: a message for a person on duty, outside the console. Names in it may come from servers and
// callers; channels show them as text. Never arguments, answers or what a server said of a failure.

export const ALERT_KINDS = [
  'denials',
  'injection',
  'limit',
  'server',
  'definition',
  'tools',
  'ledger',
  'gate',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number] | 'test'

export interface Alert {
  readonly kind: AlertKind
  readonly title: string
  readonly facts: readonly { readonly name: string; readonly value: string }[]
  /** Path of the page of the console that shows more. */
  readonly page: string
}

/** An alert as it is sent. */
export interface SentAlert extends Alert {
  readonly id: string
  readonly atMs: number
  /** Alerts of the same kind that were not sent since the last one. */
  readonly suppressed: number
  /** The page of the console; undefined if its address is not known. */
  readonly url: string | undefined
}

/** A channel that alerts go out on. */
export interface AlertChannel {
  readonly channel: string
  /** Rejects if it could not be delivered. */
  alert(alert: SentAlert): Promise<void>
}
