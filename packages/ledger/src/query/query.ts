// Queries calls by principal, session, server, tool, decision, time and free text, each with its
// outcome, newest or oldest first. Uses the index if there is one; without it (a directory that may not be written) reads
// backwards, with the same result in more time.

import type { DatabaseSync } from 'node:sqlite'
import { isObject } from '@sluice/policy/values/json'
import { recordReader, recordsBackwards, recordsFrom } from '../chain/read.ts'
import { USUAL_WORDS } from '../records/files.ts'
import { HeldCalls, isHeld, MADE_AGAIN } from '../records/held-calls.ts'
import { QUERY_RECORDS_MAX } from '../records/limits.ts'
import { LIMIT_CODES, type OutcomeLabel, toOutcomeLabel } from '../records/outcome-label.ts'
import { type DecisionRecord, type OutcomeRecord, QUIET_EVENT } from '../records/record.ts'
import { holdsFor, parseConditions, toValueSql } from '../records/recorded-values.ts'
import { shadowText } from '../records/shadow-text.ts'
import type { RecordIndex } from './record-index.ts'

/** All given criteria must match. */
export interface Query {
  readonly principal?: string
  readonly agent?: string
  readonly session?: string
  /** The call of `run_code` whose program made the call. */
  readonly parent?: string
  /** The request for approval that the decision was about. */
  readonly approval?: string
  readonly server?: string
  /** Tool name, resource URI or prompt name. */
  readonly name?: string
  readonly action?: string
  /** Refused for any reason. */
  readonly denied?: boolean
  /** The gate answered the client's question about it. Not in the merged ledger of several gates, whose events have
   * the numbers of their gate. */
  readonly quiet?: boolean
  readonly code?: string
  /** The outcome of the call, see records/outcome-label.ts. */
  readonly word?: OutcomeLabel
  readonly sinceMs?: number
  readonly untilMs?: number
  /** Found in a name, the code, the reason of a refusal or what rules in shadow mode would have done; ASCII letters in
   * either case. */
  readonly text?: string
  /** Conditions on recorded values, see recorded-values.ts. */
  readonly where?: string
  /** The digests that records of calls with certain arguments may have. */
  readonly argsDigests?: readonly string[]
  /** Newest first unless said; `largest` and `smallest` by the value at `sort`, with the index only. */
  readonly order?: 'newest' | 'oldest' | 'largest' | 'smallest'
  /** The path of a recorded value: only calls that have one. */
  readonly sort?: string
  /** Only records with a larger number: the `next` of the page before, oldest first. */
  readonly after?: number
  /** Only records with a smaller number: the `next` of the page before. */
  readonly before?: number
  readonly limit?: number
}

export interface CallWithOutcome {
  readonly record: DecisionRecord
  /** Null for a refusal, and while a call is open. */
  readonly outcome: OutcomeRecord | null
  /** The action of the decision as later records leave it, see held-calls.ts. */
  readonly became: string
}

export interface QueryPage {
  readonly calls: readonly CallWithOutcome[]
  /** `before` of the next page; null at the end. */
  readonly next: number | null
}

export function queryLedger(
  ledger: DatabaseSync,
  query: Query,
  index: RecordIndex | undefined,
  /** In the mode `as it is`, records that are not indexed yet are not found. */
  indexed: 'up to date' | 'as it is' = 'up to date',
): QueryPage {
  if (indexed === 'up to date') index?.catchUp()
  const limit = Math.min(QUERY_RECORDS_MAX, Math.max(1, query.limit ?? 100))
  const byPlan = query.argsDigests === undefined ? byIndex : byArguments
  const results = index ? byPlan(ledger, index, query, limit) : byReading(ledger, query, limit)
  const calls = results.slice(0, limit)
  return {
    calls,
    next: results.length > limit ? (calls.at(-1) as CallWithOutcome).record.seq : null,
  }
}

const WORDS = [
  'principal',
  'agent',
  'session',
  'parent',
  'approval',
  'server',
  'name',
  'action',
  'code',
] as const
/** Columns that a free text is looked for in; `tool` is server and name. */
const SEARCHED = ['principal', 'agent', 'session', 'tool', 'code', 'reason', 'shadow'] as const
/**
 * Common values have no index: stated for the planner, so that it uses the index for the others.
 */
const USUAL: Readonly<Partial<Record<string, number>>> = USUAL_WORDS

