// Carries out a `code` effect: the program's pieces in the code threads, its calls through the gate. Each call is in
// the program's own journal before it leaves, with the results that led to it: what the program made of a result that
// is not there yet has had no effect. After a crash it is run again up to where it was; a call whose result was lost
// is not repeated unless it only reads. Called by perform-effect.ts.

import { processClock } from '@sluice/ledger/store/process-clock'
import { countEach } from '@sluice/policy/structures/count-each'
import type { FileIn, JournalEvent } from '../guest/protocol.ts'
import { SandboxError } from '../sandbox/errors.ts'
import type { PausedProgram, ProgramAnswer, ProgramPiece, Programs } from '../sandbox/programs.ts'
import type { ProgramEnd, ProgramToolCall } from '../sandbox/read-program.ts'
import { AgentError } from '../shared/errors.ts'
import {
  PROGRAM_ANSWERS_LENGTH_MAX,
  PROGRAM_CODE_LENGTH_MAX,
  PROGRAM_INPUTS_LENGTH_MAX,
  PROGRAM_NOTED_MS,
  PROGRAM_POLLS_MAX,
  PROGRAM_TIMEOUT_MS,
} from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import type { SuspendedProgram, SuspendedPrograms } from './suspended-programs.ts'

/** What a program's tool call came to; null if it was sent before and nothing is known of it. */
export interface ProgramCallResult {
  readonly value?: unknown
  readonly error?: ProgramCallError
}

/** What a call of a program is rejected with. */
export interface ProgramCallError {
  readonly code: string
  readonly message: string
}

export interface ProgramSetting {
  readonly limits: { readonly timeoutMs: number; readonly toolCalls: number }
  readonly programs: Programs
  readonly steps: Steps
  readonly resting: SuspendedPrograms
  /** Whose turn it takes in the code threads. */
  readonly owner: string
  readonly agent: string
  readonly effectId: string
  readonly code: string
  /** Whether the agent has files, which the program gets. */
  readonly hasFiles: boolean
  /** Says whether there is such a tool for the program, too. */
  callTool(call: ProgramCall): Promise<ProgramCallResult>
}

export interface ProgramCall {
  readonly server: string
  readonly tool: string
  readonly input: unknown
  readonly callId: string
  /** It was begun before and its result was lost. */
  readonly again: boolean
  /** It is held under this; only the verdict is waited for. */
  readonly ticket: string | undefined
  /** Keeps the ticket before anybody waits on it, so that a crash does not lose it. */
  held(ticket: string): Promise<void>
  /** The program has the answer to an earlier call. */
  readonly hasReceived: boolean
  /** Aborted when the program is over: a verdict that nobody waits for is not acted upon. */
  readonly over: AbortSignal
}

type ProgramOutcome = Omit<Extract<JournalEvent, { kind: 'code' }>, 'kind' | 'at' | 'effectId'> & {
  readonly bytes: Uint8Array | undefined
}

type ProgramEvent =
  | { kind: 'start'; at: number }
  | { kind: 'call'; id: number; server: string; tool: string; input: unknown }
  // An older version wrote the error as one text.
  | { kind: 'result'; id: number; at: number; value?: unknown; error?: ProgramCallError | string }

/** An event that is recorded apart from the others: when a call is held does not depend on the program. */
interface HeldCallEvent {
  readonly kind: 'held'
  readonly id: number
  readonly ticket: string
}

const NO_FILES = { text: '[]', bytes: undefined }
/** A program's memory was given up while it waited. */
const GIVEN_UP = new SandboxError('SANDBOX_LOST', 'the memory of the program is gone')

export async function runProgram(
  setting: ProgramSetting,
  signal: AbortSignal,
): Promise<ProgramOutcome> {
  const program = new Program(setting, signal)
  try {
    return await program.run()
  } catch (error) {
    signal.throwIfAborted()
    return failure(`${(error as Error).message}`, '', program.made)
  } finally {
    program.end()
  }
}

interface MadeCall {
  readonly server: string
  readonly tool: string
  isError: boolean
  /** Until the answer is there. */
  code?: 'OUTCOME_UNKNOWN'
}

