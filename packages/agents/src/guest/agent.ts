// The agent: a state machine without input or output. `step` takes an event and hands out effects;
// everything from outside (time, model output, results, seeds) is in the event, so the same events
// make the same agent. Runs, turns and stops are here; files, todos and messages in their own files.

import { beginCall } from './begin-call.ts'
import { type CallStart, type ToolResult, TurnCalls } from './calls.ts'
import { Conversation, checkPrompt } from './conversation.ts'
import { Files } from './files.ts'
import { GuestError, unexpectedResult } from './guest-error.ts'
import { UsageMeter } from './meter.ts'
import { Outbox } from './outbox.ts'
import type {
  Config,
  EventOf,
  JournalEvent,
  RunStop,
  StepResult,
  Stop,
  Summary,
  ToolCall,
} from './protocol.ts'
import { type AgentRun, type Phase, type Prompt, RUN_LIMITS, startRun } from './run.ts'
import { judgeStop } from './stopping.ts'
import { summarise, takeChanges } from './summarise.ts'
import { reopenConversation, type SuspendedRun, suspendRun } from './suspended-run.ts'
import { Todos } from './todos.ts'
import { WorkBudget } from './work-budget.ts'

export class Agent {
  readonly files = new Files()
  readonly todos = new Todos()
  readonly conversation = new Conversation()
  id = ''
  seed = ''
  config: Config
  readonly meter: UsageMeter
  stop: Stop | null = null
  #run: AgentRun | undefined
  #phase: Phase | undefined
  /** Set while a limit holds the agent that stopped a run. */
  #suspended: SuspendedRun | undefined
  #pausedAt: number | null = null
  #queue: Prompt[] = []
  /** Calls that a person made, outside of any run. */
  readonly #direct = new Map<string, TurnCalls>()
  #lastInputTokens = 0
  #compactFailures = 0
  #at = 0
  #effort = new WorkBudget()
  readonly #out = new Outbox()

  constructor(event: EventOf<'create'>, bytes: Uint8Array | undefined) {
    const { from } = event
    this.id = event.id
    this.seed = event.seed
    this.config = event.config
    this.#at = event.at
    this.meter = new UsageMeter(event.config.price)
    for (const file of event.files) this.files.take(file, bytes, event.at, event.config.limits)
    if (from === undefined) return
    this.todos.restore(from.todos)
    this.conversation.restore(from.messages)
    this.meter.restore(from)
    this.stop = from.stop
  }

  /** What the events so far have led to, and nothing of an earlier answer. */
  step(event: JournalEvent, bytes?: Uint8Array): StepResult {
    this.#at = event.at
    this.#effort = new WorkBudget()
    this.#out.clear()
    this.#handle(event, bytes)
    this.#judge()
    const { effects, dropped, ended, output } = this.#out
    return { effects, dropped, ended, output, summary: this.summary(), changes: takeChanges(this) }
  }

