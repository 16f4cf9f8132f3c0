// What the step thread does: every change of an agent is an event that is run in its memory and
// committed to the journal with the summary, the counts, the runs and the open effects, in one
// transaction. A refused or failed event leaves nothing. Called through step-thread.ts.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { AgentQuery, GuestReply, JournalEvent, StepResult } from '../guest/protocol.ts'
import type { JournalPlace } from '../journal/database.ts'
import type { AppendReply, EventJournal, JournalEntry } from '../journal/event-journal.ts'
import { findHostStop, type HostUsage } from '../journal/family-limits.ts'
import { Journal } from '../journal/journal.ts'
import type { NewAgent } from '../journal/new-rows.ts'
import { type HistoryRetention, Retention } from '../journal/retention.ts'
import type { AgentRow, HostStop } from '../journal/rows.ts'
import type { Image } from '../sandbox/image.ts'
import type { Instance } from '../sandbox/instance.ts'
import { AgentError, toAgentError } from '../shared/errors.ts'
import {
  AGENTS_PER_OWNER_MAX,
  CHILDREN_MAX,
  HISTORY_MEGABYTES_DEFAULT,
  KNOWN_START_LENGTH_MAX,
  KNOWN_STARTS_MAX,
  OWN_EVENTS_AGENTS_MAX,
} from '../shared/limits.ts'
import { checkStep } from './check-step.ts'
import { AT_REST, hashAnswer, LIMITS, Residents } from './residents.ts'

export interface AppliedStep extends HostUsage {
  readonly agent: AgentRow
  readonly step: StepResult
}

type AppendedStep = Extract<AppendReply, { status: 'appended' }>

export interface ApplyOptions {
  /** The request that a prompt belongs to. */
  readonly request?: string | null | undefined
  /** A reset from inside clears the agent, not what its family has used. */
  readonly keepsCounts?: boolean | undefined
  /** The owner whose turn it takes, if that is not the caller. */
  readonly whose?: string | undefined
}

const KEPT: HistoryRetention = { ageMs: null, bytes: HISTORY_MEGABYTES_DEFAULT * 1_048_576 }

/** What the first event of an agent led to, where another thread ran it. */
export interface BegunAgent {
  readonly answer: string
  /** The memory as it is stored. */
  readonly memory: Uint8Array
}

/** The event that creates an agent, as text. */
export interface FirstEvent {
  readonly text: string
  readonly at: number
  /** The bytes of files that are no text. */
  readonly bytes?: Uint8Array | undefined
}

/** What a guest answers to a question. */
export interface QueryAnswer {
  /** A value of the type that belongs to the question; the guest is not trusted to keep to it. */
  readonly value: unknown
  /** The bytes of a file, if the question was for one. */
  readonly content: Uint8Array | undefined
}

export class Stepper {
  readonly journal: Journal
  readonly residents: Residents
  readonly image: Image
  readonly #events: EventJournal
  readonly #retention: Retention
  /**
   * The core's answers to events that create an agent, by what determines them: image and config. Name, seed and
   * time of an agent do not enter that answer, so the next agent with the same config is committed without being
   * run; the first use runs the event, and its answer is compared with the committed one.
   */
  readonly #starts = new LruMap<string, KnownStart>(KNOWN_STARTS_MAX)
  /** Agents to which this stepper has committed an event itself. */
  readonly #own = new Set<number>()