type Result = Extract<ProgramEvent, { kind: 'result' }>
type CallEvent = Extract<ProgramEvent, { kind: 'call' }>
type SliceStart = Omit<ProgramPiece, 'polls' | 'timeoutMs'>

class Program implements PausedProgram {
  /** Listed as they are sent: a program that fails before the answer has still made the call. */
  readonly made: MadeCall[] = []
  readonly #setting: ProgramSetting
  readonly #signal: AbortSignal
  readonly #over = new AbortController()
  readonly #callsOver: AbortSignal
  /** Its memory, if it is not in the instance of a thread. */
  #rest: Promise<SuspendedProgram | undefined> | undefined
  #polls: number
  #leftMs: number
  /** What is behind `#replayed` has lost what it said: that is in the journal, and may be much. */
  #noted: ProgramEvent[] = []
  #replayed = 0
  #inputsLeft = PROGRAM_INPUTS_LENGTH_MAX
  #answersLeft = PROGRAM_ANSWERS_LENGTH_MAX
  #hasReceived = false
  /** How many rows its journal has, those apart from the others included. */
  #rows = 0
  /** They go into the journal with the next call, or a little later. */
  #unwritten: (ProgramEvent | HeldCallEvent)[] = []
  #written: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  readonly #tickets = new Map<number, string>()
  /** Numbers of the calls it made: it may say one twice, which would be two calls with one name. */
  readonly #sentCalls = new Set<number>()
  readonly #open = new Map<number, Promise<Result>>()

  constructor(setting: ProgramSetting, signal: AbortSignal) {
    this.#setting = setting
    this.#signal = signal
    this.#callsOver = AbortSignal.any([signal, this.#over.signal])
    const { timeoutMs } = setting.limits
    this.#leftMs = timeoutMs
    this.#polls = Math.ceil((PROGRAM_POLLS_MAX * timeoutMs) / PROGRAM_TIMEOUT_MS)
  }