function byIndex(
  ledger: DatabaseSync,
  index: RecordIndex,
  query: Query,
  limit: number,
): CallWithOutcome[] {
  const matching = selectCalls(index.database, query)
  if (matching === undefined) return []
  const selected = selectRecords(matching, matching.range)
  const order = query.order === 'oldest' ? 'ASC' : 'DESC'
  const sql = `${selected.found} SELECT ${selected.seq} AS seq FROM ${selected.from}
    ${selected.where} ORDER BY ${selected.seq} ${order} LIMIT ${limit + 1}`
  const rows = index.database.prepare(sql).all(...selected.values)
  return readCalls(
    ledger,
    index,
    rows.map(({ seq }) => Number(seq)),
  )
}

/** The index has no digests: the calls that match otherwise are read, page by page. */
function byArguments(
  ledger: DatabaseSync,
  index: RecordIndex,
  query: Query,
  limit: number,
): CallWithOutcome[] {
  const found: CallWithOutcome[] = []
  for (let page = query; ; ) {
    const calls = byIndex(ledger, index, page, QUERY_RECORDS_MAX)
    const last = calls.at(QUERY_RECORDS_MAX - 1)
    const some = calls.slice(0, QUERY_RECORDS_MAX)
    found.push(...some.filter(({ record, became }) => matches(record, query, became)))
    if (found.length > limit) return found.slice(0, limit + 1)
    if (last === undefined || calls.length <= QUERY_RECORDS_MAX) return found
    const { seq } = last.record
    page = query.order === 'oldest' ? { ...page, after: seq } : { ...page, before: seq }
  }
}

/** The calls with these numbers, each with its outcome. */
export function readCalls(
  ledger: DatabaseSync,
  index: RecordIndex,
  numbers: readonly number[],
): CallWithOutcome[] {
  const read = recordReader(ledger)
  // Sequentially: the reader caches the last block.
  const records = numbers.map((seq) => read(seq) as DecisionRecord)
  const outcomes = numbers.map((intent) => {
    const seq = index.findOutcome(intent)
    return seq === undefined ? null : (read(seq) as OutcomeRecord)
  })
  return records.map((record, at) => {
    const { action } = record.decision
    const became = isHeld(record) ? index.findBecame(record.seq) : undefined
    return { record, outcome: outcomes[at] ?? null, became: became ?? action }
  })
}

export interface CallSelection {
  /** The part before `SELECT`, with the words that a text is found in; may be empty. */
  readonly found: string
  /** `calls`, read by way of their recorded values if the query is about one. */
  readonly from: string
  /** The column with the number of a call. */
  readonly seq: string
  /** Empty, or beginning with `WHERE`. */
  readonly where: string
  readonly values: readonly (number | string)[]
  /** Numbers of the records to look through; not part of `where`. */
  readonly range: RecordRange
}

export interface RecordRange {
  readonly first: number
  readonly last: number
}

const EVERY_RECORD: RecordRange = { first: 0, last: Number.MAX_SAFE_INTEGER }

/** The criteria of a query as SQL over the index; undefined if no call can match. */
export function selectCalls(index: DatabaseSync, query: Query): CallSelection | undefined {
  const where: string[] = []
  const values: (number | string)[] = []
  for (const [column, text] of listQueryTerms(query)) {
    const word = index.prepare('SELECT id FROM words WHERE text = ?').get(text)?.id
    if (word === undefined) return undefined
    where.push(`calls.${column} = ?`)
    values.push(Number(word))
    const usual = USUAL[column]
    if (usual !== undefined && word !== usual) where.push(`calls.${column} <> ${usual}`)
  }
  const by = selectValues(index, query)
  if (by === undefined) return undefined
  where.push(...by.where)
  if (query.quiet) where.push(`calls.seq IN (${QUIET_CALLS})`)
  if (query.denied) where.push(`calls.action <> ${USUAL_WORDS.action}`)
  if (query.word !== undefined) where.push(WITH_LABEL[query.word])
  const { sinceMs, untilMs, before, after, text } = query
  let { first, last } = EVERY_RECORD
  if (sinceMs !== undefined || untilMs !== undefined) {
    const times = [sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER]
    // The clock may have been set back, so the range of numbers is looked up rather than assumed.
    const bounds = index
      .prepare('SELECT min(seq) AS low, max(seq) AS high FROM calls WHERE at BETWEEN ? AND ?')
      .get(...times)
    if (bounds?.low == null) return undefined
    first = Number(bounds.low)
    last = Number(bounds.high)
    where.push('+calls.at BETWEEN ? AND ?')
    values.push(...times)
  }
  if (before !== undefined) last = Math.min(last, before - 1)
  if (after !== undefined) first = Math.max(first, after + 1)
  if (text !== undefined) {
    if (!hasWord(index, toAsciiLower(text))) return undefined
    where.push(`(${SEARCHED.map((column) => `calls.${column} IN found`).join(' OR ')})`)
    values.unshift(toAsciiLower(text))
  }
  const matching =
    text === undefined
      ? ''
      : 'WITH found AS MATERIALIZED (SELECT id FROM words WHERE instr(lower(text), ?) > 0)'
  return {
    found: matching,
    from: by.from,
    seq: by.seq,
    where: where.length > 0 ? `WHERE ${where.join(' AND ')}` : '',
    values,
    range: { first, last },
  }
}

