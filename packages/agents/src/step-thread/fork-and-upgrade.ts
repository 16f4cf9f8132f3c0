// Agents made from agents: forks share their origin's memory and its family's budget; a move stores an idle
// agent of an older core in this one. Called in the step thread.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { JournalEvent, Price } from '../guest/protocol.ts'
import type { Answers } from '../journal/checkpoint-store.ts'
import type { Journal } from '../journal/journal.ts'
import type { AgentRow } from '../journal/rows.ts'
import type { Instance } from '../sandbox/instance.ts'
import { AgentError } from '../shared/errors.ts'
import { CHILDREN_MAX, FORKS_MAX } from '../shared/limits.ts'
import { checkStep } from '../steps/check-step.ts'
import { answersOf, hashAnswer, LIMITS } from '../steps/residents.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'
import type { MovedAgent } from '../transfer/begin-agent.ts'

export interface ForkOptions {
  readonly ids: readonly string[]
  readonly turn: number | null
  readonly nowMs: number
  /** The name that people see; forks that are made at once share it. */
  readonly name?: string | undefined
  /** Instead of the model of the agent. */
  readonly model?: ForkModel | undefined
}

export interface ForkModel {
  readonly name: string
  readonly price: Price | null
}

export function forkAgent(
  stepper: Stepper,
  agent: AgentRow,
  { ids, turn, nowMs, name, model: other }: ForkOptions,
): AgentRow[] {
  const { journal } = stepper
  if (ids.length < 1 || ids.length > FORKS_MAX)
    throw new AgentError('AGENT_LIMIT', `\`count\` goes from 1 to ${FORKS_MAX}`)
  if (journal.family(agent.family).members + ids.length > CHILDREN_MAX)
    throw new AgentError('AGENT_LIMIT', `a family has at most ${CHILDREN_MAX} agents`)
  const seq = turn === null ? agent.seq : journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError(
      'AGENT_INPUT',
      `\`${agent.id}\` has no turn ${turn} in its journal, which starts at event ${journal.historyStart(agent)}`,
    )
  const { image, memory, saved, answer, forked } =
    turn === null
      ? asItIs(stepper, agent, ids[0] as string, nowMs)
      : asItWas(stepper, agent, { seq, id: ids[0] as string, nowMs })
  const { summary } = checkStep(unwrap(answer))
  return journal.transact(() => {
    const { memories } = journal
    const shared = memory ?? memories.put(saved as Buffer, null, forked)
    if (memory !== undefined) memories.answerForForks(memory, forked)
    const { owner, family, depth, template, grants } = agent
    const { name: model, price } = other ?? { name: agent.model, price: agent.price }
    // With what it was made with, so that an export has it too.
    const { name: _, ...made } = agent.asked
    const forkOf = { id: agent.id, turn: summary.turnCount }
    const asked = { ...made, forkOf, ...(name ? { name } : {}), ...(other ? { model } : {}) }
    const known = { owner, family, depth, image, asked, model, price, template, grants }
    const about = { ...known, createdAt: nowMs }
    const forks = journal.insertAlike(about, summary, 1, ids)
    const range = [forks[0]?.key ?? 0, forks.at(-1)?.key ?? 0] as const
    memories.putCheckpoints(range, image, shared)
    journal.appendForked(range, nowMs, summary.turnCount, hashAnswer(answer))
    return forks
  })
}

/** What forks begin with, and what the first of them said to that; the others say the same. */
interface Origin {
  readonly image: string
  /** The row of the memory that they share, or the memory if it has no row yet. */
  readonly memory: number | undefined
  readonly saved?: Buffer
  readonly answer: string
  /** What they answer, which does not depend on their names either. */
  readonly forked: Answers
}

/** In the memory it is in, which is undone. */
function asItIs(
  { journal, residents }: Stepper,
  agent: AgentRow,
  id: string,
  nowMs: number,
): Origin {
  residents.checkpoint(agent)
  const memory = journal.memories.memoryOf(agent.key, agent.seq)
  const begun = residents.trying(agent, (instance) =>
    begin(journal, instance, { memory, id, nowMs }),
  )
  return { image: agent.image, memory, ...begun }
}

interface PastState {
  readonly seq: number
  readonly id: string
  readonly nowMs: number
}

function asItWas(
  { journal, residents }: Stepper,
  agent: AgentRow,
  { seq, id, nowMs }: PastState,
): Origin {
  const instance = residents.at(agent, seq)
  const memory = journal.memories.memoryOf(agent.key, seq)
  const saved = memory === undefined ? { saved: instance.save() } : {}
  const begun = begin(journal, instance, { memory, id, nowMs })
  residents.release(instance)
  return { image: instance.image.hash, memory, ...saved, ...begun }
}

interface BeginOptions {
  readonly memory: number | undefined
  readonly id: string
  readonly nowMs: number
}

function begin(
  { memories }: Journal,
  instance: Instance,
  { memory, id, nowMs }: BeginOptions,
): Pick<Origin, 'answer' | 'forked'> {
  const event: JournalEvent = { kind: 'forked', at: nowMs, id, seed: id }
  const call = { operation: 'step', text: JSON.stringify(event), nowMs }
  const answer = instance.call(call, LIMITS).text
  const { changes } = checkStep(unwrap(answer))
  const known = memory === undefined || changes !== null ? null : memories.answersOf(memory)
  return { answer, forked: known ?? answersOf(instance) }
}

/** Stores an agent of an older core as it is in this one (transfer/begin-agent.ts), as one more event. */
export function upgradeAgent(
  stepper: Stepper,
  agent: AgentRow,
  { text, bytes, answer, memory, before }: MovedAgent,
  nowMs: number,
): AgentRow {
  const { journal, residents, image } = stepper
  const { summary } = checkStep(unwrap(answer))
  const seq = agent.seq + 1
  const { memories } = journal
  journal.transact(() => {
    // The old core has to be found for everything before this event.
    if (memories.checkpoint(agent.key, 0) === undefined && firstImageIsUnknown(stepper, agent)) {
      const empty = memories.put(emptyMemory(stepper, agent), null)
      memories.putCheckpoint(agent.key, 0, agent.image, empty)
    }
    memories.putCheckpoint(agent.key, agent.seq, agent.image, memories.putPacked(before, null))
    const event = asBuffer(text).toString('utf8')
    const about = { seq, at: nowMs, kind: 'moved', turn: summary.turnCount, event }
    const row = { ...about, bytes: bytes ?? null, answer: hashAnswer(answer) }
    journal.insertEvent(agent.key, row, null)
    memories.putCheckpoint(agent.key, seq, image.hash, memories.putPacked(memory, null))
    journal.setAgent(agent, row, { summary, hostStop: agent.hostStop, image: image.hash })
  })
  residents.forget(agent.key)
  return journal.agent(agent.id) as AgentRow
}

function firstImageIsUnknown({ journal }: Stepper, agent: AgentRow): boolean {
  return journal.events(agent.key, 0, 1).some(({ kind }) => kind === 'create')
}

/** The memory of the old core before its first event. */
function emptyMemory({ residents }: Stepper, agent: AgentRow): Buffer {
  const instance = residents.at({ ...agent, key: -1 }, 0)
  const memory = instance.save()
  residents.release(instance)
  return memory
}