  async run(): Promise<ProgramOutcome> {
    const { code } = this.#setting
    if (code.length > PROGRAM_CODE_LENGTH_MAX)
      throw new AgentError('AGENT_LIMIT', `code has at most ${PROGRAM_CODE_LENGTH_MAX} characters`)
    await this.#readJournal()
    const { at } = this.#note({ kind: 'start', at: processClock.nowMs() })
    let answer = await this.#start(at)
    for (;;) {
      const { calls, ended, logs } = answer.output
      if (ended !== null) return this.#finish(ended, logs, answer)
      await this.#send(calls)
      if (this.#open.size === 0)
        throw new AgentError('PROGRAM_FAILED', 'the program waits for nothing')
      const result = await this.#nextResult()
      this.#signal.throwIfAborted()
      this.#open.delete(result.id)
      this.#hasReceived = true
      answer = await this.#goOn(at, result)
    }
  }

  /** Nobody waits for its calls any more. */
  end(): void {
    this.#over.abort()
    clearTimeout(this.#timer)
    this.#setting.programs.drop(this)
    void this.#takeMemory()
  }

  rest(memory: Promise<Uint8Array>): void {
    this.#rest = memory.then(
      (bytes) => (this.#over.signal.aborted ? undefined : this.#setting.resting.hold(bytes)),
      () => undefined,
    )
  }

  async #takeMemory(): Promise<Uint8Array | undefined> {
    const rest = await this.#rest
    return rest && this.#setting.resting.take(rest)
  }

  /** Sends what the program calls at once, after all of it is in the journal. */
  async #send(calls: readonly ProgramToolCall[]): Promise<void> {
    if (calls.length === 0) return
    const noted = calls.map((call) => {
      const wasNoted = this.#replayed < this.#noted.length
      return { call: this.#noteCall(call), wasNoted }
    })
    await this.#write()
    for (const { call, wasNoted } of noted) {
      const result = this.#call(call, wasNoted)
      // One that fails after the program has ended is nobody's, and must not end the process.
      result.catch(() => undefined)
      this.#open.set(call.id, result)
    }
  }

  #noteCall({ id, server, tool, input: text }: ProgramToolCall): CallEvent {
    if (this.#sentCalls.has(id))
      throw new AgentError('PROGRAM_FAILED', `the program made its call ${id} twice`)
    const { toolCalls } = this.#setting.limits
    if (this.#sentCalls.size >= toolCalls)
      throw new AgentError('AGENT_LIMIT', `a program makes at most ${toolCalls} calls`)
    this.#sentCalls.add(id)
    this.#inputsLeft -= text.length
    if (this.#inputsLeft < 0)
      throw new AgentError(
        'AGENT_LIMIT',
        `the calls of a program say at most ${PROGRAM_INPUTS_LENGTH_MAX} characters together`,
      )
    const input: unknown = JSON.parse(text)
    return this.#note({ kind: 'call', id, server, tool, input })
  }

  async #readJournal(): Promise<void> {
    const { agent, effectId } = this.#setting
    const texts = await this.#setting.steps.programEvents(agent, effectId)
    this.#rows = texts.length
    for (const noted of readEvents(texts)) {
      if (noted.kind === 'held') this.#tickets.set(noted.id, noted.ticket)
      else this.#noted.push(noted)
    }
  }

  /** Puts what was noted into the journal, in one commit. */
  #write(...more: HeldCallEvent[]): Promise<unknown> {
    const events = [...this.#unwritten, ...more]
    if (events.length > 0) {
      const { agent, effectId, steps } = this.#setting
      const write = steps.appendProgramEvents(agent, effectId, this.#rows, JSON.stringify(events))
      this.#written = Promise.all([this.#written, write])
      // Who sends the next call is told.
      this.#written.catch(() => undefined)
      this.#rows += 1
      this.#unwritten = []
    }
    return this.#written
  }

  /** In the order of the journal as long as there is one. */
  async #nextResult(): Promise<Result> {
    const noted = this.#noted[this.#replayed]
    if (noted?.kind === 'result') {
      this.#pass(noted)
      return noted
    }
    return this.#note(await Promise.race(this.#open.values()))
  }

  async #call(call: CallEvent, wasNoted: boolean): Promise<Result> {
    const { id, server, tool, input } = call
    const made: MadeCall = { server, tool, isError: true, code: 'OUTCOME_UNKNOWN' }
    this.made.push(made)
    const settle = (isError: boolean): void => {
      made.isError = isError
      delete made.code
    }
    const isKnown = (each: ProgramEvent) => each.kind === 'result' && each.id === id
    const known = wasNoted ? this.#noted.find(isKnown) : undefined
    if (known?.kind === 'result') {
      settle(known.error !== undefined)
      return known
    }
    const callId = `${this.#setting.effectId}.${id}`
    const result = await this.#setting.callTool({
      server,
      tool,
      input,
      callId,
      again: wasNoted,
      ticket: this.#tickets.get(id),
      held: async (ticket) => void (await this.#write({ kind: 'held', id, ticket })),
      hasReceived: this.#hasReceived,
      over: this.#callsOver,
    })
    const bounded = this.#within(result)
    settle(bounded.error !== undefined)
    return { kind: 'result', id, at: processClock.nowMs(), ...bounded }
  }