const QUIET_CALLS = `SELECT events.detail ->> '$.call' FROM words JOIN events ON events.name = words.id
  WHERE words.text = '${QUIET_EVENT}'`

/** Reads the values of one path in the order of calls: of ten million calls few have one. */
function selectValues(
  index: DatabaseSync,
  { where: conditions, sort }: Query,
): (Pick<CallSelection, 'from' | 'seq'> & { readonly where: readonly string[] }) | undefined {
  const all = parseConditions(conditions)
  const first = sort ?? all[0]?.path
  if (first === undefined) return { from: 'calls', seq: 'calls.seq', where: [] }
  const ids = new Map<string, number>()
  for (const path of [first, ...all.map((one) => one.path)]) {
    const word = index.prepare('SELECT id FROM words WHERE text = ?').get(path)?.id
    if (word === undefined) return undefined
    ids.set(path, Number(word))
  }
  return {
    from: 'judged CROSS JOIN calls ON calls.seq = judged.seq',
    seq: 'judged.seq',
    where: [
      `judged.path = ${ids.get(first)}`,
      ...all.map((one) =>
        one.path === first
          ? toValueSql(one, 'judged.value')
          : `EXISTS (SELECT 1 FROM judged AS other WHERE other.path = ${ids.get(one.path)}
              AND other.seq = judged.seq AND ${toValueSql(one, 'other.value')})`,
      ),
    ],
  }
}

/** Its calls among these records, as part of `where`. One range: of two, SQLite may search by the
 * longer one. */
export function selectRecords(selected: CallSelection, range: RecordRange): CallSelection {
  const { first, last } = range
  if (first === EVERY_RECORD.first && last === EVERY_RECORD.last) return selected
  const { where, values } = selected
  return {
    ...selected,
    range,
    where: `${where === '' ? 'WHERE' : `${where} AND`} ${selected.seq} BETWEEN ? AND ?`,
    values: [...values, first, last],
  }
}

/** Whether some name, code or reason has it; `text` is in lower case. */
function hasWord(index: DatabaseSync, text: string): boolean {
  const statement = index.prepare('SELECT 1 FROM words WHERE instr(lower(text), ?) > 0 LIMIT 1')
  return statement.get(text) !== undefined
}

const LIMITED = `calls.code IN (SELECT id FROM words WHERE text IN ('${LIMIT_CODES.join("', '")}'))`
const WITH_ACTION = (...actions: string[]) =>
  `calls.became IN (SELECT id FROM words WHERE text IN ('${actions.join("', '")}'))`
/** The labels of `toOutcomeLabel` as SQL. */
const WITH_LABEL: Readonly<Record<OutcomeLabel, string>> = {
  limited: LIMITED,
  ask: `NOT ${LIMITED} AND ${WITH_ACTION('require_approval')}`,
  deny: `NOT ${LIMITED} AND NOT ${WITH_ACTION('allow', 'hide', 'require_approval', MADE_AGAIN)}`,
  allow: `NOT ${LIMITED} AND calls.became = ${USUAL_WORDS.action}`,
  again: `NOT ${LIMITED} AND ${WITH_ACTION(MADE_AGAIN)}`,
  hide: `NOT ${LIMITED} AND ${WITH_ACTION('hide')}`,
}

/** Lowers as SQLite's `lower` does, so that reading finds what the index finds. */
function toAsciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Server and name together have their own index. */
function listQueryTerms(query: Query): [column: string, text: string][] {
  const { server, name } = query
  const tool = server === undefined || name === undefined ? undefined : `${server}/${name}`
  const terms = WORDS.flatMap((column): [string, string][] => {
    const text = query[column]
    const isInTool = tool !== undefined && (column === 'server' || column === 'name')
    return text === undefined || isInTool ? [] : [[column, text]]
  })
  return tool === undefined ? terms : [...terms, ['tool', tool]]
}

