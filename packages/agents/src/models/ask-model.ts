// One turn of a model for one agent: attempts with pauses where trying again makes sense, and the
// agent's conversation kept beside, so that a step hands out only what is new. Called by perform-effect.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import { processClock } from '@sluice/ledger/store/process-clock'
import { LruMap } from '@sluice/policy/structures/lru-map'
import type { ChatMessage, Effect, ModelTool } from '../guest/protocol.ts'
import type { AgentRow } from '../journal/rows.ts'
import { FairQueue } from '../sandbox/fair-queue.ts'
import { AgentError } from '../shared/errors.ts'
import {
  MESSAGES_PAGE_LENGTH,
  MODEL_ATTEMPTS,
  MODEL_CALLS_MAX,
  MODEL_RETRY_MS_MAX,
  MODEL_RETRY_MS_MIN,
  MODEL_TIMEOUT_MS,
} from '../shared/limits.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { BudgetSpent, FamilyBudgets, type Reservation } from './family-budget.ts'
import { mendAnswer } from './mend-answer.ts'
import {
  callModel,
  hideKey,
  type ModelAnswer,
  type ModelRequest,
  type ModelSettings,
} from './models.ts'
import { PROGRAM_MODEL, passProgram } from './program-model.ts'

export interface AskModelOptions {
  readonly signal: AbortSignal
  /** The caller releases it when what the answer led to is in the journal. */
  onReserved(reservation: Reservation): void
  /** Text of an answer as it comes; an attempt that fails may have sent some. */
  readonly onText?: ((text: string) => void) | undefined
}

interface CachedConversation {
  readonly epoch: number
  readonly messages: ChatMessage[]
}

interface ModelPreamble {
  readonly instructions: string
  readonly tools: readonly ModelTool[]
}

const KEPT_MAX = 256
/** Characters of a provider's error that are kept. */
const ERROR_LENGTH_MAX = 500
const SUM_UP =
  'Sum up the conversation so far for yourself: the task, what was decided and done, what files ' +
  'hold what, what is left to do. Leave out nothing you will need.'

export class ModelCaller {
  readonly #steps: Steps
  readonly #settings: ModelSettings
  readonly #conversations = new LruMap<string, CachedConversation>(KEPT_MAX)
  readonly #preambles = new LruMap<string, ModelPreamble>(KEPT_MAX)
  readonly #queue = new FairQueue(MODEL_CALLS_MAX)
  readonly #budgets: FamilyBudgets

  constructor(steps: Steps, settings: ModelSettings) {
    this.#steps = steps
    this.#settings = settings
    this.#budgets = new FamilyBudgets(steps, processClock.nowMs)
  }

  forget(agent: string): void {
    this.#conversations.delete(agent)
    this.#preambles.delete(agent)
  }

  async ask(
    agent: AgentRow,
    effect: Extract<Effect, { kind: 'model' | 'compact' }>,
    { signal, onReserved, onText }: AskModelOptions,
  ): Promise<ModelAnswer> {
    const { id, model } = agent
    const turn = agent.summary.turnCount
    const isTurn = effect.kind === 'model'
    // All earlier programs of the session are in the conversation: only the newest message is needed.
    const isShort = model === PROGRAM_MODEL && isTurn && effect.messages.length > 0
    const all = isShort ? effect.messages : await this.#conversation(id, effect)
    if (model === PROGRAM_MODEL) return passProgram(all.at(-1), turn)
    const { instructions, tools } = await this.#readPreamble(id)
    const prompt: ChatMessage = { role: 'user', content: SUM_UP }
    const request = isTurn
      ? { model, instructions, messages: all, tools, turn, onText }
      : { model, instructions, messages: [...all.slice(0, effect.until), prompt], tools: [], turn }
    const size = { characters: charactersOf(request), isTurn }
    const reservation = await this.#budgets.reserve(agent, size, signal)
    onReserved(reservation)
    return this.#attempt(agent, request, reservation, signal)
  }