  /** A program that reads and reads must not fill the memory it is answered from. */
  #within(result: ProgramCallResult): ProgramCallResult {
    const { value } = result
    const length = typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length
    if (length <= this.#answersLeft) {
      this.#answersLeft -= length
      return result
    }
    const most = `the answers to a program have at most ${PROGRAM_ANSWERS_LENGTH_MAX} together`
    const message = `the call was made, and its answer has ${length} characters: ${most}`
    return { error: { code: 'AGENT_LIMIT', message } }
  }

  /** What is in the journal already, or this, which will be. */
  #note<Each extends ProgramEvent>(event: Each): Each {
    const before = this.#noted[this.#replayed]
    if (before !== undefined) {
      if (before.kind !== event.kind)
        throw new AgentError('AGENT_DAMAGED', 'the program did not do the same again')
      this.#pass(before)
      return before as Each
    }
    this.#unwritten.push(event)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, PROGRAM_NOTED_MS)
    this.#pass(event)
    return event
  }

  #pass(event: ProgramEvent): void {
    this.#noted[this.#replayed] = withoutWords(event)
    this.#replayed += 1
  }

  #start(at: number): Promise<ProgramAnswer> {
    const { agent, effectId, code, hasFiles, steps } = this.#setting
    const about = JSON.stringify({ code, seed: `${agent} ${effectId}` })
    return this.#piece(async () => {
      const { text, bytes } = hasFiles ? await steps.programFiles(agent, at) : NO_FILES
      return {
        operation: 'start',
        text: `${about.slice(0, -1)},"files":${text}}`,
        bytes,
        nowMs: at,
      }
    })
  }

  /** Goes on with the memory that the program had, or from its start if that was given up. */
  async #goOn(startedAt: number, result: Result): Promise<ProgramAnswer> {
    for (let again = false; ; again = true) {
      try {
        if (!again) return await this.#settle(result)
        await this.#write()
        await this.#start(startedAt)
        for (const each of await this.#resultsBefore(result.id)) await this.#settle(each)
        return await this.#settle(result)
      } catch (error) {
        if ((error as SandboxError).code !== 'SANDBOX_LOST') throw error
      }
    }
  }

  async #resultsBefore(id: number): Promise<Result[]> {
    const { agent, effectId, steps } = this.#setting
    const texts = await steps.programEvents(agent, effectId)
    const results = readEvents(texts).filter((each) => each.kind === 'result')
    return results.slice(
      0,
      results.findIndex((each) => each.id === id),
    )
  }

  #settle({ id, value, error, at }: Result): Promise<ProgramAnswer> {
    return this.#piece(async (isKept) => {
      const memory = isKept ? undefined : await this.#takeMemory()
      if (!isKept && memory === undefined) throw GIVEN_UP
      return { operation: 'settle', text: JSON.stringify({ id, value, error }), memory, nowMs: at }
    })
  }

  async #piece(make: (isKept: boolean) => Promise<SliceStart>): Promise<ProgramAnswer> {
    if (this.#leftMs <= 0 || this.#polls <= 0)
      throw new AgentError(
        'PROGRAM_FAILED',
        `the program took longer than ${this.#setting.limits.timeoutMs} ms`,
      )
    const { programs, owner } = this.#setting
    const answer = await programs.run(owner, this, async (isKept) => {
      this.#signal.throwIfAborted()
      return { ...(await make(isKept)), polls: this.#polls, timeoutMs: Math.ceil(this.#leftMs) }
    })
    this.#polls = answer.polls
    this.#leftMs -= answer.usedMs
    return answer
  }

  #finish(ended: ProgramEnd, logs: string, { overlay }: ProgramAnswer): ProgramOutcome {
    if (ended.result === undefined || overlay === undefined)
      return failure(ended.error ?? 'it did not end well', logs, this.made)
    const { write, remove, bytes } = overlay
    const calls = this.made.length
    const files = { written: write.map(({ path }) => path), deleted: remove }
    const about = JSON.stringify({ logs, calls: countCalls(this.made), files })
    return {
      content: `{"result":${ended.result},${about.slice(1)}`,
      isError: false,
      write: write as FileIn[],
      remove,
      calls,
      bytes: bytes.length > 0 ? bytes : undefined,
    }
  }
}

/** A row has the events of one commit; older versions wrote one event a row. */
function readEvents(texts: readonly string[]): (ProgramEvent | HeldCallEvent)[] {
  return texts.flatMap(
    (text) => JSON.parse(text) as ProgramEvent | (ProgramEvent | HeldCallEvent)[],
  )
}

function withoutWords(event: ProgramEvent): ProgramEvent {
  if (event.kind === 'call') return { ...event, input: null }
  if (event.kind === 'start') return event
  return { kind: 'result', id: event.id, at: event.at }
}

function failure(message: string, logs: string, made: readonly MadeCall[]): ProgramOutcome {
  const error = { code: 'PROGRAM_FAILED', message }
  const content = JSON.stringify({ error, logs, calls: countCalls(made) })
  const nothing = { write: [], remove: [], bytes: undefined }
  return { content, isError: true, calls: made.length, ...nothing }
}

/** Calls of one tool that ended alike are one entry: a model reads it, and a loop may make a thousand. */
function countCalls(made: readonly MadeCall[]): object[] {
  const counts = countEach(made.map((each) => JSON.stringify(each)))
  return [...counts].map(([call, count]) => ({ ...JSON.parse(call), count }))
}
