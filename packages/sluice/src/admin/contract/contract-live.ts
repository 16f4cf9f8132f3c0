// A call as lists show it, and where it is found. Types only.

import type { CallIdentity } from '../../core/call-title.ts'
import type { OutcomeLabel } from '../../core/outcome-label.ts'

export type { OutcomeLabel }

export interface LiveRow extends CallIdentity {
  readonly atMs: number
  readonly principal: string
  readonly category: string | null
  /** The class is a guess. */
  readonly unknown: boolean
  readonly word: OutcomeLabel
  readonly code: string
  readonly rule: string
  readonly reason: string
  /** Null while it is open. */
  readonly status: string | null
  readonly durationMs: number | null
}

/** Where a recorded call is found. */
export interface CallAddress {
  readonly callId: string
  readonly session: string
  readonly atMs: number
  /** The number of its record, if that is known. */
  readonly seq?: number | undefined
}
