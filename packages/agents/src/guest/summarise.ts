// What is said of an agent after every step. The host keeps it beside the journal, so that lists,
// timers and metrics wake nobody.

import type { Files } from './files.ts'
import type { UsageMeter } from './meter.ts'
import type { AgentState, Changes, Config, Stop, Summary } from './protocol.ts'
import type { Todos } from './todos.ts'

export interface SummarySource {
  readonly config: Config
  readonly files: Files
  readonly todos: Todos
  readonly meter: UsageMeter
  readonly stop: Stop | null
}

interface SummarisedRun {
  /** Since when its time counts; null in a pause. */
  readonly clockFrom: number | null
  readonly isRunning: boolean
  readonly waitingOn: string | undefined
}

/** What was written since it was asked the last time. */
export function takeChanges({
  todos: list,
  files: all,
}: Pick<SummarySource, 'files' | 'todos'>): Changes | null {
  const todos = list.takeChanges()
  const { files, gone } = all.takeChanges()
  const isSame = todos === null && files.length === 0 && gone.length === 0
  return isSame ? null : { todos, files, gone }
}

export function summarise(
  agent: SummarySource,
  { clockFrom, isRunning, waitingOn }: SummarisedRun,
): Omit<Summary, 'runId' | 'queued'> {
  const { stop } = agent
  return {
    state: stateOf(stop, isRunning, waitingOn),
    turnCount: agent.meter.turnCount,
    toolCallCount: agent.meter.toolCallCount,
    fileCount: agent.files.count,
    fileBytes: agent.files.totalBytes,
    todos: agent.todos.counts,
    usage: agent.meter.usage,
    stop,
    waitingFor: waitingOn ?? null,
    wakeAt: stop === null ? wakeAt(agent.config, clockFrom) : null,
  }
}

function stateOf(stop: Stop | null, isRunning: boolean, waitingOn?: string): AgentState {
  if (stop !== null) return 'stopped'
  if (!isRunning) return 'idle'
  return waitingOn === undefined ? 'running' : 'waiting'
}

/** When the next limit of time falls, whether anything happens until then or not. */
function wakeAt({ limits }: Config, clockFrom: number | null): number | null {
  const times: number[] = []
  if (limits.expiresAt !== null) times.push(limits.expiresAt)
  if (limits.runMs !== null && clockFrom !== null) times.push(clockFrom + limits.runMs)
  return times.length === 0 ? null : Math.min(...times)
}
