// What the step thread does: every change of an agent is an event that is run in its memory and
// committed to the journal with the summary, the counts, the runs and the open effects, in one
// transaction. A refused or failed event leaves nothing. Called through step-thread.ts.

import type { AgentQuery, GuestReply, JournalEvent, StepResult } from '../../guest/protocol.ts'
import type { Image } from '../../sandbox/image.ts'
import type { Instance } from '../../sandbox/instance.ts'
import { Journal } from '../journal/journal.ts'
import type { NewAgent } from '../journal/new-rows.ts'
import { type HistoryRetention, Retention } from '../journal/retention.ts'
import type { AgentRow, EventRow, FamilyRow, HostStop } from '../journal/rows.ts'
import { AgentError, toAgentError } from '../shared/errors.ts'
import {
  AGENTS_PER_OWNER_MAX,
  CHILDREN_MAX,
  HISTORY_MEGABYTES_DEFAULT,
  OWN_EVENTS_AGENTS_MAX,
} from '../shared/limits.ts'
import { checkStep } from './check-step.ts'
import { CreateStepCache, type KnownStart, startName } from './create-step-cache.ts'
import { checkFamilyLimits, countEvent, findHostStop, type HostUsage } from './enforce.ts'
import { AT_REST, hashAnswer, LIMITS, Residents } from './residents.ts'

export interface AppliedStep extends HostUsage {
  readonly agent: AgentRow
  readonly step: StepResult
}

export interface ApplyHow {
  /** The request that a prompt belongs to. */
  readonly request?: string | null | undefined
  /** A reset from inside clears the agent, not what its family has used. */
  readonly keepsCounts?: boolean | undefined
  /** Whose turn it takes on its way here, where that is not who asks. */
  readonly whose?: string | undefined
}

export interface QueryAnswer {
  readonly value: unknown
  readonly content: Uint8Array | undefined
}

const KEPT: HistoryRetention = { ageMs: null, bytes: HISTORY_MEGABYTES_DEFAULT * 1_048_576 }

export class Stepper {
  readonly journal: Journal
  readonly residents: Residents
  readonly image: Image
  readonly #retention: Retention
  readonly #starts = new CreateStepCache()
  /** Agents to which this stepper has committed an event itself. */
  readonly #own = new Set<number>()

