// What can be asked of the step thread, by name. Each operation is whole in itself: found by owner
// and id, run, committed, answered with plain data. Called by step-thread.ts, and by tests as it is.

import { processClock } from '@sluice/ledger/store/process-clock'
import type { AgentQuery, JournalEvent } from '../guest/protocol.ts'
import { findHostStop } from '../journal/family-limits.ts'
import type { TakenLease } from '../journal/leases.ts'
import type { SpentUsage, UsageRange } from '../journal/model-usage.ts'
import { type AgentOrigin, type CreateEvent, newAgent } from '../journal/new-rows.ts'
import { readAgent } from '../journal/read-rows.ts'
import type { AgentRow, EffectRow, HostStop, RunRow } from '../journal/rows.ts'
import type { NewSchedule, ScheduleRow, ScheduleStep } from '../journal/schedules.ts'
import { AgentError } from '../shared/errors.ts'
import { LIST_PAGE_MAX } from '../shared/limits.ts'
import type { SlicedWork } from '../shared/sliced.ts'
import { type ReplayReport, replayJournal } from '../steps/replay-journal.ts'
import type { AppliedStep, ApplyOptions, Stepper } from '../steps/stepper.ts'
import type { MovedAgent } from '../transfer/begin-agent.ts'
import { exportAgent, type TakenExport } from '../transfer/export-agent.ts'
import {
  type AgentImportOptions,
  type AgentImportResult,
  type BegunImport,
  bringImport,
  type ImportPlan,
  planImport,
} from '../transfer/import-agent.ts'
import { packFiles } from '../transfer/pack-files.ts'
import type { ReadImport } from '../transfer/read-import.ts'
import { FileDigests } from './file-digests.ts'
import { type ForkOptions, forkAgent, upgradeAgent } from './fork-and-upgrade.ts'
import {
  type AgentSnapshot,
  type InspectedFile,
  inspectAgent,
  inspectFile,
  listAllAgents,
} from './inspect-agent.ts'
import type {
  AgentAnswer,
  AgentFiles,
  AgentStatus,
  HistoryEntry,
  ListedAgent,
  ModelUsageReport,
  ProgramFiles,
  ScheduleStatus,
} from './operation-results.ts'
import { OwnerOperations } from './owner-operations.ts'

/** An agent that the transfer thread has brought from an older core to this one. */
export interface AgentMove extends MovedAgent {
  /** The last event of the agent when it was taken out of the older core. */
  readonly seq: number
  readonly nowMs: number
}

const IDLE_PROGRAMS = `SELECT a.owner, a.id FROM agents a
  WHERE a.owner LIKE 'code/%' AND a.state NOT IN ('running', 'waiting')
    AND COALESCE((SELECT e.at FROM events e WHERE e.agent = a.agent AND e.seq = a.seq), a.created_at) < $1`

export class Operations extends OwnerOperations {
  readonly #stepper: Stepper
  readonly #digests = new FileDigests()

  constructor(stepper: Stepper) {
    super(stepper.journal)
    this.#stepper = stepper
  }

  create(beside: AgentOrigin, event: CreateEvent, bytes?: Uint8Array): AppliedStep {
    return this.#stepper.create(newAgent(beside, event), event, bytes)
  }

  async apply(
    owner: string | null,
    id: string,
    event: JournalEvent,
    bytes?: Uint8Array,
    nonce?: string,
    how?: ApplyOptions,
  ): Promise<AppliedStep> {
    const agent = this.#stepper.find(owner, id)
    return this.#stepper.apply(agent, event, bytes, nonce, how)
  }

