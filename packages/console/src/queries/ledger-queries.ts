// What is read of the ledger for the console: pages of calls, one call, events, a policy
// tried on the last day. Runs in ledger-reader-thread.ts, beside the gate: none of it may hold up a call.

import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import {
  openLedgerReadOnly,
  recordReader,
  recordsBackwards,
  recordsFrom,
} from '@sluice/ledger/chain/read'
import { exportCalls } from '@sluice/ledger/export/calls'
import { type ExportPage, exportPage } from '@sluice/ledger/export/chunks'
import { openMergedReadOnly } from '@sluice/ledger/merged/merged-ledger'
import { originReader, type RecordOrigin, toOriginal } from '@sluice/ledger/merged/origins'
import { IS_COUNTED } from '@sluice/ledger/query/call-counts'
import { type CallWithOutcome, type Query, queryLedger } from '@sluice/ledger/query/query'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import { SessionNames } from '@sluice/ledger/query/session-names'
import { RECORDED_ARGUMENTS } from '@sluice/ledger/query/sql-views'
import { ALERT_HANDLED } from '@sluice/ledger/records/event-title'
import { MERGED_FOLDER, USUAL_WORDS } from '@sluice/ledger/records/files'
import { HeldCalls } from '@sluice/ledger/records/held-calls'
import type {
  DecisionRecord,
  GateEvent,
  LedgerRecord,
  OutcomeRecord,
} from '@sluice/ledger/records/record'
import { createRowReader, NUMBER, TEXT, withDefault } from '@sluice/ledger/store/read-row'
import { attempt } from '@sluice/policy/structures/attempt'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import type { Steps } from '@sluice/policy/structures/steps'
import type { BoardTool } from './board.ts'
import { type CallContext, type CallRecord, callRecord } from './call-views.ts'
import { type CountedCalls, type NamesRequest, readHistogram, readNames } from './histogram.ts'
import {
  CALL_FOUND_WITHIN_MS,
  CALL_READ_RECORDS_MAX,
  EVENT_RECORDS_MAX,
  EVENTS_MAX,
  INDEX_STEP_RECORDS,
  INDEX_WAIT_MS,
  SEARCH_STEP_RECORDS,
} from './limits.ts'
import { type OverviewFigures, type OverviewRequest, readOverview } from './overview.ts'
import { type PolicyDraft, PolicyDrafts } from './policy-drafts.ts'
import type { CallAddress, CallLookup, DraftRequest, ExportPageRequest } from './read-requests.ts'
import { findSearchPart } from './search-parts.ts'
import { type RecordedSum, readByValue, readSum, type SumRequest } from './value-queries.ts'

interface IndexingOptions {
  readonly waitMs: number
  readonly stepRecords: number
  /** The records of all gates that share a store are read, in place of those of this one. */
  readonly isMerged?: boolean
  /** What is known to be missing in the merged records. */
  readonly following?: { readonly behind: number; readonly why: string | undefined } | undefined
}

interface Searched {
  /** How many of the newest records were not searched, because they are being indexed. */
  readonly behind: number
  /** Why records may be missing, if gates share a store. */
  readonly notFollowed?: string
}

export interface CallHistogram extends CountedCalls, Searched {}

export interface LedgerPage extends Searched {
  readonly calls: readonly CallRecord[]
  readonly next: number | null
  /** Only calls up to this time were searched for the text: `next` goes on from there. */
  readonly searchedToMs?: number
  /** How many values were read for a page that is sorted by a value and not complete: `next` goes on from there. */
  readonly looked?: number
}

/** What happened to the gate itself, the newest first. */
export interface LedgerEvents extends Pick<Searched, 'notFollowed'> {
  readonly events: readonly LedgerEvent[]
}

export interface LedgerEvent {
  readonly seq: number
  /** Whose record it is, if gates share a store. */
  readonly origin?: RecordOrigin
  readonly atMs: number
  readonly name: string
  /** The members of the event, as JSON. */
  readonly detail: string
}

/** Names that calls have in one column. */
export interface LedgerNames {
  readonly names: readonly string[]
}

/** `GET /api/overview`. */
export interface Overview extends OverviewFigures, Searched {}

/** By whom, when and with which words an alert was marked as handled. */
export interface AlertHandling {
  readonly by: string
  readonly note: string
  readonly atMs: number
}

