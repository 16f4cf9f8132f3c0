// Queries calls by principal, session, server, tool, decision and time, newest first, each with its
// outcome. Uses the index if there is one; without it (a directory that may not be written) reads
// backwards, with the same result in more time.

import type { DatabaseSync } from 'node:sqlite'
import { recordReader, recordsBackwards } from '../chain/read.ts'
import { USUAL_WORDS } from '../records/files.ts'
import { QUERY_RECORDS_MAX } from '../records/limits.ts'
import type { DecisionRecord, OutcomeRecord } from '../records/record.ts'
import type { RecordIndex } from './record-index.ts'

/** All given criteria must match. */
export interface Query {
  readonly principal?: string
  readonly agent?: string
  readonly session?: string
  readonly server?: string
  /** Tool name, resource URI or prompt name. */
  readonly name?: string
  readonly action?: string
  /** Refused for any reason. */
  readonly denied?: boolean
  readonly code?: string
  readonly sinceMs?: number
  readonly untilMs?: number
  /** Only records with a smaller number: the `next` of the page before. */
  readonly before?: number
  readonly limit?: number
}

export interface CallWithOutcome {
  readonly record: DecisionRecord
  /** Null for a refusal, and while a call is open. */
  readonly outcome: OutcomeRecord | null
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
  /** As it is: records that are not indexed yet are not found. */
  indexed: 'up to date' | 'as it is' = 'up to date',
): QueryPage {
  if (indexed === 'up to date') index?.catchUp()
  const limit = Math.min(QUERY_RECORDS_MAX, Math.max(1, query.limit ?? 100))
  const found = index ? byIndex(ledger, index, query, limit) : byReading(ledger, query, limit)
  const calls = found.slice(0, limit)
  return { calls, next: found.length > limit ? (calls.at(-1) as CallWithOutcome).record.seq : null }
}

const WORDS = ['principal', 'agent', 'session', 'server', 'name', 'action', 'code'] as const
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
  const where: string[] = []
  const values: number[] = []
  for (const [column, text] of listQueryTerms(query)) {
    const word = index.findWord(text)
    if (word === undefined) return []
    where.push(`${column} = ?`)
    values.push(word)
    const usual = USUAL[column]
    if (usual !== undefined && word !== usual) where.push(`${column} <> ${usual}`)
  }
  if (query.denied) where.push(`action <> ${USUAL_WORDS.action}`)
  const { sinceMs, untilMs, before } = query
  if (sinceMs !== undefined || untilMs !== undefined) {
    const span = [sinceMs ?? 0, untilMs ?? Number.MAX_SAFE_INTEGER]
    // The clock may have been set back, so the range of numbers is looked up rather than assumed.
    const bounds = index.database
      .prepare('SELECT min(seq) AS low, max(seq) AS high FROM calls WHERE at BETWEEN ? AND ?')
      .get(...span)
    if (bounds?.low == null) return []
    where.push('seq BETWEEN ? AND ?', '+at BETWEEN ? AND ?')
    values.push(Number(bounds.low), Number(bounds.high), ...span)
  }
  if (before !== undefined) {
    where.push('seq < ?')
    values.push(before)
  }
  const sql = `SELECT calls.seq AS seq, outcomes.seq AS outcome FROM calls
    LEFT JOIN outcomes ON outcomes.intent = calls.seq
    ${where.length > 0 ? `WHERE ${where.map(qualified).join(' AND ')}` : ''}
    ORDER BY calls.seq DESC LIMIT ${limit + 1}`
  const read = recordReader(ledger)
  const rows = index.database.prepare(sql).all(...values)
  // Sequentially: the reader caches the last block.
  const records = rows.map(({ seq }) => read(Number(seq)) as DecisionRecord)
  const outcomes = rows.map(({ outcome }) =>
    outcome == null ? null : (read(Number(outcome)) as OutcomeRecord),
  )
  return records.map((record, at) => ({ record, outcome: outcomes[at] ?? null }))
}

/** Server and name together have their own index. */
function listQueryTerms(query: Query): [column: string, text: string][] {
  const { server, name } = query
  const tool = server === undefined || name === undefined ? undefined : `${server}/${name}`
  const said = WORDS.flatMap((column): [string, string][] => {
    const text = query[column]
    const isInTool = tool !== undefined && (column === 'server' || column === 'name')
    return text === undefined || isInTool ? [] : [[column, text]]
  })
  return tool === undefined ? said : [...said, ['tool', tool]]
}

function qualified(condition: string): string {
  return condition.replace(/^(\+?)/, '$1calls.')
}

function byReading(ledger: DatabaseSync, query: Query, limit: number): CallWithOutcome[] {
  const outcomes = new Map<number, OutcomeRecord>()
  const found: CallWithOutcome[] = []
  for (const record of recordsBackwards(ledger)) {
    if (record.kind === 'outcome') outcomes.set(record.intent, record)
    if (record.kind !== 'intent' && record.kind !== 'refusal') continue
    const outcome = outcomes.get(record.seq) ?? null
    outcomes.delete(record.seq)
    if (!matches(record, query)) continue
    found.push({ record, outcome })
    if (found.length > limit) break
  }
  return found
}

export function matches(record: DecisionRecord, query: Query): boolean {
  const said = {
    principal: record.principal.id,
    agent: record.agent ?? '',
    session: record.session,
    server: record.server,
    name: record.name,
    action: record.decision.action,
    code: record.decision.code,
  }
  return (
    (!query.denied || record.decision.action !== 'allow') &&
    WORDS.every((word) => query[word] === undefined || query[word] === said[word]) &&
    record.atMs >= (query.sinceMs ?? 0) &&
    record.atMs <= (query.untilMs ?? Number.MAX_SAFE_INTEGER) &&
    record.seq < (query.before ?? Number.MAX_SAFE_INTEGER)
  )
}
