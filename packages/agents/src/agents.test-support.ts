// What the tests of this module share: a data directory that goes away, the image, and a config.

import { onTestFinished } from 'vitest'
import { scratchDirectory } from '../../../test/support/scratch.ts'
import type { Config, JournalEvent, Limits, StepResult, ToolCall } from './guest/protocol.ts'
import type { EventJournal } from './journal/event-journal.ts'
import type { AgentOrigin, CreateEvent } from './journal/new-rows.ts'
import type { HistoryRetention } from './journal/retention.ts'
import type { AgentRow } from './journal/rows.ts'
import { type Image, openImage } from './sandbox/image.ts'
import { loadImage } from './sandbox/load-image.ts'
import { runWhole } from './shared/sliced.ts'
import { Operations } from './step-thread/operations.ts'
import { Stepper } from './steps/stepper.ts'
import { AgentBeginner } from './transfer/begin-agent.ts'
import type { AgentImportOptions } from './transfer/import-agent.ts'
import { readImport } from './transfer/read-import.ts'
import { sealExport } from './transfer/seal-export.ts'

export const LIMITS: Limits = {
  maxTurns: 50,
  maxTokens: null,
  maxCostMicros: null,
  maxToolCalls: null,
  runMs: null,
  expiresAt: null,
  noProgress: 3,
  finishTodos: false,
  contextTokens: 100_000,
  fileBytesMax: 1_048_576,
  totalBytesMax: 8 * 1_048_576,
  filesMax: 1_000,
}

export function configOf(limits: Partial<Limits> = {}, more: Partial<Config> = {}): Config {
  return {
    template: null,
    model: 'script:test',
    instructions: 'be good',
    limits: { ...LIMITS, ...limits },
    tools: [],
    price: null,
    ...more,
  }
}

let image: Image | undefined

export async function coreImage(): Promise<Image> {
  image ??= openImage(await loadImage('main'))
  return image
}

/** The operations of the step thread, here and now, with helpers for events. */
export class Bench {
  readonly directory: string
  readonly stepper: Stepper
  readonly operations: Operations
  #now = 1_000_000

  constructor(
    directory: string,
    from: Image,
    kept?: HistoryRetention,
    wrap?: (journal: EventJournal) => EventJournal,
  ) {
    this.directory = directory
    this.stepper = new Stepper(directory, from, kept, wrap)
    this.operations = new Operations(this.stepper)
  }

  get now(): number {
    this.#now += 1_000
    return this.#now
  }

  async create(
    id: string,
    config: Config = configOf(),
    owner = 'me',
    files: object[] = [],
    bytes?: Uint8Array,
  ): Promise<StepResult> {
    const now = this.now
    const beside: AgentOrigin = {
      owner,
      depth: 0,
      image: this.stepper.image.hash,
      asked: {},
      grants: config.tools.map(({ server, tool }) => `${server}/${tool}`),
    }
    const event = { kind: 'create', at: now, id, seed: id, config, files } as CreateEvent
    return this.operations.create(beside, event, bytes).step
  }

  async send(id: string, event: Record<string, unknown>, nonce?: string): Promise<StepResult> {
    const whole = { at: this.now, ...event } as unknown as JournalEvent
    const { step } = await this.operations.apply(null, id, whole, undefined, nonce)
    return step
  }

  /** As the service does it: an idle agent of an older core moves first. */
  prompt(id: string, input = 'go', runId = `r${this.#now}`): Promise<StepResult> {
    const { agent } = this.operations.standing(null, id, this.#now)
    if (agent.summary.runId === null) this.move(id)
    return this.send(id, { kind: 'prompt', runId, input, maxTurns: null })
  }

  model(
    id: string,
    step: StepResult,
    text: string,
    toolCalls: readonly ToolCall[] = [],
  ): Promise<StepResult> {
    const effect = step.effects.find(({ kind }) => kind === 'model' || kind === 'compact')
    const usage = { inputTokens: 10, outputTokens: 5 }
    return this.send(id, { kind: 'model', effectId: effect?.id, text, toolCalls, usage })
  }

  move(id: string): AgentRow {
    const nowMs = this.now
    const { agent } = this.operations.standing(null, id, nowMs)
    const { owner, seq, image: core } = agent
    if (core === this.stepper.image.hash) return agent
    const { memory: old, ...pieces } = runWhole(this.operations.takeExport(owner, id, nowMs, true))
    const beginner = new AgentBeginner(() => this.stepper.image)
    const moved = beginner.move(pieces, old ?? Buffer.alloc(0), nowMs)
    return this.operations.move(owner, id, { ...moved, seq, nowMs })
  }

  /** As the service does it, here and now. */
  export(id: string, secrets: 'redact' | 'keep' = 'redact', owner = 'me') {
    const nowMs = this.now
    // A run keeps the memory here.
    const isIdle = this.operations.standing(owner, id, nowMs).agent.summary.runId === null
    const { memory, ...pieces } = runWhole(this.operations.takeExport(owner, id, nowMs, isIdle))
    const options = { secrets, nowMs, installation: 'here' }
    return { exported: sealExport(pieces, options), memory: memory ?? Buffer.alloc(0) }
  }

  import(given: string | Uint8Array, options: AgentImportOptions) {
    const bytes = typeof given === 'string' ? Buffer.from(given) : given
    return this.operations.import(options, readImport(bytes))
  }

  ask<Value>(id: string, question: object): Value {
    return this.operations.ask(null, id, question as never, this.now).value as Value
  }

  async tool(
    id: string,
    name: string,
    input: object,
  ): Promise<{ content: unknown; isError: boolean }> {
    const { output } = await this.send(id, { kind: 'direct', name, input })
    return { content: JSON.parse(output?.content ?? 'null'), isError: output?.isError ?? true }
  }
}

export async function bench(directory = scratchDirectory()): Promise<Bench> {
  const made = new Bench(directory, await coreImage())
  onTestFinished(() => {
    if (made.stepper.journal.database.isOpen) made.operations.close()
  })
  return made
}

export function call(name: string, input: object, id = `c_${name}`): ToolCall {
  return { id, name, input }
}
