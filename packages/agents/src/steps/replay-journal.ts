// Runs the journal of an agent again in a fresh sandbox: every answer is compared with the hash in the
// journal, and the memory with every checkpoint on the way, to the byte. In slices, since a history may
// be long. Called in the step thread; changes nothing.

import { hash } from 'node:crypto'
import type { AgentRow, EventRow } from '../journal/rows.ts'
import type { Instance } from '../sandbox/instance.ts'
import { AgentError } from '../shared/errors.ts'
import { REPLAY_EVENTS_AT_ONCE } from '../shared/limits.ts'
import type { SlicedWork } from '../shared/sliced.ts'
import { hashAnswer, LIMITS } from './residents.ts'
import type { Stepper } from './stepper.ts'

export interface ReplayDifference {
  readonly seq: number
  readonly kind: string
  readonly turn: number
  readonly what: 'answer' | 'memory' | 'missing' | 'failed'
  readonly detail: string
}

export interface ReplayReport {
  /** The first and the last event that were run. */
  readonly from: number
  readonly to: number
  readonly turn: number
  readonly events: number
  /** Memories that were compared to the byte: checkpoints, and the memory of the agent itself. */
  readonly memories: number
  readonly memoryDigest: string | null
  readonly difference: ReplayDifference | null
}

/** `check` throws if the agent is gone meanwhile. */
export function* replayJournal(
  stepper: Stepper,
  agent: AgentRow,
  turn: number | null,
  check: () => unknown,
): SlicedWork<ReplayReport> {
  const { journal, residents } = stepper
  const to = turn === null ? agent.seq : journal.seqOfTurn(agent.key, turn)
  const from = journal.historyStart(agent)
  if (to === undefined || to < from)
    throw new AgentError(
      'AGENT_INPUT',
      `\`${agent.id}\` has no turn ${turn} in its journal, which starts at event ${from}`,
    )
  const start = journal.memories.checkpoint(agent.key, from - 1)
  if (start === undefined && from > 1)
    throw new AgentError('AGENT_DAMAGED', `nothing is kept of the agent before event ${from}`)
  let instance =
    start === undefined
      ? residents.fresh(imageAt(stepper, agent, 1))
      : residents.revive(start.image, start.memory)
  let memories = 0
  let last: EventRow | undefined
  let difference: ReplayDifference | null = null
  try {
    // The last memory is that of the agent itself, if all of the journal is run.
    const own = to === agent.seq ? ownMemory(stepper, agent) : undefined
    for (let seq = from; seq <= to && difference === null; ) {
      check()
      if (journal.historyStart(agent) > from)
        throw new AgentError('AGENT_BUSY', 'old events were dropped meanwhile: replay it again')
      const first = seq
      const rows = journal.events(agent.key, seq - 1, Math.min(to, seq + REPLAY_EVENTS_AT_ONCE - 1))
      for (const row of rows) {
        if (row.seq !== seq) break
        if (row.kind === 'moved') {
          residents.release(instance)
          instance = residents.fresh(imageAt(stepper, agent, seq))
        }
        difference = runRow(instance, row)
        if (difference !== null) break
        const memory =
          seq === agent.seq && own !== undefined ? own : keptMemory(stepper, agent, seq)
        if (memory !== undefined) {
          memories += 1
          if (!instance.save().equals(memory))
            difference = differenceAt(row, 'memory', 'the memory after it is another')
        }
        last = row
        seq += 1
        if (difference !== null) break
        yield
      }
      if (difference === null && seq === first) {
        const gap = { seq, kind: '', turn: last?.turn ?? 0 }
        difference = { ...gap, what: 'missing', detail: 'the event is not in the journal' }
      }
    }
    const memoryDigest = difference === null ? hash('sha256', instance.save()) : null
    const events = (last?.seq ?? from - 1) - from + 1
    const reached = { to: last?.seq ?? from - 1, turn: last?.turn ?? 0 }
    return { from, ...reached, events, memories, memoryDigest, difference }
  } finally {
    residents.release(instance)
  }
}

/** Returns undefined if the agent cannot be woken: then an event differs, and that is reported. */
function ownMemory({ residents }: Stepper, agent: AgentRow): Buffer | undefined {
  try {
    return residents.memory(agent)
  } catch {
    return undefined
  }
}

function runRow(instance: Instance, row: EventRow): ReplayDifference | null {
  const { event: text, bytes, at: nowMs, answer } = row
  try {
    const call = { operation: 'step', text, bytes: bytes ?? undefined, nowMs }
    const replayed = instance.call(call, LIMITS).text
    if (answer === null || hashAnswer(replayed).equals(answer)) return null
    return differenceAt(row, 'answer', 'the agent answered something else')
  } catch (error) {
    return differenceAt(row, 'failed', (error as Error).message)
  }
}

function differenceAt(
  { seq, kind, turn }: EventRow,
  what: ReplayDifference['what'],
  detail: string,
): ReplayDifference {
  return { seq, kind, turn, what, detail }
}

function keptMemory({ journal }: Stepper, { key }: AgentRow, seq: number): Buffer | undefined {
  if (journal.memories.memoryOf(key, seq) === undefined) return undefined
  return journal.memories.checkpoint(key, seq)?.memory
}

/** The core that an event ran on: that of the next checkpoint, or the agent's own. */
function imageAt({ journal }: Stepper, agent: AgentRow, seq: number): string {
  const sql = 'SELECT image FROM checkpoints WHERE agent = $1 AND seq >= $2 ORDER BY seq LIMIT 1'
  return String(journal.get(sql, agent.key, seq)?.image ?? agent.image)
}
