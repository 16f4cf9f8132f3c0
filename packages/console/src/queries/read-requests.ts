// What the reading thread is asked for, as far as it is more than a query. Types only.

import type { PolicyDocument } from '@sluice/gateway/state/documents'
import type { ExportCursor } from '@sluice/ledger/export/chunks'
import type { ExportFormat } from '@sluice/ledger/export/forms'
import type { CallWithOutcome, Query } from '@sluice/ledger/query/query'
import type { NewCase } from '@sluice/policy/cases/add-case'
import type { CallContext } from './call-views.ts'
import type { TriedCall } from './draft-trials.ts'

/** Where a recorded call is found. */
export interface CallAddress {
  readonly callId: string
  readonly session: string
  readonly atMs: number
  /** The number of its record, if that is known. */
  readonly seq?: number | undefined
}

export interface CallLookup {
  /** Null if it is not recorded, or not indexed. */
  readonly called: CallWithOutcome | null
  readonly context: CallContext
  readonly behind: number
}

export interface DraftRequest {
  /** All that are in force. */
  readonly documents: readonly (readonly [string, PolicyDocument])[]
  readonly name: string
  readonly text: string
  /** Also tried on the calls since then. */
  readonly replaySinceMs?: number | undefined
  /** Also added to the document's cases. */
  readonly test?: NewCase | undefined
  /** Also decided, under the text and as it is in force. */
  readonly call?: (TriedCall & { readonly nowMs: number }) | undefined
  /** The properties beside the document are proved, too. */
  readonly isProved?: boolean | undefined
}

export interface ExportPageRequest {
  readonly query: Query
  readonly format: ExportFormat | 'calls'
  readonly from: ExportCursor
}