  /** An agent's instructions and tools never change, so they are read once. */
  async #readPreamble(id: string): Promise<ModelPreamble> {
    const known = this.#preambles.get(id)
    if (known !== undefined) return known
    const portable = await this.#ask<{ config: { instructions: string } }>(id, { ask: 'portable' })
    const tools = await this.#ask<ModelTool[]>(id, { ask: 'tools' })
    const preamble = { instructions: portable.config.instructions, tools }
    this.#preambles.set(id, preamble)
    return preamble
  }

  async #attempt(
    agent: AgentRow,
    request: Omit<ModelRequest, 'signal'>,
    reservation: Reservation,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#queue.run(agent.owner, async () => {
          // It may have waited long for its turn.
          signal.throwIfAborted()
          await this.#budgets.check(agent)
          const both = AbortSignal.any([signal, AbortSignal.timeout(MODEL_TIMEOUT_MS)])
          // A scripted model costs nothing.
          if (!request.model.startsWith('script:')) reservation.sent()
          return mendAnswer(await callModel({ ...request, signal: both }, this.#settings))
        })
        reservation.answered(answer.usage)
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof BudgetSpent) throw error
        if (wasRefused(error)) reservation.refused()
        if (attempt >= MODEL_ATTEMPTS || !canRetry(error))
          throw this.#explain(error, request.model, attempt)
        const pause = Math.min(MODEL_RETRY_MS_MAX, MODEL_RETRY_MS_MIN * 2 ** (attempt - 1))
        await sleep(retryAfterMs(error) ?? pause, undefined, { signal })
      }
    }
  }

  #explain(error: unknown, model: string, attempts: number): AgentError {
    if (error instanceof AgentError) return error
    const { message, statusCode } = error as { message?: string; statusCode?: number }
    const status = statusCode === undefined ? '' : ` (HTTP ${statusCode})`
    const tried = attempts === 1 ? '' : ` after ${attempts} attempts`
    const text = hideKey(`${message ?? String(error)}`, model, this.#settings)
    return new AgentError(
      'MODEL_FAILED',
      `the model could not be asked${tried}${status}: ${text.slice(0, ERROR_LENGTH_MAX)}`,
      error,
    )
  }

  /** What was kept and what is new; asked for whole where the two do not meet. */
  async #conversation(
    id: string,
    effect: Extract<Effect, { kind: 'model' | 'compact' }>,
  ): Promise<readonly ChatMessage[]> {
    const cached = this.#conversations.get(id)
    if (cached?.epoch === effect.epoch) {
      if (effect.kind === 'compact' && cached.messages.length >= effect.until)
        return cached.messages
      if (
        effect.kind === 'model' &&
        cached.messages.length === effect.from &&
        effect.messages.length
      )
        return this.#keep(id, {
          epoch: cached.epoch,
          messages: [...cached.messages, ...effect.messages],
        })
    }
    if (effect.kind === 'model' && effect.from === 0 && effect.messages.length > 0)
      return this.#keep(id, { epoch: effect.epoch, messages: [...effect.messages] })
    const messages: ChatMessage[] = []
    for (let from: number | null = 0; from !== null; ) {
      const question = { ask: 'messages', from, bytesMax: MESSAGES_PAGE_LENGTH } as const
      const page: { messages: ChatMessage[]; next: number | null } = await this.#ask(id, question)
      messages.push(...page.messages)
      from = page.next
    }
    return this.#keep(id, { epoch: effect.epoch, messages })
  }

  #keep(id: string, conversation: CachedConversation): readonly ChatMessage[] {
    this.#conversations.set(id, conversation)
    return conversation.messages
  }

  async #ask<Value>(id: string, question: Parameters<Steps['ask']>[2]): Promise<Value> {
    return (await this.#steps.ask(null, id, question, processClock.nowMs())).value as Value
  }
}

/** The server said no, and bills nothing; after anything else it may have answered. */
function wasRefused(error: unknown): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: number }
  return statusCode !== undefined && statusCode >= 400
}

function charactersOf({ messages, instructions, tools }: Omit<ModelRequest, 'signal'>): number {
  return JSON.stringify(messages).length + instructions.length + JSON.stringify(tools).length
}

/** Transient errors: overload, limits of the provider, no network. */
function canRetry(error: unknown): boolean {
  if (error instanceof AgentError) return false
  const { isRetryable, statusCode, name } = (error ?? {}) as {
    isRetryable?: boolean
    statusCode?: number
    name?: string
  }
  if (name === 'TimeoutError') return true
  if (statusCode !== undefined) return statusCode === 408 || statusCode === 429 || statusCode >= 500
  return isRetryable === true
}

function retryAfterMs(error: unknown): number | undefined {
  const headers = (error as { responseHeaders?: Record<string, string> }).responseHeaders
  const seconds = Number(headers?.['retry-after'])
  if (!Number.isFinite(seconds) || seconds < 0) return undefined
  return Math.min(MODEL_RETRY_MS_MAX, seconds * 1_000)
}
