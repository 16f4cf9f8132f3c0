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
  Changes,
  Config,
  EventOf,
  JournalEvent,
  RunStop,
  StepResult,
  Stop,
  Summary,
  ToolCall,
} from './protocol.ts'
import { type AgentRun, type Phase, type Prompt, RUN_LIMITS } from './run.ts'
import { judgeStop } from './stopping.ts'
import { summarise } from './summarise.ts'
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
    this.meter.turnCount = from.turnCount
    this.meter.toolCallCount = from.toolCallCount
    this.meter.usage = from.usage
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
    const changes = this.#takeChanges()
    return { effects, dropped, ended, output, summary: this.summary(), changes }
  }

  #takeChanges(): Changes | null {
    const todos = this.todos.takeChanges()
    const { files, gone } = this.files.takeChanges()
    const isSame = todos === null && files.length === 0 && gone.length === 0
    return isSame ? null : { todos, files, gone }
  }

  summary(): Summary {
    const calls = this.#phase?.kind === 'calls' ? this.#phase.calls : undefined
    return {
      ...summarise(this, this.#run?.startedAt, calls?.waitingOn),
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
    this.#run = {
      ...next,
      startedAt: this.#at,
      turns: 0,
      toolCalls: 0,
      reminders: 0,
      usage: this.meter.nothing,
    }
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
    let seen = ''
    for (const { call, outcome } of calls.results()) {
      this.conversation.addResult(call, outcome.content, outcome.isError)
      seen += `${call.name} ${JSON.stringify(call.input)} ${outcome.content}\n`
    }
    this.meter.noteTurn(seen)
    this.#phase = undefined
  }

  #begin(call: ToolCall, isAlone: boolean): CallStart {
    const begun = beginCall(call, {
      config: this.config,
      place: {
        files: this.files,
        todos: this.todos,
        limits: this.config.limits,
        at: this.#at,
        effort: this.#effort,
      },
      left:
        (this.config.limits.maxToolCalls ?? Number.POSITIVE_INFINITY) - this.meter.toolCallCount,
      isAlone,
      isBusy: this.#programBusy(),
      send: (effect) => this.#out.send(effect),
    })
    if (begun !== 'not yet') this.meter.toolCallCount += 1
    return begun
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

  #resume({ limits }: EventOf<'resume'>): void {
    this.config = { ...this.config, limits: { ...this.config.limits, ...limits } }
    this.stop = null
    this.meter.forgetTurns()
    const still = this.#findStop()
    if (still !== undefined)
      throw new GuestError(
        'AGENT_STOPPED',
        `it would stop at once (${still.detail}): raise the limit`,
      )
  }

  #reset({ keepFiles }: EventOf<'reset'>): void {
    this.#abandon('reset', 'the agent was reset')
    if (!keepFiles) this.files.clear()
    this.todos.clear()
    this.conversation.replace([])
    this.meter.clear()
    this.stop = null
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
    const { limits } = this.config
    return judgeStop(limits, this.meter.standing(this.#run?.startedAt ?? null), this.#at)
  }

  #halt(stop: Stop): void {
    this.stop ??= stop
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
