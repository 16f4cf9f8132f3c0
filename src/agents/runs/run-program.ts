// Carries out a `code` effect: the program's pieces in the code threads, its calls through the gate,
// each noted in the program's own journal before it leaves and its result before the program sees
// it. After a crash it is run again up to where it was; a call whose result was lost is not repeated
// unless it only reads. Called by effects.ts.

import { z } from 'zod'
import type { Event, FileIn, GrantedTool } from '../../guest/words.ts'
import type { ProgramAnswer, Programs } from '../../sandbox/programs.ts'
import { AgentError } from '../errors.ts'
import {
  PROGRAM_CODE_LENGTH_MAX,
  PROGRAM_POLLS_MAX,
  PROGRAM_TIMEOUT_MS,
  PROGRAM_TOOL_CALLS_MAX,
} from '../limits.ts'
import type { Steps } from '../steps/step-client.ts'
import { packFiles } from '../transfer/pack-files.ts'

/** What a program's tool call came to; null where it was sent before and nothing is known of it. */
export interface ProgramCallResult {
  readonly value?: unknown
  readonly error?: string
}

export interface ProgramSetting {
  readonly agent: string
  readonly effectId: string
  readonly code: string
  readonly tools: readonly GrantedTool[]
  callTool(call: ProgramCall): Promise<ProgramCallResult>
}

export interface ProgramCall {
  readonly tool: GrantedTool
  readonly input: unknown
  readonly callId: string
  /** It was begun before and its result was lost. */
  readonly again: boolean
  /** It is held under this; only the verdict is waited for. */
  readonly ticket: string | undefined
  /** Keeps the ticket before anybody waits on it, so that a crash does not lose it. */
  held(ticket: string): Promise<void>
}

type Outcome = Omit<Extract<Event, { kind: 'code' }>, 'kind' | 'at' | 'effectId'> & {
  readonly bytes: Uint8Array | undefined
}

type Noted =
  | { kind: 'start'; at: number }
  | { kind: 'call'; id: number; server: string; tool: string; input: unknown }
  | { kind: 'result'; id: number; at: number; value?: unknown; error?: string }

/** Beside the others: when a call is held does not depend on the program. */
interface Held {
  readonly kind: 'held'
  readonly id: number
  readonly ticket: string
}

const said = z.object({
  calls: z
    .array(z.object({ id: z.int(), server: z.string(), tool: z.string(), input: z.unknown() }))
    .max(1_000),
  ended: z.object({ result: z.string().optional(), error: z.string().optional() }).nullable(),
  logs: z.string().max(70_000),
})

const overlayShape = z.object({
  write: z.array(
    z.object({
      path: z.string(),
      text: z.string().optional(),
      bytes: z.tuple([z.int().min(0), z.int().min(0)]).optional(),
    }),
  ),
  remove: z.array(z.string()),
})

export async function runProgram(
  setting: ProgramSetting,
  programs: Programs,
  steps: Steps,
  signal: AbortSignal,
): Promise<Outcome> {
  const program = new Program(setting, programs, steps)
  try {
    return await program.run(signal)
  } catch (error) {
    signal.throwIfAborted()
    return failure(`${(error as Error).message}`, '', program.made)
  }
}

class Program {
  readonly made: { server: string; tool: string; isError: boolean }[] = []
  readonly #setting: ProgramSetting
  readonly #programs: Programs
  readonly #steps: Steps
  #memory: Uint8Array | undefined
  #polls = PROGRAM_POLLS_MAX
  #leftMs = PROGRAM_TIMEOUT_MS
  #noted: Noted[] = []
  #replayed = 0
  /** Of its journal, those beside the others included. */
  #rows = 0
  readonly #tickets = new Map<number, string>()

  constructor(setting: ProgramSetting, programs: Programs, steps: Steps) {
    this.#setting = setting
    this.#programs = programs
    this.#steps = steps
  }

  async run(signal: AbortSignal): Promise<Outcome> {
    const { agent, effectId, code } = this.#setting
    if (code.length > PROGRAM_CODE_LENGTH_MAX)
      throw new AgentError('AGENT_LIMIT', `code has at most ${PROGRAM_CODE_LENGTH_MAX} characters`)
    await this.#readJournal()
    const start = await this.#note({ kind: 'start', at: Date.now() })
    const files = await this.#steps.allFiles(agent, start.at)
    const packed = packFiles(
      files.map(({ path, isText, content }) => ({
        path,
        content: isText ? Buffer.from(content).toString('utf8') : content,
      })),
    )
    const tools = this.#setting.tools.map(({ server, tool }) => ({ server, tool }))
    const text = JSON.stringify({ code, files: packed.files, tools, seed: `${agent} ${effectId}` })
    let answer = await this.#piece('start', text, start.at, packed.bytes)
    const open = new Map<number, Promise<Extract<Noted, { kind: 'result' }>>>()
    for (;;) {
      const { calls, ended, logs } = read(answer)
      if (ended !== null) return this.#finish(ended, logs, answer)
      for (const each of calls) {
        if (this.made.length + open.size >= PROGRAM_TOOL_CALLS_MAX)
          throw new AgentError(
            'AGENT_LIMIT',
            `a program makes at most ${PROGRAM_TOOL_CALLS_MAX} calls`,
          )
        const wasNoted = this.#replayed < this.#noted.length
        const noted = await this.#note({ kind: 'call', ...each, input: each.input ?? {} })
        open.set(noted.id, this.#call(noted, wasNoted))
      }
      if (open.size === 0) throw new AgentError('PROGRAM_FAILED', 'the program waits for nothing')
      const result = await this.#nextResult(open)
      signal.throwIfAborted()
      open.delete(result.id)
      const { id, value, error, at } = result
      answer = await this.#piece('settle', JSON.stringify({ id, value, error }), at)
    }
  }

  async #readJournal(): Promise<void> {
    const { agent, effectId } = this.#setting
    const texts = await this.#steps.programEvents(agent, effectId)
    this.#rows = texts.length
    for (const text of texts) {
      const noted = JSON.parse(text) as Noted | Held
      if (noted.kind === 'held') this.#tickets.set(noted.id, noted.ticket)
      else this.#noted.push(noted)
    }
  }