  summary(): Summary {
    const waitingOn = this.#phase?.kind === 'calls' ? this.#phase.calls.waitingOn : undefined
    const clockFrom = this.#clockFrom
    return {
      ...summarise(this, { clockFrom, isRunning: this.#run !== undefined, waitingOn }),
      runId: this.#run?.runId ?? null,
      queued: this.#queue.length,
    }
  }

  #handle(event: JournalEvent, bytes: Uint8Array | undefined): void {
    switch (event.kind) {
      case 'create':
      case 'tick':
        return
      case 'prompt':
        return this.#prompt(event)
      case 'model':
        return this.#answered(event)
      case 'model_failed':
        return this.#failed(event)
      case 'tool':
        return this.#settle(event.effectId, event)
      case 'code':
        return this.#programEnded(event, bytes)
      case 'waiting':
        if (this.#phase?.kind === 'calls') this.#phase.calls.wait(event.effectId, event.on)
        return
      case 'direct':
        return this.#callDirectly(event)
      case 'stop':
        return this.#halt({ reason: event.reason, detail: event.detail, at: event.at })
      case 'pause':
        this.#pausedAt ??= event.at
        return
      case 'resume':
        return this.#resume(event)
      case 'reset':
        return this.#reset(event)
      case 'cancel':
        return this.#cancel(event.runId)
      case 'forked':
        return this.#forked(event)
    }
  }

  #prompt({ runId, input, maxTurns }: EventOf<'prompt'>): void {
    this.#refuseStopped()
    if (this.#queue.length >= RUN_LIMITS.queue)
      throw new GuestError('AGENT_LIMIT', `${RUN_LIMITS.queue} prompts are waiting already`)
    checkPrompt(input)
    this.#queue.push({ runId, input, maxTurns })
    if (this.#run === undefined) this.#startNext()
  }

  #startNext(): void {
    const next = this.#queue.shift()
    if (next === undefined) return
    this.#run = startRun(next, this.#at, this.meter.nothing)
    this.meter.forgetTurns()
    this.conversation.addUser(next.input)
    this.#askModel()
  }

  #askModel(): void {
    const { conversation, config } = this
    const long = this.#lastInputTokens > config.limits.contextTokens || conversation.isTooLong
    const until = long ? conversation.compactable() : 0
    if (until > 1 && this.#compactFailures < RUN_LIMITS.compactAttempts) {
      const effectId = this.#out.send({ kind: 'compact', epoch: conversation.epoch, until })
      this.#phase = { kind: 'compact', effectId, until }
      return
    }
    if (long) conversation.shorten()
    this.#lastInputTokens = 0
    this.#compactFailures = 0
    const effectId = this.#out.send({ kind: 'model', ...conversation.handOut() })
    this.#phase = { kind: 'model', effectId }
  }

  #answered({ effectId, text, toolCalls, usage }: EventOf<'model'>): void {
    const run = this.#run
    const phase = this.#phase
    if (run === undefined || phase === undefined || phase.kind === 'calls')
      throw unexpectedResult(effectId)
    if (phase.effectId !== effectId) throw unexpectedResult(effectId)
    run.usage = this.meter.add(run.usage, usage)
    this.meter.usage = this.meter.add(this.meter.usage, usage)
    if (phase.kind === 'compact') {
      this.conversation.compact(phase.until, text)
      this.#lastInputTokens = 0
      this.#compactFailures = 0
      if (!this.#judge()) this.#askModel()
      return
    }
    this.#lastInputTokens = usage.inputTokens
    this.meter.turnCount += 1
    run.turns += 1
    const calls = this.conversation.addAssistant(text, toolCalls)
    this.#phase = { kind: 'calls', calls: new TurnCalls(calls) }
    if (calls.length === 0) return this.#said(run, text)
    if (this.#judge()) return
    if (run.maxTurns !== null && run.turns >= run.maxTurns)
      return this.#end('run_max_turns', `${run.turns} turns, as this run was allowed`)
    this.#advance()
  }

  #said(run: AgentRun, text: string): void {
    const goesOn =
      this.config.limits.finishTodos && this.todos.areOpen && run.reminders < RUN_LIMITS.reminders
    if (!goesOn) return this.#end('answered', '', text)
    if (this.#judge()) return
    if (run.maxTurns !== null && run.turns >= run.maxTurns)
      return this.#end('run_max_turns', 'todos are still open', text)
    run.reminders += 1
    this.conversation.addUser('Todos are still open. Finish or cancel each of them, then answer.')
    this.#askModel()
  }

  #failed({ effectId, code, message }: EventOf<'model_failed'>): void {
    const phase = this.#phase
    if (phase === undefined || phase.kind === 'calls' || phase.effectId !== effectId)
      throw unexpectedResult(effectId)
    if (phase.kind === 'compact') {
      this.#compactFailures += 1
      return this.#askModel()
    }
    if (this.#run?.turns === 0) this.conversation.dropUnanswered()
    this.#end('model_failed', `${code}: ${message}`)
  }

  /** Begins what can begin; when all results are there they go to the model. */
  #advance(): void {
    const phase = this.#phase
    if (phase?.kind !== 'calls' || this.#run === undefined) return
    const run = this.#run
    phase.calls.advance((call, isAlone) => {
      const begun = this.#begin(call, isAlone)
      if (begun !== 'not yet') run.toolCalls += 1
      return begun
    })
    if (!phase.calls.isDone) {
      this.#judge()
      return
    }
    this.#keepResults(phase.calls)
    if (!this.#judge()) this.#askModel()
  }

  #keepResults(calls: TurnCalls): void {
    this.meter.noteTurn(this.conversation.addResults(calls.results()))
    this.#phase = undefined
  }

  #begin(call: ToolCall, isAlone: boolean): CallStart {
    return beginCall(call, {
      agent: this,
      at: this.#at,
      effort: this.#effort,
      isAlone,
      isBusy: this.#programBusy(),
      send: (effect) => this.#out.send(effect),
    })
  }

  #programBusy(): boolean {
    const inRun = this.#phase?.kind === 'calls' && this.#phase.calls.hasProgram
    return inRun || [...this.#direct.values()].some(({ hasProgram }) => hasProgram)
  }

  #settle(effectId: string, { content, isError }: ToolResult): void {
    const direct = this.#direct.get(effectId)
    if (direct?.settle(effectId, { content, isError })) {
      this.#direct.delete(effectId)
      this.#out.output = { content, isError }
      this.#advance()
      return
    }
    const phase = this.#phase
    if (phase?.kind !== 'calls' || !phase.calls.settle(effectId, { content, isError }))
      throw unexpectedResult(effectId)
    this.#advance()
  }

  /** What a program wrote is merged whole or not at all; the model is told where it does not fit. */
  #programEnded(event: EventOf<'code'>, bytes: Uint8Array | undefined): void {
    const { content, isError, write, remove, calls = 0 } = event
    this.meter.toolCallCount += calls
    if (this.#run !== undefined && !this.#direct.has(event.effectId)) this.#run.toolCalls += calls
    const refused = this.files.merge(write, remove, bytes, event.at, this.config.limits)
    if (refused === undefined) return this.#settle(event.effectId, { content, isError })
    const error = { code: refused.code, message: `nothing was kept: ${refused.message}` }
    this.#settle(event.effectId, { content: JSON.stringify({ error, content }), isError: true })
  }