const readHandled = createRowReader<AlertHandling & { readonly id: string }>({
  id: withDefault(TEXT, ''),
  by: withDefault(TEXT, ''),
  note: withDefault(TEXT, ''),
  atMs: NUMBER,
})

export class LedgerQueries {
  readonly #indexing: IndexingOptions
  readonly #searching: number
  readonly #ledger: DatabaseSync
  readonly #originOf: (seq: number) => RecordOrigin | undefined
  readonly #index: RecordIndex | undefined
  readonly #names: SessionNames
  readonly #drafts: PolicyDrafts
  #isBehind = false

  constructor(
    directory: string,
    indexing: IndexingOptions = { waitMs: INDEX_WAIT_MS, stepRecords: INDEX_STEP_RECORDS },
    searching = SEARCH_STEP_RECORDS,
  ) {
    this.#indexing = indexing
    this.#searching = searching
    const { isMerged = false } = indexing
    const folder = isMerged ? join(directory, MERGED_FOLDER) : directory
    this.#ledger = isMerged ? openMergedReadOnly(folder) : openLedgerReadOnly(folder)
    this.#originOf = isMerged ? originReader(this.#ledger) : () => undefined
    this.#index = indexOf(folder, this.#ledger)
    this.#names = new SessionNames(this.#ledger, this.#index?.database)
    this.#drafts = new PolicyDrafts(directory, this.#ledger)
  }

  page(query: Query): LedgerPage {
    // The newest calls are at the end of the ledger: nobody waits for the index to see them.
    const keys = Object.keys(query)
    const isFirst = keys.every((key) => key === 'limit')
    const isPlain = keys.every((key) => key === 'limit' || key === 'before')
    const behind = isFirst ? this.#behind() : this.#catchUp(this.#indexing.waitMs)
    const index = isFirst || (isPlain && behind > 0) ? undefined : this.#index
    const part = index === undefined ? undefined : findSearchPart(index, query, this.#searching)
    const { calls, next } = queryLedger(this.#ledger, part?.query ?? query, index, 'as it is')
    return {
      calls: this.#toCallRecords(calls),
      next: next ?? part?.next ?? null,
      ...(next === null && part !== undefined ? { searchedToMs: part.searchedToMs } : {}),
      behind: (index === undefined ? 0 : behind) + this.#notCopied,
      ...this.#notFollowed,
    }
  }

  /** In the order of a recorded value. */
  *sorted(query: Query): Steps<LedgerPage> {
    const { index, behind } = this.#searched()
    const { calls, ...rest } = yield* readByValue(this.#ledger, index, query)
    return { calls: this.#toCallRecords(calls), ...rest, behind, ...this.#notFollowed }
  }

  #toCallRecords(calls: readonly CallWithOutcome[]): CallRecord[] {
    this.#names.load(calls.map(({ record }) => record.session))
    return calls.map((call) => callRecord(call, this.#contextOf(call)))
  }

  #contextOf({ record: { seq, session, decision, approval }, became }: JudgedCall): CallContext {
    const sessionName = this.#names.nameOf(session)
    const isDenied = became === 'deny' && HELD_CODES.includes(decision.code)
    const request = isDenied ? approval : undefined
    const refusal = request === undefined ? undefined : this.#index?.findRefusal(request)
    return { ...pickDefined({ sessionName, refusal }), ...this.#origin(seq) }
  }

  #origin(seq: number): { readonly origin?: RecordOrigin } {
    const origin = this.#originOf(seq)
    return origin === undefined ? {} : { origin }
  }

  get #notCopied(): number {
    return this.#indexing.following?.behind ?? 0
  }

  get #notFollowed(): Pick<Searched, 'notFollowed'> {
    const why = this.#indexing.following?.why
    return why === undefined ? {} : { notFollowed: why }
  }

  /** Takes in some of what the index lacks, between two questions; false if nothing is left. */
  goOn(): boolean {
    this.#isBehind &&= this.#catchUp(0) > 0
    return this.#isBehind
  }

  close(): void {
    this.#index?.close()
    this.#ledger.close()
    this.#drafts.close()
  }

  /** How far the index is behind after a while of taking in. */
  #catchUp(forMs: number): number {
    const untilMs = performance.now() + forMs
    const step = () => this.#index?.catchUp(this.#indexing.stepRecords) ?? true
    let isDone = step()
    while (!isDone && performance.now() < untilMs) isDone = step()
    return isDone ? 0 : this.#behind()
  }

  /** Asked, it is also made up for. */
  #behind(): number {
    const behind = this.#index?.behind ?? 0
    this.#isBehind ||= behind > 0
    return behind
  }