  async #append(event: Noted | Held): Promise<void> {
    const { agent, effectId } = this.#setting
    const seq = this.#rows
    this.#rows += 1
    await this.#steps.appendProgramEvent(agent, effectId, seq, JSON.stringify(event))
  }

  /** In the order of the journal as long as there is one. */
  async #nextResult(open: Map<number, Promise<Extract<Noted, { kind: 'result' }>>>) {
    const noted = this.#noted[this.#replayed]
    if (noted?.kind === 'result') {
      this.#replayed += 1
      open.get(noted.id)?.catch(() => undefined)
      return noted
    }
    return this.#note(await Promise.race(open.values()))
  }

  async #call(
    call: Extract<Noted, { kind: 'call' }>,
    wasNoted: boolean,
  ): Promise<Extract<Noted, { kind: 'result' }>> {
    const { id, server, tool, input } = call
    const known = this.#noted.find((each) => each.kind === 'result' && each.id === id)
    const granted = this.#setting.tools.find((each) => each.server === server && each.tool === tool)
    if (known?.kind === 'result') {
      this.made.push({ server, tool, isError: known.error !== undefined })
      return known
    }
    const callId = `${this.#setting.effectId}.${id}`
    const result =
      granted === undefined
        ? { error: `there is no tool ${server}/${tool}` }
        : await this.#setting.callTool({
            tool: granted,
            input,
            callId,
            again: wasNoted,
            ticket: this.#tickets.get(id),
            held: (ticket) => this.#append({ kind: 'held', id, ticket }),
          })
    this.made.push({ server, tool, isError: result.error !== undefined })
    return { kind: 'result', id, at: Date.now(), ...result }
  }

  /** What is in the journal already, or this, once it is there. */
  async #note<Each extends Noted>(event: Each): Promise<Each> {
    const before = this.#noted[this.#replayed]
    if (before !== undefined) {
      if (before.kind !== event.kind)
        throw new AgentError('AGENT_DAMAGED', 'the program did not do the same again')
      this.#replayed += 1
      return before as Each
    }
    await this.#append(event)
    this.#noted.push(event)
    this.#replayed += 1
    return event
  }

  async #piece(
    operation: 'start' | 'settle',
    text: string,
    nowMs: number,
    bytes?: Uint8Array,
  ): Promise<ProgramAnswer> {
    if (this.#leftMs <= 0 || this.#polls <= 0)
      throw new AgentError(
        'PROGRAM_FAILED',
        `the program took longer than ${PROGRAM_TIMEOUT_MS} ms`,
      )
    const answer = await this.#programs.run({
      operation,
      text,
      bytes,
      memory: this.#memory,
      nowMs,
      polls: this.#polls,
      timeoutMs: Math.ceil(this.#leftMs),
    })
    this.#memory = answer.memory
    this.#polls = answer.polls
    this.#leftMs -= answer.usedMs
    return answer
  }

  #finish(
    ended: { result?: string | undefined; error?: string | undefined },
    logs: string,
    answer: ProgramAnswer,
  ): Outcome {
    if (ended.error !== undefined || answer.overlay === undefined)
      return failure(ended.error ?? 'it did not end well', logs, this.made)
    const { write, remove } = overlayShape.parse(JSON.parse(answer.overlay.text))
    const files = { written: write.map(({ path }) => path), deleted: remove }
    const content = { result: parse(ended.result), logs, calls: this.made, files }
    return {
      content: JSON.stringify(content),
      isError: false,
      write: write as FileIn[],
      remove,
      bytes: answer.overlay.bytes.length > 0 ? answer.overlay.bytes : undefined,
    }
  }
}

function failure(message: string, logs: string, calls: readonly object[]): Outcome {
  const content = JSON.stringify({ error: { code: 'PROGRAM_FAILED', message }, logs, calls })
  return { content, isError: true, write: [], remove: [], bytes: undefined }
}

function read(answer: ProgramAnswer): z.infer<typeof said> {
  const value = said.safeParse(parse(answer.said))
  if (!value.success) throw new AgentError('PROGRAM_FAILED', 'the program broke what runs it')
  return value.data
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return null
  }
}