  /** Stores an agent of an older core as the transfer thread has brought it to this one, if nothing has
   * happened to it since. */
  move(owner: string, id: string, { seq, nowMs, ...moved }: AgentMove): AgentRow {
    const agent = this.#stepper.find(owner, id)
    if (agent.image === this.#stepper.image.hash) return agent
    if (agent.summary.runId !== null || agent.seq !== seq)
      throw new AgentError('AGENT_BUSY', `\`${id}\` is running: it can be moved when it is idle`)
    return upgradeAgent(this.#stepper, agent, moved, nowMs)
  }

  ask(owner: string | null, id: string, question: AgentQuery, nowMs: number): AgentAnswer {
    const agent = this.#stepper.find(owner, id)
    return { agent, ...this.#stepper.ask(agent, question, nowMs) }
  }

  standing(owner: string | null, id: string, nowMs: number): AgentStatus {
    const agent = this.#stepper.find(owner, id)
    const usage = this.#stepper.journal.getUsage(agent)
    return { agent, held: findHostStop(agent, usage, nowMs), ...usage }
  }

  /** What a caller has seen has been seen by the family that it tells something. */
  addLabels(
    owner: string | null,
    id: string,
    labels: readonly string[],
    nowMs: number,
  ): AgentStatus {
    const { journal } = this.#stepper
    const { family } = this.#stepper.find(owner, id)
    journal.transact(() => journal.addLabels(family, labels))
    return this.standing(owner, id, nowMs)
  }

  /** What was spent beside any event: a model call that left and that nobody waited for. */
  chargeFamily(family: number, spent: SpentUsage & { readonly turns: number }): void {
    const { journal } = this.#stepper
    journal.transact(() => {
      journal.usage.add(spent)
      if (journal.get('SELECT 1 FROM families WHERE family = $1', family) === undefined) return
      const before = journal.family(family)
      journal.setFamily(family, {
        ...before,
        turns: before.turns + spent.turns,
        tokens: before.tokens + spent.inputTokens + spent.outputTokens,
        costMicros: before.costMicros + spent.costMicros,
      })
    })
  }

  /** What models took for the agents of all owners and, in a shared store, of all gates. */
  modelUsage(ranges: readonly UsageRange[]): ModelUsageReport {
    const { usage } = this.#stepper.journal
    return { startedMs: usage.startedMs, ranges: ranges.map((range) => usage.read(range)) }
  }

  /** Counts a call that a program is about to make; why not, where the family may make none. */
  chargeCall(id: string, nowMs: number): HostStop | null {
    const { journal } = this.#stepper
    const agent = this.#stepper.find(null, id)
    const { held, family } = this.standing(null, id, nowMs)
    if (held === null) journal.setFamily(agent.family, { ...family, calls: family.calls + 1 })
    return held
  }

  /** The labels of the families of these agents. That an agent is missing may be the doing of a caller:
   * it has the labels of the callers that removed agents of this owner. */
  labelsOf(owner: string, ids: readonly string[]): string[] {
    const { journal } = this.#stepper
    const labels = ids.flatMap((id) => {
      const agent = journal.agent(id)
      return agent?.owner === owner ? journal.family(agent.family).labels : this.goneLabels(owner)
    })
    return [...new Set(labels)]
  }

  /** The name of the gate that runs the agent; empty if that is not known yet, null if it is this one from now on. */
  acquire(id: string): string | null {
    return this.#stepper.journal.database.leases?.acquireAgent(id) ?? null
  }

  /** Renews the lease of this gate and takes over agents whose gate is gone; see journal/leases.ts. */
  takeOver(nowMs: number): TakenLease {
    const taken = this.#stepper.journal.takeOver(nowMs)
    if (taken.wasFenced) this.#stepper.forgetAll()
    return taken
  }

  list(
    owner: string,
    state: string | null,
    after: number,
    limit: number,
    family: number | null = null,
  ): AgentRow[] {
    const page = { state, after, limit: Math.min(limit, LIST_PAGE_MAX), family }
    return this.#stepper.journal.agents(owner, page)
  }

  /** Lists agents of every owner, the newest first. */
  listAll(limit: number): ListedAgent[] {
    return listAllAgents(this.#stepper, limit)
  }

  /** All that is to be seen of an agent, now or as it was after a turn. */
  look(owner: string | null, id: string, turn: number | null, nowMs: number): AgentSnapshot {
    return inspectAgent(this.#stepper, this.#stepper.find(owner, id), turn, nowMs)
  }

  fileAt(
    owner: string | null,
    id: string,
    path: string,
    turn: number | null,
    nowMs: number,
  ): InspectedFile {
    const agent = this.#stepper.find(owner, id)
    return inspectFile({ stepper: this.#stepper, agent, turn, nowMs }, path)
  }

  /** Agents of clients' programs that did nothing since this time. */
  idlePrograms(sinceMs: number): { owner: string; id: string }[] {
    const rows = this.#stepper.journal.all(IDLE_PROGRAMS, sinceMs)
    return rows.map(({ owner, id }) => ({ owner: String(owner), id: String(id) }))
  }

  /** Makes ready what a fork at a turn, or now, begins with: replaying the events before it and packing
   * the memory may be long. */
  *prepareTurn(owner: string, id: string, turn: number | null): SlicedWork<undefined> {
    const find = () => this.#stepper.find(owner, id)
    const agent = find()
    if (turn === null) return yield* this.#stepper.residents.checkpointInSlices(agent, find)
    const seq = this.#stepper.journal.seqOfTurn(agent.key, turn)
    if (seq !== undefined) yield* this.#stepper.residents.checkpointAt(agent, seq, find)
  }

  /** The journal run again and compared. */
  replay(owner: string, id: string, turn: number | null): SlicedWork<ReplayReport> {
    const find = () => this.#stepper.find(owner, id)
    return replayJournal(this.#stepper, find(), turn, find)
  }

  fork(owner: string, id: string, options: ForkOptions): AgentRow[] {
    return forkAgent(this.#stepper, this.#stepper.find(owner, id), options)
  }

  remove(owner: string, id: string, nowMs = processClock.earliestMs()): void {
    this.#stepper.remove(this.#stepper.find(owner, id), nowMs)
  }

  /** The pieces of an export; what is long to do with them is done elsewhere. */
  takeExport(
    owner: string,
    id: string,
    nowMs: number,
    withMemory: boolean,
  ): SlicedWork<TakenExport> {
    return exportAgent(this.#stepper, this.#stepper.find(owner, id), nowMs, withMemory)
  }

  /** What an import would be: a row or two are read. */
  planImport(
    facts: ReadImport['facts'],
    hasMemory: boolean,
    options: AgentImportOptions,
  ): ImportPlan {
    const { config, usesMemory } = planImport(this.#stepper, facts, hasMemory, options)
    return { config, usesMemory }
  }

  /** What was read and checked in the transfer thread; bytes cross beside the rest. `begun`: what its
   * first event led to there. */
  import(options: AgentImportOptions, read: ReadImport, begun?: BegunImport): AgentImportResult {
    return bringImport(this.#stepper, read, options, begun)
  }

  history(owner: string, id: string, from: number, to: number | null): HistoryEntry[] {
    const agent = this.#stepper.find(owner, id)
    const { journal } = this.#stepper
    const first = Math.max(from, journal.historyStart(agent))
    const until = journal.pageEnd(agent.key, first, to ?? agent.seq)
    return journal
      .events(agent.key, first - 1, until)
      .map(({ seq, at, kind, turn, event }) => ({ seq, at, kind, turn, event: JSON.parse(event) }))
  }

  /** The first event that is still there. */
  historyStart(owner: string, id: string): number {
    return this.#stepper.journal.historyStart(this.#stepper.find(owner, id))
  }

  /** Effects that have no result, as after a crash. */
  openEffects(): EffectRow[] {
    return this.#stepper.journal.work.openEffects()
  }

  /** Recorded before anything is sent: an effect that was begun is never begun a second time. */
  beginEffect(id: string, effect: string, startedAt: number): boolean {
    const { key } = this.#stepper.find(null, id)
    return this.#stepper.journal.work.markEffect(key, effect, { startedAt })
  }

  holdEffect(id: string, effect: string, ticket: string): boolean {
    const { key } = this.#stepper.find(null, id)
    return this.#stepper.journal.work.markEffect(key, effect, { ticket })
  }

  run(owner: string | null, id: string, runId: string | null): RunRow | undefined {
    const { key } = this.#stepper.find(owner, id)
    return this.#stepper.journal.work.findRun(key, runId)
  }

  runOf(owner: string, id: string, request: string): RunRow | undefined {
    return this.#stepper.journal.work.findRunByRequest(this.#stepper.find(owner, id).key, request)
  }

  appendProgramEvents(id: string, effect: string, seq: number, events: string): void {
    const { key } = this.#stepper.find(null, id)
    this.#stepper.journal.work.appendProgramEvents(key, effect, seq, events)
  }

  programEvents(id: string, effect: string): string[] {
    const { key } = this.#stepper.find(null, id)
    return this.#stepper.journal.work.programEvents(key, effect)
  }

  /** Files with the digests of their content, which is read only if it is not known yet. */
  *files(
    owner: string,
    id: string,
    question: { glob?: string; path?: string },
    nowMs: number,
  ): SlicedWork<AgentFiles> {
    const agent = this.#stepper.find(owner, id)
    const files = yield* this.#digests.of(this.#stepper, agent, question, nowMs)
    return { agent, files }
  }

  /** Every file as a program gets it: a list in JSON, and the bytes that belong to it. Made here, so
   * that the gate's thread only hands it on. */
  programFiles(id: string, nowMs: number): SlicedWork<ProgramFiles> {
    const agent = this.#stepper.find(null, id)
    return this.#stepper.residents.askingInSlices(agent, nowMs, function* (call) {
      const facts = JSON.parse(call('{"ask":"files"}').text).ok as {
        path: string
        isText: boolean
      }[]
      const loose: { path: string; content: string | Uint8Array }[] = []
      for (const { path, isText } of facts) {
        const content = call(JSON.stringify({ ask: 'read', path })).bytes ?? new Uint8Array()
        loose.push({ path, content: isText ? Buffer.from(content).toString('utf8') : content })
        yield
      }
      const { files, bytes } = packFiles(loose)
      return { text: JSON.stringify(files), bytes }
    })
  }

  /** Agents whose limit of time falls until then, soonest first. */
  due(untilMs: number): AgentRow[] {
    const { database } = this.#stepper.journal
    const sql = `SELECT * FROM agents a WHERE wake_at <= $1 AND ${database.own} ORDER BY wake_at LIMIT 100`
    return database.all(sql, untilMs).map(readAgent)
  }

  /** A time limit that could not be delivered to its agent is tried again later. */
  postpone(id: string, untilMs: number): void {
    const { journal } = this.#stepper
    journal.run('UPDATE agents SET wake_at = $1 WHERE id = $2 AND wake_at IS NOT NULL', untilMs, id)
  }

  putSchedule(owner: string, id: string, schedule: NewSchedule): void {
    const { key } = this.#stepper.find(owner, id)
    this.#stepper.journal.schedules.put(key, owner, schedule)
  }

  /** False if there was none. */
  removeSchedule(owner: string, id: string, name: string): boolean {
    const { key } = this.#stepper.find(owner, id)
    return this.#stepper.journal.schedules.remove(key, name)
  }

  /** Finds a schedule of any agent, whichever gate runs it. */
  findSchedule(id: string, name: string): ScheduleRow | undefined {
    return this.#stepper.journal.schedules.find(id, name)
  }

  /** All schedules of an owner or of a family, each with its last run. */
  schedules(owner: string, family: number | null): ScheduleStatus[] {
    const { journal } = this.#stepper
    return journal.schedules.list(owner, family).map((row) => {
      const key = journal.agent(row.agent)?.key
      const runId = row.last?.runId ?? null
      const run = key === undefined || runId === null ? undefined : journal.work.findRun(key, runId)
      return { ...row, run: run ?? null }
    })
  }

  dueSchedules(untilMs: number, max: number): ScheduleRow[] {
    return this.#stepper.journal.schedules.due(untilMs, max)
  }

  advanceSchedule(id: string, name: string, step: ScheduleStep): void {
    const { key } = this.#stepper.find(null, id)
    this.#stepper.journal.schedules.advance(key, name, step)
  }

  /** When something is due: a limit of time, or a schedule after `afterMs`. */
  nextWake(afterMs: number): number | null {
    const { database, schedules } = this.#stepper.journal
    const row = database.get(
      `SELECT min(wake_at) AS at FROM agents a WHERE wake_at IS NOT NULL AND ${database.own}`,
    )
    const times = [row?.at ?? null, schedules.nextAfter(afterMs)].filter((at) => at !== null)
    return times.length === 0 ? null : Math.min(...times.map(Number))
  }

  close(): void {
    this.#stepper.close()
  }
}