  #callDirectly({ name, input }: EventOf<'direct'>): void {
    this.#refuseStopped()
    const call: ToolCall = { id: 'direct', name, input }
    const calls = new TurnCalls([call])
    let begun: CallStart = 'not yet'
    calls.advance(() => {
      begun = this.#begin(call, true)
      return begun
    })
    const how = begun as CallStart
    if (how === 'not yet')
      throw new GuestError('AGENT_BUSY', `\`${name}\` has to wait: a program works on the files`)
    if ('outcome' in how) this.#out.output = how.outcome
    else this.#direct.set(how.effectId, calls)
  }

  #resume({ limits, runId }: EventOf<'resume'>): void {
    this.config = { ...this.config, limits: { ...this.config.limits, ...limits } }
    this.stop = null
    this.meter.forgetTurns()
    if (this.#run !== undefined && this.#pausedAt !== null)
      this.#run.startedAt += Math.max(0, this.#at - Math.max(this.#pausedAt, this.#run.startedAt))
    this.#pausedAt = null
    const still = this.#findStop()
    const why = `it would stop at once (${still?.detail}): raise the limit`
    if (still !== undefined) throw new GuestError('AGENT_STOPPED', why)
    const suspended = this.#suspended
    this.#suspended = undefined
    if (suspended !== undefined && runId !== undefined) this.#continue(suspended, runId)
  }

  #continue(suspended: SuspendedRun, runId: string): void {
    const { run, calls } = suspended
    this.#run = { ...run, runId, startedAt: this.#at }
    reopenConversation(suspended, this.conversation)
    if (calls === undefined) return this.#askModel()
    this.#phase = { kind: 'calls', calls }
    this.#advance()
  }

  #reset({ keepFiles }: EventOf<'reset'>): void {
    this.#abandon('reset', 'the agent was reset')
    if (!keepFiles) this.files.clear()
    this.todos.clear()
    this.conversation.replace([])
    this.meter.clear()
    this.stop = null
    this.#suspended = undefined
    this.#pausedAt = null
    this.#lastInputTokens = 0
  }

  #cancel(runId: string): void {
    const queued = this.#queue.findIndex((prompt) => prompt.runId === runId)
    if (queued >= 0) {
      this.#queue.splice(queued, 1)
      this.#out.endQueued(runId, 'cancelled', 'before it began', this.meter.nothing)
    } else if (this.#run?.runId === runId) this.#end('cancelled', 'it was cancelled')
  }

  #forked({ id, seed }: EventOf<'forked'>): void {
    this.#abandon('cancelled', 'the run goes on in the agent this one was forked from')
    this.#pausedAt = null
    this.id = id
    this.seed = seed
  }

  /** True where the agent is stopped now. */
  #judge(): boolean {
    if (this.stop !== null) return true
    const stop = this.#findStop()
    if (stop === undefined) return false
    this.#halt(stop)
    return true
  }

  #findStop(): Stop | undefined {
    return judgeStop(this.config.limits, this.meter.standing(this.#clockFrom), this.#at)
  }

  /** Since when the time of the run counts: not while it is paused. */
  get #clockFrom(): number | null {
    return this.#pausedAt === null ? (this.#run?.startedAt ?? null) : null
  }

  /** A limit suspends the run, and raising the limit lets it go on; a person's stop ends it. */
  #halt(stop: Stop): void {
    this.stop ??= stop
    if (stop.reason === 'stopped') this.#suspended = undefined
    else this.#suspended ??= suspendRun(this.#run, this.#phase, this.conversation)
    this.#abandon(this.stop.reason, this.stop.detail)
  }

  #abandon(reason: RunStop, detail: string): void {
    const queued = this.#queue.splice(0)
    for (const [effectId] of this.#direct) this.#out.drop(effectId)
    this.#direct.clear()
    if (this.#run !== undefined) this.#end(reason, detail)
    for (const { runId } of queued) this.#out.endQueued(runId, reason, detail, this.meter.nothing)
  }

  #end(reason: RunStop, detail: string, response = ''): void {
    const [run, phase] = [this.#run, this.#phase]
    if (run === undefined) return
    if (phase?.kind === 'calls') {
      for (const effectId of phase.calls.open) this.#out.drop(effectId)
      phase.calls.giveUp(`not known: the run ended first (${reason})`)
      this.#keepResults(phase.calls)
    } else if (phase !== undefined) {
      this.#out.drop(phase.effectId)
      if (run.turns === 0) this.conversation.dropUnanswered()
    }
    this.#run = undefined
    this.#phase = undefined
    const { runId, turns, toolCalls, usage } = run
    this.#out.ended.push({ runId, response, turns, toolCalls, stop: { reason, detail }, usage })
    if (!this.#judge()) this.#startNext()
  }

  #refuseStopped(): void {
    if (this.stop === null && !this.#judge()) return
    const { reason, detail } = this.stop as Stop
    throw new GuestError('AGENT_STOPPED', `the agent is stopped (${reason}: ${detail})`)
  }
}