  constructor(
    place: JournalPlace,
    image: Image,
    retention: HistoryRetention = KEPT,
    /** Where steps are committed, if that is not the journal itself. */
    wrap: (journal: EventJournal) => EventJournal = (journal) => journal,
  ) {
    this.journal = new Journal(place)
    this.#events = wrap(this.journal)
    this.journal.memories.putImage(image.hash, image.bytes)
    this.image = image
    this.#retention = new Retention(this.journal, retention)
    this.residents = new Residents(this.journal, image, this.#retention)
  }

  close(): void {
    this.residents.rest()
    this.journal.close()
  }

  /** What can be done while nobody waits; true if there is more. */
  tidy(nowMs: number): boolean {
    if (!this.journal.database.isOpen) return false
    this.residents.tidy()
    this.journal.tidy()
    this.journal.usage.drop(nowMs)
    return this.#retention.sweep(nowMs)
  }

  /** `owner` null is the gate itself. The agent of another owner is not found, as one that does not exist. */
  find(owner: string | null, id: string): AgentRow {
    const agent = this.journal.agent(id)
    if (agent === undefined || (owner !== null && agent.owner !== owner))
      throw new AgentError('AGENT_NOT_FOUND', `there is no agent \`${id}\``)
    if (!this.journal.isOwn(agent.family))
      throw new AgentError('AGENT_ELSEWHERE', `\`${id}\` runs at another gate: try again`)
    return agent
  }

  /** Nothing in memory is what the journal has any more. */
  forgetAll(): void {
    this.#own.clear()
    this.residents.forgetAll()
  }

  create(fresh: NewAgent, event: JournalEvent, bytes: Uint8Array | undefined): AppliedStep {
    this.checkRoom(fresh)
    const source = { text: JSON.stringify(event), at: event.at, bytes }
    const name = bytes === undefined ? startName(fresh.image, event) : undefined
    const known = name === undefined ? undefined : this.#starts.get(name)
    if (known !== undefined) return this.#insert(fresh, source, known)
    const { applied, start } = this.#begin(fresh, source)
    if (name !== undefined) this.#starts.set(name, start)
    return applied
  }

  /** The same of an event that is text already, and may be large; `begun` if another thread ran it. */
  createFrom(fresh: NewAgent, source: FirstEvent, begun?: BegunAgent): AppliedStep {
    if (begun === undefined) return this.#begin(fresh, source).applied
    const { answer, memory } = begun
    const start = { step: checkStep(unwrap(answer)), answer: hashAnswer(answer) }
    return this.#insert(fresh, source, start, memory)
  }

  #begin(fresh: NewAgent, source: FirstEvent): { applied: AppliedStep; start: KnownStart } {
    const { text, bytes, at } = source
    const { instance, answer } = this.residents.begin(fresh.image, text, bytes, at)
    const start = { step: this.#read(answer.text, instance), answer: hashAnswer(answer.text) }
    const applied = this.#insert(fresh, source, start)
    this.residents.adopt({ key: applied.agent.key, image: fresh.image, seq: 1 }, instance)
    return { applied, start }
  }

  /** `memory` is that after the event, if the agent is not in memory here. */
  #insert(
    fresh: NewAgent,
    { text: event, at, bytes }: FirstEvent,
    { step, answer }: KnownStart,
    memory?: Uint8Array,
  ): AppliedStep {
    const turn = step.summary.turnCount
    const row = { seq: 1, at, kind: 'create', turn, event, bytes: bytes ?? null, answer }
    const agent = this.journal.transact(() => {
      const { memories } = this.journal
      const made = this.journal.insertAgent(fresh, step.summary, row)
      if (memory !== undefined)
        memories.putCheckpoint(made.key, 1, fresh.image, memories.putPacked(memory, null))
      return made
    })
    return { agent, step, ...this.journal.getUsage(agent) }
  }

  /** Checks that its owner, and the family that it joins, have room for one more agent. */
  checkRoom({ owner, family }: Pick<NewAgent, 'owner' | 'family'>): void {
    if (this.journal.countAgents(owner) >= AGENTS_PER_OWNER_MAX)
      throw new AgentError('AGENT_LIMIT', `there are ${AGENTS_PER_OWNER_MAX} agents already`)
    if (family !== undefined && this.journal.family(family).members >= CHILDREN_MAX)
      throw new AgentError('AGENT_LIMIT', `a family has at most ${CHILDREN_MAX} agents`)
  }