  constructor(directory: string, image: Image, kept: HistoryRetention = KEPT) {
    this.journal = new Journal(directory)
    this.journal.memories.putImage(image.hash, image.bytes)
    this.image = image
    this.#retention = new Retention(this.journal, kept)
    this.residents = new Residents(this.journal, image, this.#retention)
  }

  close(): void {
    this.residents.rest()
    this.journal.close()
  }

  /** What can be done while nobody waits; true where there is more. */
  tidy(nowMs: number): boolean {
    if (!this.journal.database.isOpen) return false
    this.residents.tidy()
    this.journal.tidy()
    return this.#retention.sweep(nowMs)
  }

  /** `owner` null is the house itself. Somebody else's agent is as unknown as one that never was. */
  find(owner: string | null, id: string): AgentRow {
    const agent = this.journal.agent(id)
    if (agent === undefined || (owner !== null && agent.owner !== owner))
      throw new AgentError('AGENT_NOT_FOUND', `there is no agent \`${id}\``)
    return agent
  }

  footing(agent: AgentRow): HostUsage {
    const runStartedAt = startOfRun(this.journal, agent.key, agent.summary.runId)
    return { family: this.journal.family(agent.family), runStartedAt }
  }

  create(fresh: NewAgent, event: JournalEvent, bytes: Uint8Array | undefined): AppliedStep {
    this.checkRoom(fresh)
    const text = JSON.stringify(event)
    const name = bytes === undefined ? startName(fresh.image, event) : undefined
    const known = this.#starts.get(name)
    const ran = known === undefined ? this.#begin(fresh.image, event, text, bytes) : undefined
    const { step, answer } = known ?? (ran as KnownStart)
    const first = rowFor({ seq: 0 }, event, text, bytes, step, answer)
    const agent = this.journal.transact(() => this.journal.insertAgent(fresh, step.summary, first))
    if (ran !== undefined) {
      this.#starts.set(name, { step, answer })
      this.residents.adopt({ key: agent.key, image: fresh.image, seq: 1 }, ran.instance)
    }
    return { agent, step, ...this.footing(agent) }
  }

  /** The same of an event that is text already, and may be large. */
  createFrom(
    fresh: NewAgent,
    { text, at }: { readonly text: string; readonly at: number },
    bytes: Uint8Array | undefined,
  ): AppliedStep {
    const { instance, answer } = this.residents.begin(fresh.image, text, bytes, at)
    const step = this.#read(answer.text, instance)
    const about = { at, kind: 'create' } as JournalEvent
    const first = rowFor({ seq: 0 }, about, text, bytes, step, hashAnswer(answer.text))
    const agent = this.journal.transact(() => this.journal.insertAgent(fresh, step.summary, first))
    this.residents.adopt({ key: agent.key, image: fresh.image, seq: 1 }, instance)
    return { agent, step, ...this.footing(agent) }
  }

  /** For one more agent of its owner, and in the family it joins. */
  checkRoom({ owner, family }: Pick<NewAgent, 'owner' | 'family'>): void {
    if (this.journal.countAgents(owner) >= AGENTS_PER_OWNER_MAX)
      throw new AgentError('AGENT_LIMIT', `there are ${AGENTS_PER_OWNER_MAX} agents already`)
    if (family !== undefined && this.journal.family(family).members >= CHILDREN_MAX)
      throw new AgentError('AGENT_LIMIT', `a family has at most ${CHILDREN_MAX} agents`)
  }

  #begin(image: string, event: JournalEvent, text: string, bytes: Uint8Array | undefined) {
    const { instance, answer } = this.residents.begin(image, text, bytes, event.at)
    return { step: this.#read(answer.text, instance), answer: hashAnswer(answer.text), instance }
  }

  /**
   * Runs an event and commits it. `nonce` names the request: one that was committed and whose answer
   * was lost with a thread is answered from the journal, not run again.
   */
  apply(
    agent: AgentRow,
    event: JournalEvent,
    bytes?: Uint8Array,
    nonce?: string,
    how: ApplyHow = {},
  ): AppliedStep {
    // Requests come again in their order, so behind one of its own there is none that was committed.
    const isOwn = nonce === undefined || this.#own.has(agent.key)
    const before = isOwn ? undefined : this.journal.seqOf(agent.key, nonce)
    if (before !== undefined) return this.#again(agent, before)
    const held = findHostStop(agent, this.footing(agent), event.at)
    if (held !== null && (agent.hostStop === null ? BEGINNING : HELD_BACK).has(event.kind))
      throw new AgentError('AGENT_STOPPED', `the agent is stopped (${held.detail})`)
    const text = JSON.stringify(event)
    const said = this.residents.step(agent, text, bytes, event.at)
    const step = this.#read(said.text, undefined, agent.key)
    const row = rowFor(agent, event, text, bytes, step, hashAnswer(said.text))
    const after = this.#commit(agent, event, step, row, nonce ?? null, how)
    this.#noteOwn(agent.key)
    this.residents.kept(agent, text.length + (bytes?.length ?? 0), step.ended.length > 0)
    const { hostStop } = after
    if (hostStop !== null && agent.hostStop === null && step.summary.stop === null)
      return this.#enforce(after, step, hostStop)
    const taken = hostStop === null ? step : { ...step, effects: [] }
    return { agent: after, step: taken, ...this.footing(after) }
  }

  #noteOwn(key: number): void {
    if (this.#own.size >= OWN_EVENTS_AGENTS_MAX) this.#own.clear()
    this.#own.add(key)
  }

  /** From the guest; or as it answered when it came to rest, where nothing has happened since. */
  ask(agent: AgentRow, question: AgentQuery, nowMs: number): QueryAnswer {
    const text = JSON.stringify(question)
    if (AT_REST.has(text) && !this.residents.isAhead(agent)) {
      const said = this.journal.memories.answerOf(agent, text)
      if (said !== undefined) return { value: unwrap<unknown>(said), content: undefined }
    }
    const said = this.residents.asking(agent, nowMs, (ask) => ask(text))
    return { value: unwrap<unknown>(said.text), content: said.bytes }
  }

  remove(agent: AgentRow, nowMs: number): void {
    this.residents.forget(agent.key)
    this.journal.transact(() => this.journal.remove(agent, nowMs))
  }

  /** All that follows from a step, in the transaction of its event. */
  #commit(
    agent: AgentRow,
    event: JournalEvent,
    step: StepResult,
    row: EventRow,
    nonce: string | null,
    { request = null, keepsCounts = false }: ApplyHow,
  ): AgentRow {
    const { journal } = this
    return this.#orForget(agent.key, () => {
      journal.append(agent.key, row, nonce)
      const isTurn = !isCompaction(journal, agent.key, event)
      const calls = step.effects.filter(({ kind }) => kind === 'tool' || kind === 'code').length
      const before = journal.family(agent.family)
      let family = countEvent(before, { event, isTurn, calls, price: agent.price })
      if (event.kind === 'resume')
        family = { ...family, limits: { ...family.limits, ...event.limits } }
      if (event.kind === 'reset' && before.members === 1 && !keepsCounts)
        family = { ...family, turns: 0, tokens: 0, costMicros: 0, calls: 0 }
      if (hasChanged(before, family)) journal.setFamily(agent.family, family)
      const pausedAt = pausedAfter(agent, event)
      this.#noteRuns(agent.key, event, step, { request, isPaused: pausedAt !== null })
      const started = startOfRun(journal, agent.key, step.summary.runId)
      const lifted = event.kind === 'resume' || event.kind === 'reset'
      const judged = checkFamilyLimits(family, step.summary, started, event.at) ?? null
      const hostStop = lifted ? judged : (agent.hostStop ?? judged)
      // What is held back asks for nothing, and nothing of it is found after a crash.
      if (hostStop === null) this.#noteEffects(agent.key, event, step)
      else journal.run('DELETE FROM effects WHERE agent = ?', agent.key)
      return journal.setStanding({ ...agent, pausedAt }, row, step.summary, hostStop)
    })
  }

  /** What could not be committed is not what the agent is: the memory that has it goes. */
  #orForget<Result>(key: number, work: () => Result): Result {
    try {
      return this.journal.transact(work)
    } catch (error) {
      this.residents.forget(key)
      throw error
    }
  }

  #noteEffects(key: number, event: JournalEvent, step: StepResult): void {
    const { journal } = this
    const done = 'effectId' in event && event.kind !== 'waiting' ? [event.effectId] : []
    for (const effect of [...done, ...step.dropped]) {
      journal.run('DELETE FROM effects WHERE agent = ? AND effect = ?', key, effect)
      journal.run('DELETE FROM program_events WHERE agent = ? AND effect = ?', key, effect)
    }
    for (const effect of step.effects)
      journal.run(
        'INSERT INTO effects (agent, effect, kind, body) VALUES (?, ?, ?, ?)',
        key,
        effect.id,
        effect.kind,
        // The conversation is the guest's; only what is needed to begin again is kept.
        JSON.stringify(effect.kind === 'model' ? { ...effect, messages: [] } : effect),
      )
  }

  #noteRuns(
    key: number,
    event: JournalEvent,
    step: StepResult,
    { request, isPaused }: { request: string | null; isPaused: boolean },
  ): void {
    const { runId } = step.summary
    const startedAt = isPaused ? -1 : event.at
    this.#stopClock(key, event, runId)
    // A run that a limit had stopped goes on as a new one.
    if (event.kind === 'prompt' || (event.kind === 'resume' && event.runId === runId && runId))
      this.journal.run(
        'INSERT INTO runs (agent, run, request, started_at) VALUES (?, ?, ?, ?)',
        key,
        event.runId as string,
        request,
        runId === event.runId ? startedAt : 0,
      )
    for (const end of step.ended)
      this.journal.run(
        'UPDATE runs SET result = ? WHERE agent = ? AND run = ?',
        JSON.stringify(end),
        key,
        end.runId,
      )
    if (runId !== null && event.kind !== 'prompt')
      this.journal.run(
        'UPDATE runs SET started_at = ? WHERE agent = ? AND run = ? AND started_at = 0',
        startedAt,
        key,
        runId,
      )
  }

  /** The time of a run does not count while it is paused. */
  #stopClock(key: number, event: JournalEvent, runId: string | null): void {
    if (event.kind === 'pause')
      this.journal.run(
        'UPDATE runs SET started_at = min(-1, started_at - ?) WHERE agent = ? AND run = ? AND started_at > 0',
        event.at,
        key,
        runId,
      )
    if (event.kind === 'resume')
      this.journal.run(
        'UPDATE runs SET started_at = max(1, ? + started_at) WHERE agent = ? AND run = ? AND started_at < 0',
        event.at,
        key,
        runId,
      )
  }

  /** The guest should have stopped and did not: it is told so, and gets no effect carried out. */
  #enforce(agent: AgentRow, step: StepResult, hostStop: HostStop): AppliedStep {
    const event: JournalEvent = {
      kind: 'stop',
      at: hostStop.at,
      reason: 'host_limit',
      detail: hostStop.detail,
    }
    const text = JSON.stringify(event)
    const said = this.residents.step(agent, text, undefined, event.at)
    const stopped = this.#read(said.text, undefined, agent.key)
    const row = rowFor(agent, event, text, undefined, stopped, hashAnswer(said.text))
    const after = this.#commit(agent, event, stopped, row, null, {})
    this.residents.kept(agent, text.length, true)
    const ended = [...step.ended, ...stopped.ended]
    const taken = { ...stopped, effects: [], output: step.output, ended }
    return { agent: after, step: taken, ...this.footing(after) }
  }

  /** The answer to an event that is in the journal already, from the memory before it. */
  #again(agent: AgentRow, seq: number): AppliedStep {
    const instance = this.residents.at(agent, seq - 1)
    const row = this.journal.events(agent.key, seq - 1, seq)[0]
    if (row === undefined) throw new AgentError('AGENT_DAMAGED', `event ${seq} is not there`)
    const call = { operation: 'step', text: row.event, nowMs: row.at }
    const said = instance.call({ ...call, bytes: row.bytes ?? undefined }, LIMITS)
    this.residents.giveBack(instance)
    return { agent, step: checkStep(unwrap(said.text)), ...this.footing(agent) }
  }

  /** A refusal may have changed the memory it was made in: it goes. */
  #read(text: string, instance?: Instance, key?: number): StepResult {
    try {
      return checkStep(unwrap(text))
    } catch (error) {
      if (instance !== undefined) this.residents.giveBack(instance)
      if (key !== undefined) this.residents.forget(key)
      throw error
    }
  }
}

