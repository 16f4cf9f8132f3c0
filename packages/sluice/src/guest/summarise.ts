// What is said of an agent after every step. The host keeps it beside the journal, so that lists,
// timers and metrics wake nobody.

import type { Files } from './files.ts'
import type { UsageMeter } from './meter.ts'
import type { AgentState, Config, Stop, Summary } from './protocol.ts'
import type { Todos } from './todos.ts'

export interface SummarySource {
  readonly config: Config
  readonly files: Files
  readonly todos: Todos
  readonly meter: UsageMeter
  readonly stop: Stop | null
}

export function summarise(
  agent: SummarySource,
  runStartedAt: number | undefined,
  waitingOn: string | undefined,
): Omit<Summary, 'runId' | 'queued'> {
  const { stop } = agent
  return {
    state: stateOf(stop, runStartedAt, waitingOn),
    turnCount: agent.meter.turnCount,
    toolCallCount: agent.meter.toolCallCount,
    fileCount: agent.files.count,
    fileBytes: agent.files.totalBytes,
    todos: agent.todos.counts,
    usage: agent.meter.usage,
    stop,
    waitingFor: waitingOn ?? null,
    wakeAt: stop === null ? wakeAt(agent.config, runStartedAt) : null,
  }
}

function stateOf(stop: Stop | null, runStartedAt?: number, waitingOn?: string): AgentState {
  if (stop !== null) return 'stopped'
  if (runStartedAt === undefined) return 'idle'
  return waitingOn === undefined ? 'running' : 'waiting'
}

/** When the next limit of time falls, whether anything happens until then or not. */
function wakeAt({ limits }: Config, runStartedAt: number | undefined): number | null {
  const times: number[] = []
  if (limits.expiresAt !== null) times.push(limits.expiresAt)
  if (limits.runMs !== null && runStartedAt !== undefined) times.push(runStartedAt + limits.runMs)
  return times.length === 0 ? null : Math.min(...times)
}
