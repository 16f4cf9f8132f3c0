// What follows from an event in the tables: counts of the family, runs, open effects, the agent's status.
// One function for all drivers, run inside a driver's transaction. Pure apart from the tables.

import type { Effect, JournalEvent, RunEnd } from '../guest/protocol.ts'
import type { Fence, JournalEntry } from './event-journal.ts'
import { checkFamilyLimits, costOf, countEvent } from './family-limits.ts'
import type { SpentUsage } from './model-usage.ts'
import type { AgentRow, EventRow, FamilyRow, HostStop } from './rows.ts'

/** The tables as a commit sees them. `key` is the agent's. */
export interface StepTables {
  family(family: number): FamilyRow
  setFamily(family: number, row: FamilyRow): void
  insertEvent(key: number, row: EventRow, nonce: string | null): void
  setAgent(agent: AgentRow, row: EventRow, update: AgentUpdate): AgentRow
  readonly work: OpenWorkTables
  readonly usage: { add(usage: SpentUsage): void }
}

/** What an event changes in an agent's row. */
export interface AgentUpdate {
  readonly summary: AgentRow['summary']
  readonly hostStop: HostStop | null
  /** The core it runs on from now on; the same if left out. */
  readonly image?: string
}

/** Runs and effects that have no result yet. */
export interface OpenWorkTables {
  /** `startedAt` 0: it waits for its turn; negative: its clock is stopped. */
  insertRun(key: number, run: InsertedRun): void
  endRun(key: number, end: RunEnd): void
  /** Starts a run that waited for its turn. */
  startRun(key: number, runId: string, startedAt: number): void
  stopClock(key: number, runId: string | null, atMs: number): void
  continueClock(key: number, runId: string | null, atMs: number): void
  /** Null if no run has this id, or its clock is stopped. */
  runStartedAt(key: number, runId: string | null): number | null
  insertEffect(key: number, effect: Effect): void
  removeEffect(key: number, effectId: string): void
  removeEffects(key: number): void
  effectKind(key: number, effectId: string): Effect['kind'] | undefined
}

export interface InsertedRun {
  readonly runId: string
  readonly request: string | null
  readonly startedAt: number
}

export function commitStep(tables: StepTables, { agent }: Fence, entry: JournalEntry): AgentRow {
  const { work } = tables
  const { event, step } = entry
  const { at, kind } = event
  const { summary } = step
  const row: EventRow = { seq: agent.seq + 1, at, kind, turn: summary.turnCount, ...entry.row }
  tables.insertEvent(agent.key, row, entry.nonce)
  const before = tables.family(agent.family)
  const family = countFamily(before, agent, entry, work)
  if (hasChanged(before, family)) tables.setFamily(agent.family, family)
  if (event.kind === 'model') tables.usage.add(toSpentUsage(event, agent))
  const pausedAt = pausedAfter(agent, event)
  changeRuns(work, agent.key, entry, pausedAt !== null)
  const startedAt = startedBefore(at, work, agent.key, summary.runId)
  const reached = checkFamilyLimits(family, summary, startedAt, at) ?? null
  const isLifted = kind === 'resume' || kind === 'reset'
  const hostStop = isLifted ? reached : (agent.hostStop ?? reached)
  // A stopped agent gets no effect carried out, and recovery after a crash must find none.
  if (hostStop === null) changeEffects(work, agent.key, entry)
  else work.removeEffects(agent.key)
  return tables.setAgent({ ...agent, pausedAt }, row, { summary, hostStop })
}

/** A run that began before the clock was set back has its time from now on: it would not end until then. */
function startedBefore(
  at: number,
  work: OpenWorkTables,
  key: number,
  runId: string | null,
): number | null {
  if ((work.runStartedAt(key, runId) ?? at) > at) {
    work.stopClock(key, runId, at)
    work.continueClock(key, runId, at)
  }
  return work.runStartedAt(key, runId)
}

function countFamily(
  before: FamilyRow,
  agent: AgentRow,
  { event, step, keepsCounts = false }: JournalEntry,
  work: OpenWorkTables,
): FamilyRow {
  const isCompaction =
    event.kind === 'model' && work.effectKind(agent.key, event.effectId) === 'compact'
  const calls = step.effects.filter(({ kind }) => kind === 'tool' || kind === 'code').length
  const { price } = agent
  const counted = countEvent(before, { event, isTurn: !isCompaction, calls, price })
  if (event.kind === 'resume') return { ...counted, limits: { ...counted.limits, ...event.limits } }
  if (event.kind === 'reset' && before.members === 1 && !keepsCounts)
    return { ...counted, turns: 0, tokens: 0, costMicros: 0, calls: 0 }
  return counted
}

function toSpentUsage(
  { at: atMs, usage }: JournalEvent & { kind: 'model' },
  { model, price }: AgentRow,
): SpentUsage {
  const { inputTokens, outputTokens } = usage
  return { atMs, model, inputTokens, outputTokens, costMicros: costOf(usage, price) }
}

function changeRuns(
  work: OpenWorkTables,
  key: number,
  { event, step, request = null }: JournalEntry,
  isPaused: boolean,
): void {
  const { runId } = step.summary
  const startedAt = isPaused ? -1 : event.at
  // The time of a run does not count while it is paused.
  if (event.kind === 'pause') work.stopClock(key, runId, event.at)
  if (event.kind === 'resume') work.continueClock(key, runId, event.at)
  // A run that a limit had stopped goes on as a new one.
  if (event.kind === 'prompt' || (event.kind === 'resume' && event.runId === runId && runId)) {
    const isRunning = runId === event.runId
    const inserted = { runId: event.runId as string, request, startedAt: isRunning ? startedAt : 0 }
    work.insertRun(key, inserted)
  }
  for (const end of step.ended) work.endRun(key, end)
  if (runId !== null && event.kind !== 'prompt') work.startRun(key, runId, startedAt)
}

function changeEffects(work: OpenWorkTables, key: number, { event, step }: JournalEntry): void {
  if ('effectId' in event && event.kind !== 'waiting') work.removeEffect(key, event.effectId)
  for (const effectId of step.dropped) work.removeEffect(key, effectId)
  for (const effect of step.effects) work.insertEffect(key, effect)
}

function pausedAfter({ pausedAt }: AgentRow, event: JournalEvent): number | null {
  if (event.kind === 'pause') return pausedAt ?? event.at
  return event.kind === 'resume' || event.kind === 'reset' ? null : pausedAt
}

function hasChanged(before: FamilyRow, after: FamilyRow): boolean {
  const { turns, tokens, costMicros, calls, limits } = after
  const isSame = before.turns === turns && before.tokens === tokens && before.calls === calls
  return !isSame || before.costMicros !== costMicros || before.limits !== limits
}