/** What a host's stop holds back; results of a run that goes on are taken, and then it is stopped. */
const BEGINNING: ReadonlySet<JournalEvent['kind']> = new Set(['prompt', 'direct'])
const HELD_BACK: ReadonlySet<JournalEvent['kind']> = new Set([
  'prompt',
  'direct',
  'model',
  'model_failed',
  'tool',
  'code',
  'waiting',
  'tick',
])

function rowFor(
  { seq }: Pick<AgentRow, 'seq'>,
  { at, kind }: JournalEvent,
  event: string,
  bytes: Uint8Array | undefined,
  { summary }: StepResult,
  answer: Buffer,
): EventRow {
  return { seq: seq + 1, at, kind, turn: summary.turnCount, event, bytes: bytes ?? null, answer }
}

export function unwrap<Value>(text: string): Value {
  let said: GuestReply<Value>
  try {
    said = JSON.parse(text) as GuestReply<Value>
  } catch (error) {
    throw new AgentError('AGENT_FAULT', 'the guest answered with something that is not JSON', error)
  }
  if ('refused' in said) throw toAgentError(said.refused)
  return said.ok
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

function isCompaction(journal: Journal, key: number, event: JournalEvent): boolean {
  if (event.kind !== 'model') return false
  const sql = 'SELECT kind FROM effects WHERE agent = ? AND effect = ?'
  return journal.get(sql, key, event.effectId)?.kind === 'compact'
}

function startOfRun(journal: Journal, key: number, runId: string | null): number | null {
  if (runId === null) return null
  const row = journal.get('SELECT started_at FROM runs WHERE agent = ? AND run = ?', key, runId)
  return row === undefined || Number(row.started_at) <= 0 ? null : Number(row.started_at)
}
