// Agents made from agents: forks share their origin's memory and its family's budget; a move brings
// an idle agent from an older core into this one, by the portable form, and proves that nothing
// changed on the way. Called in the step thread.

import type { Event } from '../guest/words.ts'
import { digestOf } from './canonical.ts'
import { checkStep } from './check-step.ts'
import { AgentError } from './errors.ts'
import { CHILDREN_MAX, FORKS_MAX } from './limits.ts'
import { packFiles, unpackExported } from './pack-files.ts'
import { type Exported, toPortable } from './portable.ts'
import { hashAnswer, LIMITS } from './residents.ts'
import type { AgentRow } from './rows.ts'
import { type Stepper, unwrap } from './stepper.ts'
import { takeExport } from './take-export.ts'

export function forkAgent(
  stepper: Stepper,
  agent: AgentRow,
  ids: readonly string[],
  turn: number | null,
  nowMs: number,
): AgentRow[] {
  const { journal, residents } = stepper
  if (ids.length < 1 || ids.length > FORKS_MAX)
    throw new AgentError('AGENT_LIMIT', `\`count\` goes from 1 to ${FORKS_MAX}`)
  if (journal.familyMembers(agent.family) + ids.length > CHILDREN_MAX)
    throw new AgentError('AGENT_LIMIT', `a family has at most ${CHILDREN_MAX} agents`)
  const seq = turn === null ? agent.seq : journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError('AGENT_INPUT', `\`${agent.id}\` has no turn ${turn} in its journal`)
  // The checkpoint is what all forks share.
  if (turn === null) residents.checkpoint(agent)
  const instance = residents.at(agent, seq)
  const image = instance.image.hash
  const origin = instance.save()
  const first = forkedEvent(ids[0] as string, nowMs)
  const call = { operation: 'step', text: first, nowMs }
  const said = instance.call(call, LIMITS)
  const { summary } = checkStep(unwrap(said.text))
  residents.giveBack(instance)
  const answer = hashAnswer(said.text)
  return journal.transact(() => {
    const memory = journal.memoryOf(agent.key, seq) ?? journal.putMemory(origin)
    const { owner, family, depth, asked, model, template, grants } = agent
    const { limits, price } = journal.family(family)
    const about = { owner, family, depth, image, asked, model, template, grants, limits, price }
    return ids.map((id) => {
      const fork = journal.insertAgent({ ...about, id, createdAt: nowMs }, summary, 1)
      journal.putCheckpoint(fork.key, 0, image, memory)
      const event = forkedEvent(id, nowMs)
      const row = { seq: 1, at: nowMs, kind: 'forked', turn: summary.turnCount, event }
      // What a fork answers does not depend on its name.
      journal.append(fork.key, { ...row, bytes: null, answer }, null)
      return fork
    })
  })
}

function forkedEvent(id: string, nowMs: number): string {
  return JSON.stringify({ kind: 'forked', at: nowMs, id, seed: id } satisfies Event)
}

export function moveAgent(stepper: Stepper, agent: AgentRow, nowMs: number): AgentRow {
  if (agent.summary.runId !== null) return agent
  const { journal, residents, image } = stepper
  const options = { secrets: 'keep', nowMs, installation: '' } as const
  const before = takeExport(stepper, agent, options)
  const from = toPortable(before)
  const { files, bytes } = packFiles(unpackExported(before.files))
  const { config } = from
  const event: Event = {
    kind: 'create',
    at: nowMs,
    id: agent.id,
    seed: agent.id,
    config,
    files,
    from,
  }
  const text = JSON.stringify(event)
  const { instance, answer } = residents.begin(image.hash, text, bytes, nowMs)
  const { summary } = checkStep(unwrap(answer.text))
  const old = residents.memory(agent)
  const seq = agent.seq + 1
  journal.transact(() => {
    // The old core has to be found for everything before this event.
    if (journal.checkpoint(agent.key, 0) === undefined && firstImageIsUnknown(stepper, agent))
      journal.putCheckpoint(
        agent.key,
        0,
        agent.image,
        journal.putMemory(emptyMemory(stepper, agent)),
      )
    journal.putCheckpoint(agent.key, agent.seq, agent.image, journal.putMemory(old))
    const row = { seq, at: nowMs, kind: 'moved', turn: summary.turnCount, event: text }
    journal.append(
      agent.key,
      { ...row, bytes: bytes ?? null, answer: hashAnswer(answer.text) },
      null,
    )
    journal.putCheckpoint(agent.key, seq, image.hash, journal.putMemory(instance.save()))
    journal.run('UPDATE agents SET image = ? WHERE agent = ?', image.hash, agent.key)
    journal.setStanding(agent.key, seq, summary, agent.hostStop)
    residents.forget(agent.key)
    const moved = journal.agent(agent.id) as AgentRow
    const after = takeExport(stepper, moved, options)
    if (digestOf(essence(before)) !== digestOf(essence(after)))
      throw new AgentError(
        'AGENT_DAMAGED',
        `\`${agent.id}\` did not come through the move unchanged`,
      )
  })
  residents.forget(agent.key)
  return journal.agent(agent.id) as AgentRow
}

/** What must be the same on both sides. */
function essence({ agentState, todos, files }: Exported): unknown {
  return { agentState, todos, files }
}

function firstImageIsUnknown({ journal }: Stepper, agent: AgentRow): boolean {
  return journal.events(agent.key, 0, 1).some(({ kind }) => kind === 'create')
}

/** The memory of the old core before its first event. */
function emptyMemory({ residents }: Stepper, agent: AgentRow): Buffer {
  const instance = residents.at({ ...agent, key: -1 }, 0)
  const memory = instance.save()
  residents.giveBack(instance)
  return memory
}