/** Numbers of calls; undefined if the query is about any. */
function readQuietCalls(ledger: DatabaseSync, { quiet }: Query): Set<unknown> | undefined {
  if (quiet !== true) return undefined
  const calls = new Set<unknown>()
  for (const record of recordsBackwards(ledger))
    if (record.kind === 'event' && record.name === QUIET_EVENT && isObject(record.detail))
      calls.add(record.detail.call)
  return calls
}

function byReading(ledger: DatabaseSync, query: Query, limit: number): CallWithOutcome[] {
  const quiet = readQuietCalls(ledger, query)
  if (query.order === 'oldest') return byReadingForwards(ledger, { query, quiet, limit })
  const outcomes = new Map<number, OutcomeRecord>()
  const calls: CallWithOutcome[] = []
  const held = new HeldCalls()
  for (const record of recordsBackwards(ledger)) {
    if (record.seq <= (query.after ?? 0)) break
    const became = held.take(record)
    if (record.kind === 'outcome') outcomes.set(record.intent, record)
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    const outcome = outcomes.get(record.seq) ?? null
    outcomes.delete(record.seq)
    if (quiet?.has(record.seq) === false || !matches(record, query, became)) continue
    calls.push({ record, outcome, became })
    if (calls.length > limit) break
  }
  return calls
}

/** Reads to the end, or until every call that was found has its outcome. */
function byReadingForwards(
  ledger: DatabaseSync,
  { query, quiet, limit }: { query: Query; quiet: Set<unknown> | undefined; limit: number },
): CallWithOutcome[] {
  const calls = new Map<number, CallWithOutcome>()
  const { after = 0 } = query
  const became = readChangedCalls(ledger, after)
  let open = 0
  for (const record of recordsFrom(ledger, after + 1)) {
    if (record.kind === 'outcome') {
      const call = calls.get(record.intent)
      if (call === undefined) continue
      calls.set(record.intent, { ...call, outcome: record })
      open--
    } else if (
      record.kind !== 'event' &&
      calls.size <= limit &&
      quiet?.has(record.seq) !== false &&
      matches(record, query, became.get(record.seq))
    ) {
      const { action } = record.decision
      calls.set(record.seq, { record, outcome: null, became: became.get(record.seq) ?? action })
      if (record.kind === 'intent') open++
    }
    if (calls.size > limit && open === 0) break
  }
  return [...calls.values()]
}

/** What held calls behind a number became, by their own numbers; calls that are as they were recorded are left out. */
function readChangedCalls(ledger: DatabaseSync, after: number): ReadonlyMap<number, string> {
  const held = new HeldCalls()
  const changed = new Map<number, string>()
  for (const record of recordsBackwards(ledger)) {
    if (record.seq <= after) break
    const became = held.take(record)
    if (record.kind === 'outcome' || record.kind === 'event') continue
    if (became !== record.decision.action) changed.set(record.seq, became)
  }
  return changed
}

/** `became`: its action as later records leave it. */
export function matches(
  record: DecisionRecord,
  query: Query,
  became: string = record.decision.action,
): boolean {
  const columns = {
    principal: record.principal.id,
    agent: record.agent ?? '',
    session: record.session,
    parent: record.parent ?? '',
    approval: record.approval ?? '',
    server: record.server,
    name: record.name,
    action: record.decision.action,
    code: record.decision.code,
  }
  return (
    (!query.denied || record.decision.action !== 'allow') &&
    WORDS.every((word) => query[word] === undefined || query[word] === columns[word]) &&
    record.atMs >= (query.sinceMs ?? 0) &&
    record.atMs <= (query.untilMs ?? Number.MAX_SAFE_INTEGER) &&
    record.seq < (query.before ?? Number.MAX_SAFE_INTEGER) &&
    record.seq > (query.after ?? 0) &&
    (query.word === undefined || query.word === toOutcomeLabel(became, columns.code)) &&
    query.argsDigests?.includes(record.argsDigest ?? '') !== false &&
    (query.text === undefined || hasText(record, toAsciiLower(query.text))) &&
    (query.where === undefined ||
      parseConditions(query.where).every((one) => holdsFor(record, one)))
  )
}

function hasText(
  { kind, principal, agent, session, server, name, decision }: DecisionRecord,
  text: string,
): boolean {
  const searched = [
    principal.id,
    agent ?? '',
    session,
    `${server}/${name}`,
    decision.code,
    kind === 'refusal' ? decision.reason : '',
    shadowText(decision.shadow),
  ]
  return searched.some((one) => toAsciiLower(one).includes(text))
}
