// A prompt as a task of MCP 2025-11-25: the run is the task. Its name says the agent and the run, and
// all that is answered about it comes from the journal, so that a task outlives the connection and the
// process without anything being kept for it. Found by owner, like everything. Called by server.ts.

import { processClock } from '@sluice/ledger/store/process-clock'
import type { SessionLabels } from '@sluice/protocol/agent-calls'
import type { RunEnd } from '../guest/protocol.ts'
import type { RunRow } from '../journal/rows.ts'
import type { ProgressListener } from '../runs/run-watch.ts'
import type { Service } from '../service/service.ts'
import type { PromptAnswer, PromptArguments } from '../service/service-types.ts'
import { AgentError } from '../shared/errors.ts'
import { TASK_POLL_MS, WAIT_MS_MAX } from '../shared/limits.ts'

export interface RunTask {
  readonly taskId: string
  readonly status: 'working' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** It is there as long as the run is. */
  readonly ttl: null
  readonly pollInterval: number
}

export interface TaskCaller {
  readonly owner: string
  /** What the caller's session has seen, in a gate. */
  readonly labels?: SessionLabels | undefined
}

export class RunTasks {
  readonly #service: Service
  readonly #owner: string
  readonly #labels: SessionLabels | undefined

  constructor(service: Service, { owner, labels }: TaskCaller) {
    this.#service = service
    this.#owner = owner
    this.#labels = labels
  }

  /** Begins the run and answers at once; progress goes on until it ends. */
  async begin(
    agent: string,
    prompt: PromptArguments,
    onProgress: ProgressListener | undefined,
  ): Promise<RunTask> {
    const begun = await this.#service.prompt(this.#owner, agent, { ...prompt, waitMs: 0 })
    const runId = begun.runId
    if (onProgress !== undefined && begun.state === 'running')
      this.#service.wait(this.#owner, agent, runId, WAIT_MS_MAX, onProgress).catch(() => undefined)
    return this.get(`${agent}.${runId}`)
  }

  async get(taskId: string): Promise<RunTask> {
    const { agent, run } = await this.#find(taskId)
    const { agent: row } = await this.#service.steps.standing(
      this.#owner,
      agent,
      processClock.nowMs(),
    )
    await this.#see(agent)
    const { waitingFor } = row.summary
    const startedAt = run.startedAt <= 0 ? row.createdAt : run.startedAt
    const about =
      run.result?.stop.reason ?? (waitingFor === null ? null : `waits for ${waitingFor}`)
    return {
      taskId,
      status: statusOf(run.result),
      ...(about === null ? {} : { statusMessage: about }),
      createdAt: new Date(startedAt).toISOString(),
      lastUpdatedAt: new Date(Math.max(startedAt, processClock.nowMs())).toISOString(),
      ttl: null,
      pollInterval: TASK_POLL_MS,
    }
  }

  /** Waits for the end, however long it takes. */
  async result(taskId: string): Promise<PromptAnswer> {
    const { agent, run } = await this.#find(taskId)
    for (;;) {
      const answer = await this.#service.wait(this.#owner, agent, run.runId, WAIT_MS_MAX)
      if (answer.state !== 'ended') continue
      await this.#see(agent)
      return answer
    }
  }

  async cancel(taskId: string): Promise<RunTask> {
    const { agent, run } = await this.#find(taskId)
    if (run.result !== null)
      throw new AgentError('AGENT_INPUT', `the task \`${taskId}\` has ended already`)
    const seen = this.#labels?.saw() ?? []
    if (seen.length > 0)
      await this.#service.steps.addLabels(this.#owner, agent, seen, processClock.nowMs())
    await this.#service.cancel(this.#owner, agent, run.runId)
    return this.get(taskId)
  }

  /** A caller that reads a run gets the labels of the agent's family. */
  async #see(agent: string): Promise<void> {
    this.#labels?.see(await this.#service.steps.labelsOf(this.#owner, [agent]))
  }

  async #find(taskId: string): Promise<{ agent: string; run: RunRow }> {
    const [, agent = '', runId = ''] = /^([\w-]{1,64})\.([\w-]{1,64})$/.exec(taskId) ?? []
    const run = await this.#service.steps.run(this.#owner, agent, runId).catch(() => undefined)
    // That it is not there says something, too.
    await this.#see(agent)
    if (run === undefined)
      throw new AgentError('AGENT_RUN_MISSING', `there is no task \`${taskId.slice(0, 130)}\``)
    return { agent, run }
  }
}

/** A run that met a limit is answered like one that ended; its `stop` says which. */
function statusOf(result: RunEnd | null): RunTask['status'] {
  if (result === null) return 'working'
  const { reason } = result.stop
  if (reason === 'cancelled') return 'cancelled'
  return reason === 'model_failed' ? 'failed' : 'completed'
}
