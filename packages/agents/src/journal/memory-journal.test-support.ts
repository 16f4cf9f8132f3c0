// A journal in memory, as simple as it can be: the model that SQLite is compared with, and the proof that
// the interface needs no SQL. A transaction is a copy that is kept or thrown away.

import type { Effect, RunEnd } from '../guest/protocol.ts'
import {
  commitStep,
  type InsertedRun,
  type OpenWorkTables,
  type StepTables,
} from './commit-step.ts'
import type { AppendReply, EventJournal, Fence, JournalEntry } from './event-journal.ts'
import type { SpentUsage } from './model-usage.ts'
import type { AgentRow, EventRow, FamilyRow } from './rows.ts'

interface StoredRun extends InsertedRun {
  result: RunEnd | null
}

interface State {
  readonly agents: Map<string, AgentRow>
  readonly families: Map<number, FamilyRow>
  readonly events: Map<number, (EventRow & { readonly nonce: string | null })[]>
  readonly runs: Map<string, StoredRun>
  readonly effects: Map<string, Effect>
  readonly usage: SpentUsage[]
}

export class MemoryJournal implements EventJournal {
  /** Set to refuse every write, as a full disk does. */
  isFull = false
  state: State

  constructor(agent: AgentRow, family: FamilyRow) {
    this.state = {
      agents: new Map([[agent.id, agent]]),
      families: new Map([[agent.family, family]]),
      events: new Map([[agent.key, []]]),
      runs: new Map(),
      effects: new Map(),
      usage: [],
    }
  }

  async append({ agent: from }: Fence, entries: readonly JournalEntry[]): Promise<AppendReply> {
    const { seq } = this.state.agents.get(from.id) ?? {}
    if (seq !== from.seq) return { status: 'fenced', seq }
    const copy = structuredClone(this.state)
    const tables = toTables(copy)
    let agent = from
    for (const entry of entries) agent = commitStep(tables, { agent }, entry)
    if (this.isFull) throw new Error('the disk is full')
    this.state = copy
    const runStartedAt = tables.work.runStartedAt(agent.key, agent.summary.runId)
    return { status: 'appended', agent, family: tables.family(agent.family), runStartedAt }
  }
}

function toTables(state: State): StepTables {
  return {
    family: (family) => state.families.get(family) as FamilyRow,
    setFamily: (family, row) => void state.families.set(family, row),
    insertEvent: (key, row, nonce) => void state.events.get(key)?.push({ ...row, nonce }),
    setAgent: (agent, { seq }, { summary, hostStop }) => {
      const isStopped = hostStop !== null || summary.stop !== null
      const going = agent.pausedAt === null ? summary.state : 'paused'
      const after = {
        ...agent,
        seq,
        summary,
        hostStop,
        state: isStopped ? 'stopped' : going,
      } as const
      state.agents.set(agent.id, after)
      return after
    },
    work: toWork(state),
    usage: { add: (usage) => void state.usage.push(usage) },
  }
}

function toWork({ runs, effects }: State): OpenWorkTables {
  const change = (name: string, to: (run: StoredRun) => Partial<StoredRun>): void => {
    const run = runs.get(name)
    if (run !== undefined) runs.set(name, { ...run, ...to(run) })
  }
  return {
    insertRun: (key, run) => void runs.set(`${key} ${run.runId}`, { ...run, result: null }),
    endRun: (key, end) => change(`${key} ${end.runId}`, () => ({ result: end })),
    startRun: (key, runId, startedAt) =>
      change(`${key} ${runId}`, (run) => (run.startedAt === 0 ? { startedAt } : {})),
    stopClock: (key, runId, atMs) =>
      change(`${key} ${runId}`, ({ startedAt: was }) =>
        was > 0 ? { startedAt: Math.min(-1, was - atMs) } : {},
      ),
    continueClock: (key, runId, atMs) =>
      change(`${key} ${runId}`, ({ startedAt: was }) =>
        was < 0 ? { startedAt: Math.max(1, atMs + was) } : {},
      ),
    runStartedAt: (key, runId) => {
      const { startedAt = 0 } = runs.get(`${key} ${runId}`) ?? {}
      return startedAt > 0 ? startedAt : null
    },
    insertEffect: (key, effect) => void effects.set(`${key} ${effect.id}`, effect),
    removeEffect: (key, effectId) => void effects.delete(`${key} ${effectId}`),
    removeEffects: () => effects.clear(),
    effectKind: (key, effectId) => effects.get(`${key} ${effectId}`)?.kind,
  }
}