  /** By its number, or by its name and about when it was: names are not indexed. The number may be that of
   * another gate's copy, in a link from its console. */
  call(address: CallAddress): CallLookup {
    const { callId, seq } = address
    const record = seq === undefined ? undefined : recordReader(this.#ledger)(seq)
    if (record !== undefined && isCall(record) && record.callId === callId)
      return this.#toLookup({
        record,
        outcome: this.#outcomeOf(record.seq),
        became: this.#index?.findBecame(record.seq) ?? record.decision.action,
      })
    const newest = this.#amongNewest(address)
    if (newest !== undefined) return this.#toLookup(newest)
    const { called, behind } = this.#byIndex(address)
    return called === undefined ? this.#notFound(behind) : this.#toLookup(called)
  }

  #notFound(behind: number): CallLookup {
    return { called: null, context: {}, behind: behind + this.#notCopied }
  }

  /** The outcome with the number that its gate gave it. */
  #toLookup({ record, outcome, became }: CallWithOutcome): CallLookup {
    const original = outcome && (toOriginal(outcome, this.#originOf) as OutcomeRecord)
    this.#names.load([record.session])
    const context = this.#contextOf({ record, became })
    return { called: { record, outcome: original, became }, context, behind: 0 }
  }

  #amongNewest({ callId, atMs }: CallAddress): CallWithOutcome | undefined {
    const outcomes = new Map<number, OutcomeRecord>()
    const held = new HeldCalls()
    let left = CALL_READ_RECORDS_MAX
    for (const record of recordsBackwards(this.#ledger)) {
      const became = held.take(record)
      if (record.kind === 'outcome') outcomes.set(record.intent, record)
      if (isCall(record) && record.callId === callId)
        return { record, outcome: outcomes.get(record.seq) ?? null, became }
      if (record.atMs < atMs - CALL_FOUND_WITHIN_MS || --left <= 0) return undefined
    }
    return undefined
  }

  #byIndex({ callId, session, atMs }: CallAddress): {
    readonly called: CallWithOutcome | undefined
    readonly behind: number
  } {
    const behind = this.#catchUp(this.#indexing.waitMs)
    const query = {
      session,
      sinceMs: atMs - CALL_FOUND_WITHIN_MS,
      untilMs: atMs + CALL_FOUND_WITHIN_MS,
    }
    let before: number | undefined
    for (;;) {
      const page = queryLedger(
        this.#ledger,
        { ...query, limit: 500, ...pickDefined({ before }) },
        this.#index,
        'as it is',
      )
      const found = page.calls.find(({ record }) => record.callId === callId)
      if (found !== undefined || page.next === null) return { called: found, behind }
      before = page.next
    }
  }

  #outcomeOf(intent: number): OutcomeRecord | null {
    let left = CALL_READ_RECORDS_MAX
    for (const record of recordsFrom(this.#ledger, intent + 1)) {
      if (record.kind === 'outcome' && record.intent === intent) return record
      if (--left <= 0) break
    }
    const seq = this.#index?.findOutcome(intent)
    return seq === undefined ? null : (recordReader(this.#ledger)(seq) as OutcomeRecord)
  }

  events(): LedgerEvents {
    const view = (seq: number, { atMs, name, detail }: GateEvent): LedgerEvent => {
      return { seq, ...this.#origin(seq), atMs, name, detail: JSON.stringify(detail) }
    }
    const events: LedgerEvent[] = []
    let seen = 0
    for (const record of recordsBackwards(this.#ledger)) {
      if (record.kind === 'event') events.push(view(record.seq, record))
      if (events.length >= EVENTS_MAX || ++seen > EVENT_RECORDS_MAX) break
    }
    return { events, ...this.#notFollowed }
  }

  /** By the id of the alert; of several notes the last. */
  handledAlerts(): Map<string, AlertHandling> {
    const rows = this.#searched()
      .index.database.prepare(
        `SELECT e.at AS atMs, e.detail ->> 'id' AS id, e.detail ->> 'by' AS by, e.detail ->> 'note' AS note
          FROM words w JOIN events e ON e.name = w.id
          WHERE w.text = '${ALERT_HANDLED}' ORDER BY e.seq DESC LIMIT ${EVENTS_MAX}`,
      )
      .all()
      .map(readHandled)
    return new Map(rows.reverse().map(({ id, ...handled }) => [id, handled]))
  }

  overview(request: OverviewRequest): Overview {
    const { index, behind } = this.#searched()
    return { ...readOverview(index.database, request), behind, ...this.#notFollowed }
  }

  /** The calls of each of these sessions, counted as in every other figure. */
  sessionCalls(sessions: readonly string[]): ReadonlyMap<string, number> {
    const count = this.#searched().index.database.prepare(
      `SELECT count(*) AS n FROM words JOIN calls ON session = id WHERE text = ? AND ${IS_COUNTED}`,
    )
    return new Map(sessions.map((session) => [session, Number(count.get(session)?.n)]))
  }

  /** When each of these principals made its last call; 0 if there is none. */
  lastCalls(principals: readonly string[]): ReadonlyMap<string, number> {
    const rows = this.#searched()
      .index.database.prepare(
        `SELECT text, (SELECT at FROM calls WHERE principal = id ORDER BY seq DESC LIMIT 1) AS at
          FROM words WHERE text IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(principals))
    return new Map(rows.map(({ text, at }) => [String(text), Number(at)]))
  }

  /** The recorded arguments of requests for approval, as JSON: of these, or of all that have a text in them. */
  recordedArguments(of: readonly string[] | string): ReadonlyMap<string, string> {
    const [wanted, value] =
      typeof of === 'string'
        ? ['instr(lower(args), ?) > 0', of.toLowerCase()]
        : ['id IN (SELECT value FROM json_each(?))', JSON.stringify(of)]
    const rows = this.#searched()
      .index.database.prepare(
        `SELECT id, args FROM (SELECT w.text AS id, c.seq AS seq, ${RECORDED_ARGUMENTS} AS args
            FROM words w JOIN calls c ON c.approval = w.id AND c.approval <> ${USUAL_WORDS.approval})
          WHERE ${wanted} AND args <> '{}' ORDER BY seq`,
      )
      .all(value)
    return new Map(rows.map(({ id, args }) => [String(id), String(args)]))
  }

  *histogram(query: Query): Steps<CallHistogram> {
    const { index, behind } = this.#searched()
    const { through } = index
    const counting = readHistogram(index.database, query)
    for (;;) {
      const { done, value } = counting.next()
      if (done) return { ...value, behind, ...this.#notFollowed }
      yield
      if (index.through < through) throw new Error('the index was built again meanwhile: ask again')
    }
  }

  *sum(request: SumRequest): Steps<RecordedSum> {
    return yield* readSum(this.#searched().index, request)
  }

  names(request: NamesRequest): LedgerNames {
    return { names: readNames(this.#searched().index.database, request) }
  }

  #searched(): { readonly index: RecordIndex; readonly behind: number } {
    const behind = this.#catchUp(this.#indexing.waitMs)
    if (this.#index === undefined) throw new Error('the ledger has no index: it cannot be written')
    return { index: this.#index, behind: behind + this.#notCopied }
  }

  /** A stretch of an export. */
  stretch({ query, format, from }: ExportPageRequest): ExportPage {
    if (format === 'calls') {
      const columns = from.columns ?? this.names({ of: 'value', text: '' }).names
      return exportCalls(this.#ledger, this.#index, { query, from: { ...from, columns } })
    }
    return exportPage(this.#ledger, query, {
      form: { format, version: readPackageVersion() },
      from,
      originOf: this.#originOf,
    })
  }

  tools(request: Pick<DraftRequest, 'documents' | 'name'>): BoardTool[] {
    return this.#drafts.tools(request)
  }

  draft(request: DraftRequest): PolicyDraft {
    return this.#drafts.draft(request)
  }
}

type JudgedCall = Pick<CallWithOutcome, 'record' | 'became'>

const HELD_CODES = ['APPROVAL_PENDING', 'APPROVAL_DENIED']

function isCall(record: LedgerRecord): record is DecisionRecord {
  return record.kind === 'intent' || record.kind === 'refusal'
}

/** Without it queries read backwards, which is slower and no less right. */
function indexOf(directory: string, ledger: DatabaseSync): RecordIndex | undefined {
  return attempt(() => new RecordIndex(directory, ledger))
}