  /**
   * Runs an event and commits it. `nonce` names the request: one that was committed and whose answer
   * was lost with a thread is answered from the journal, not run again.
   */
  async apply(
    agent: AgentRow,
    event: JournalEvent,
    bytes?: Uint8Array,
    nonce?: string,
    how: ApplyOptions = {},
  ): Promise<AppliedStep> {
    // Requests are repeated in their order, so that after one of its own none was committed before.
    const isOwn = nonce === undefined || this.#own.has(agent.key)
    const before = isOwn ? undefined : this.journal.seqOf(agent.key, nonce)
    if (before !== undefined) return this.#again(agent, before)
    const stopped = findHostStop(agent, this.journal.getUsage(agent), event.at)
    if (stopped !== null && (agent.hostStop === null ? BEGINNING : HELD_BACK).has(event.kind))
      throw new AgentError('AGENT_STOPPED', `the agent is stopped (${stopped.detail})`)
    const { entry, text } = this.#run(agent, event, bytes)
    const { step } = entry
    const { request, keepsCounts } = how
    const reply = await this.#append(agent, {
      ...entry,
      nonce: nonce ?? null,
      request,
      keepsCounts,
    })
    this.#noteOwn(agent.key)
    this.residents.kept(agent, text.length + (bytes?.length ?? 0), step.ended.length > 0)
    const { hostStop } = reply.agent
    if (hostStop !== null && agent.hostStop === null && step.summary.stop === null)
      return this.#enforce(reply.agent, step, hostStop)
    return { ...reply, step: hostStop === null ? step : { ...step, effects: [] } }
  }

  /** Runs an event in the agent's memory; nothing is stored yet. */
  #run(agent: AgentRow, event: JournalEvent, bytes: Uint8Array | undefined) {
    const text = JSON.stringify(event)
    const answer = this.residents.step(agent, text, bytes, event.at)
    const step = this.#read(answer.text, undefined, agent.key)
    const row = { event: text, bytes: bytes ?? null, answer: hashAnswer(answer.text) }
    return { entry: { event, row, step }, text }
  }

  #noteOwn(key: number): void {
    if (this.#own.size >= OWN_EVENTS_AGENTS_MAX) this.#own.clear()
    this.#own.add(key)
  }

  /** From the guest; or as it answered when it came to rest, if nothing has happened since. */
  ask(agent: AgentRow, question: AgentQuery, nowMs: number): QueryAnswer {
    const text = JSON.stringify(question)
    if (AT_REST.has(text) && !this.residents.isAhead(agent)) {
      const known = this.journal.memories.answerOf(agent, text)
      if (known !== undefined) return { value: unwrap<unknown>(known), content: undefined }
    }
    const answer = this.residents.asking(agent, nowMs, (ask) => ask(text))
    return { value: unwrap<unknown>(answer.text), content: answer.bytes }
  }

  remove(agent: AgentRow, nowMs: number): void {
    this.residents.forget(agent.key)
    this.journal.transact(() => this.journal.remove(agent, nowMs))
  }

  /** Stores what the guest ran. If that fails, its memory is not what the journal has, and goes. */
  async #append(agent: AgentRow, entry: JournalEntry): Promise<AppendedStep> {
    try {
      const reply = await this.#events.append({ agent }, [entry])
      if (reply.status === 'appended') return reply
    } catch (error) {
      this.#discard(agent)
      throw error
    }
    this.#discard(agent)
    throw new AgentError('AGENT_BUSY', `\`${agent.id}\` was changed by another request: try again`)
  }

  /** It is unknown whether the event was committed: the nonce of a repeated request has to be looked up. */
  #discard({ key, id }: AgentRow): void {
    this.#own.delete(key)
    this.residents.forget(key)
    this.journal.forgetRow(id)
  }

  /** The guest should have stopped and did not: it gets a stop, and no effect is carried out. */
  async #enforce(agent: AgentRow, step: StepResult, hostStop: HostStop): Promise<AppliedStep> {
    const { at, detail } = hostStop
    const event: JournalEvent = { kind: 'stop', at, reason: 'host_limit', detail }
    const { entry, text } = this.#run(agent, event, undefined)
    const after = await this.#append(agent, { ...entry, nonce: null })
    this.residents.kept(agent, text.length, true)
    const ended = [...step.ended, ...entry.step.ended]
    return { ...after, step: { ...entry.step, effects: [], output: step.output, ended } }
  }

  /** The answer to an event that is in the journal already, from the memory before it. */
  #again(agent: AgentRow, seq: number): AppliedStep {
    const instance = this.residents.at(agent, seq - 1)
    const row = this.journal.events(agent.key, seq - 1, seq)[0]
    if (row === undefined) throw new AgentError('AGENT_DAMAGED', `event ${seq} is not there`)
    const call = { operation: 'step', text: row.event, nowMs: row.at }
    const answer = instance.call({ ...call, bytes: row.bytes ?? undefined }, LIMITS)
    this.residents.release(instance)
    return { agent, step: checkStep(unwrap(answer.text)), ...this.journal.getUsage(agent) }
  }

  /** A refusal may have changed the memory it was made in: it goes. */
  #read(text: string, instance?: Instance, key?: number): StepResult {
    try {
      return checkStep(unwrap(text))
    } catch (error) {
      if (instance !== undefined) this.residents.release(instance)
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

export function unwrap<Value>(text: string): Value {
  let reply: GuestReply<Value>
  try {
    reply = JSON.parse(text) as GuestReply<Value>
  } catch (error) {
    throw new AgentError('AGENT_FAULT', 'the guest answered with something that is not JSON', error)
  }
  if ('refused' in reply) throw toAgentError(reply.refused)
  return reply.ok
}

interface KnownStart {
  readonly step: StepResult
  readonly answer: Buffer
}

/** Returns undefined if the answer may depend on more: files, an import, a time that can be over. */
function startName(image: string, event: JournalEvent): string | undefined {
  if (event.kind !== 'create' || event.files.length > 0 || event.from !== undefined)
    return undefined
  if (event.config.limits.expiresAt !== null) return undefined
  const config = JSON.stringify(event.config)
  return config.length > KNOWN_START_LENGTH_MAX ? undefined : `${image} ${config}`
}
