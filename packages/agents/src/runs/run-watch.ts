// Who waits for what: runs that end, results of calls made directly, and those who want to see
// progress. Nothing here decides anything; losing it loses no run.

import type { JournalEvent, RunEnd } from '../guest/protocol.ts'
import type { AppliedStep } from '../steps/stepper.ts'

export interface Progress {
  readonly runId: string
  readonly turn: number
  readonly kind: JournalEvent['kind']
  readonly message: string
  readonly todos: Readonly<Record<string, number>>
}

/** Somebody who waits for a run and wants to see it go on. */
export interface ProgressListener {
  onEvent(progress: Progress): void
  /** Text of the model as it comes; what is in the journal is the whole answer. */
  onText?(text: string): void
  /** No more events follow. */
  onEnd?(): void
}

interface Waiter {
  readonly agent: string
  readonly end: (result: RunEnd | undefined) => void
  readonly listener: ProgressListener | undefined
}

/** What a call that was made directly came to. */
export interface ToolResult {
  readonly content: string
  readonly isError: boolean
}

export interface WaitOptions {
  readonly waitMs: number | undefined
  readonly onProgress?: ProgressListener | undefined
  readonly signal?: AbortSignal | undefined
}

export class RunWatch {
  readonly #runs = new Map<string, Set<Waiter>>()
  /** Who looks at an agent, whatever run it is in. */
  readonly #onlookers = new Map<string, Set<ProgressListener>>()
  readonly #outcomes = new Map<string, (outcome: ToolResult) => void>()

  /** The run's end, or nothing when the time is up or the caller has gone. */
  until(
    agent: string,
    runId: string,
    { waitMs, onProgress: listener, signal }: WaitOptions,
  ): Promise<RunEnd | undefined> {
    return new Promise((resolve) => {
      const end = (result: RunEnd | undefined): void => {
        clearTimeout(timer)
        this.#runs.get(runId)?.delete(waiter)
        if (this.#runs.get(runId)?.size === 0) this.#runs.delete(runId)
        listener?.onEnd?.()
        resolve(result)
      }
      const waiter: Waiter = { agent, end, listener }
      const timer = setTimeout(() => end(undefined), waitMs)
      signal?.addEventListener('abort', () => end(undefined), { once: true })
      const waiters = this.#runs.get(runId) ?? new Set()
      this.#runs.set(runId, waiters.add(waiter))
    })
  }

  /** Every event and text of an agent, from now until the returned function is called. */
  follow(agent: string, listener: ProgressListener): () => void {
    const onlookers = this.#onlookers.get(agent) ?? new Set()
    this.#onlookers.set(agent, onlookers.add(listener))
    return () => {
      onlookers.delete(listener)
      if (onlookers.size === 0 && this.#onlookers.get(agent) === onlookers)
        this.#onlookers.delete(agent)
    }
  }

  /** Receives the model's text as it is streamed; undefined if no one listens. */
  textSink(agent: string, runId: string | null): ((text: string) => void) | undefined {
    const listeners = (): ProgressListener[] =>
      this.#listenersOf(agent, runId).filter(({ onText }) => onText !== undefined)
    if (listeners().length === 0) return undefined
    return (text) => {
      for (const listener of listeners()) listener.onText?.(text)
    }
  }

  #listenersOf(agent: string, runId: string | null): ProgressListener[] {
    const waiting = [...(this.#runs.get(runId ?? '') ?? [])].flatMap(({ agent: id, listener }) =>
      id === agent && listener !== undefined ? [listener] : [],
    )
    return [...waiting, ...(this.#onlookers.get(agent) ?? [])]
  }

  forget(runId: string): void {
    for (const { end } of this.#runs.get(runId) ?? []) end(undefined)
  }

  /** All who wait get an answer: the run goes on at another gate. */
  endAll(): void {
    for (const runId of [...this.#runs.keys()]) this.forget(runId)
  }

  outcome(agent: string, effectId: string): Promise<ToolResult> {
    return new Promise((resolve) => this.#outcomes.set(`${agent} ${effectId}`, resolve))
  }

  /** No result comes any more: the agent was removed, or runs at another gate. */
  loseOutcome(agent: string, effectId: string): void {
    this.#endOutcome(agent, effectId, {
      content: 'OUTCOME_UNKNOWN: the agent was removed, or has moved, before the result was there',
      isError: true,
    })
  }

  #endOutcome(agent: string, effectId: string, outcome: ToolResult): void {
    const name = `${agent} ${effectId}`
    this.#outcomes.get(name)?.(outcome)
    this.#outcomes.delete(name)
  }

  note({ agent, step }: AppliedStep, event: JournalEvent): void {
    const { runId, turnCount, todos } = step.summary
    const message = describeEvent(event)
    for (const listener of this.#listenersOf(agent.id, runId))
      listener.onEvent({ runId: runId ?? '', turn: turnCount, kind: event.kind, message, todos })
    for (const ended of step.ended)
      for (const { agent: id, end } of this.#runs.get(ended.runId) ?? [])
        if (id === agent.id) end(ended)
    if ('effectId' in event && step.output !== null)
      this.#endOutcome(agent.id, event.effectId, step.output)
    for (const effectId of step.dropped)
      this.#endOutcome(agent.id, effectId, { content: 'the agent was stopped', isError: true })
  }
}

function describeEvent(event: JournalEvent): string {
  switch (event.kind) {
    case 'prompt':
      return 'asked the model'
    case 'model':
      return event.toolCalls.length === 0
        ? 'the model answered'
        : `the model calls ${event.toolCalls.map(({ name }) => name).join(', ')}`
    case 'tool':
      return event.isError ? 'a tool failed' : 'a tool answered'
    case 'code':
      return event.isError ? 'a program failed' : 'a program ended'
    case 'waiting':
      return `waits for ${event.on}`
    default:
      return event.kind
  }
}
