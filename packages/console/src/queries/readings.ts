// What the thread that reads the ledger can be asked: the arguments and the answer of each question, by the name of
// the method of LedgerQueries that answers it. Types only.

import type { ExportPage } from '@sluice/ledger/export/chunks'
import type { Query } from '@sluice/ledger/query/query'
import type { Steps } from '@sluice/policy/structures/steps'
import type { BoardTool } from './board.ts'
import type { NamesRequest } from './histogram.ts'
import type {
  AlertHandling,
  CallHistogram,
  LedgerEvents,
  LedgerNames,
  LedgerPage,
  Overview,
} from './ledger-queries.ts'
import type { OverviewRequest } from './overview.ts'
import type { PolicyDraft } from './policy-drafts.ts'
import type { CallAddress, CallLookup, DraftRequest, ExportPageRequest } from './read-requests.ts'
import type { RecordedSum, SumRequest } from './value-queries.ts'

export interface ReadArguments {
  readonly page: Query
  readonly sorted: Query
  readonly call: CallAddress
  readonly stretch: ExportPageRequest
  readonly events: undefined
  readonly handledAlerts: undefined
  readonly overview: OverviewRequest
  readonly sessionCalls: readonly string[]
  readonly lastCalls: readonly string[]
  readonly recordedArguments: readonly string[] | string
  readonly histogram: Query
  readonly names: NamesRequest
  readonly sum: SumRequest
  readonly tools: Pick<DraftRequest, 'documents' | 'name'>
  readonly draft: DraftRequest
}

export interface ReadResults {
  readonly page: LedgerPage
  readonly sorted: LedgerPage
  readonly call: CallLookup
  readonly stretch: ExportPage
  readonly events: LedgerEvents
  readonly handledAlerts: ReadonlyMap<string, AlertHandling>
  readonly overview: Overview
  readonly sessionCalls: ReadonlyMap<string, number>
  readonly lastCalls: ReadonlyMap<string, number>
  readonly recordedArguments: ReadonlyMap<string, string>
  readonly histogram: CallHistogram
  readonly names: LedgerNames
  readonly sum: RecordedSum
  readonly tools: readonly BoardTool[]
  readonly draft: PolicyDraft
}

export type ReadName = keyof ReadArguments

/** What answers each question, at once or in parts. */
export type Readings = {
  readonly [Ask in ReadName]: (
    args: ReadArguments[Ask],
  ) => ReadResults[Ask] | Steps<ReadResults[Ask]>
}

/** A question as it is sent to the thread. */
export interface ReadRequest<Ask extends ReadName = ReadName> {
  readonly id: number
  readonly ask: Ask
  readonly with: ReadArguments[Ask]
}
