// The messages between an agent and its model. A call is never parted from its result, a failed
// model call leaves nothing behind, and only what is new is handed out. `epoch` changes when older
// messages do, so that whoever keeps a copy knows to ask again.

import type { ToolResult } from './calls.ts'
import { GuestError } from './guest-error.ts'
import type { ChatMessage, ToolCall } from './protocol.ts'
import { truncate, wellFormed } from './text.ts'

const MESSAGE_LENGTH_MAX = 1_000_000
const RESULT_LENGTH_MAX = 200_000
const CONVERSATION_LENGTH_MAX = 4_000_000
const CALLS_MAX = 64
/** Messages at the end that compaction leaves as they are. */
const KEPT_MESSAGES = 6
const SHORT_RESULT_LENGTH = 120

export class Conversation {
  #messages: ChatMessage[] = []
  #epoch = 0
  #handed = 0
  #length = 0
  #nextCall = 1

  get messages(): readonly ChatMessage[] {
    return this.#messages
  }

  get epoch(): number {
    return this.#epoch
  }

  get isTooLong(): boolean {
    return this.#length > CONVERSATION_LENGTH_MAX
  }

  addUser(content: string): void {
    this.#push({ role: 'user', content: wellFormed(content) })
  }

  /** The model's turn; calls without a usable id get one. */
  addAssistant(content: string, calls: readonly ToolCall[]): readonly ToolCall[] {
    const seen = new Set<string>()
    const refusals: (string | undefined)[] = []
    const toolCalls = calls.slice(0, CALLS_MAX).map(({ id, name, input, refused }) => {
      refusals.push(refused)
      const usable = typeof id === 'string' && /^[\w-]{1,128}$/.test(id) && !seen.has(id)
      const known = usable ? id : `call_${this.#nextCall++}`
      seen.add(known)
      return { id: known, name: String(name).slice(0, 128), input }
    })
    this.#push({ role: 'assistant', content: truncate(content, MESSAGE_LENGTH_MAX), toolCalls })
    return toolCalls.map((call, at) => {
      const refused = refusals[at]
      return refused === undefined ? call : { ...call, refused }
    })
  }

  /** The results of a turn, and the calls with them as one text, to compare turns by. */
  addResults(results: Iterable<{ call: ToolCall; outcome: ToolResult }>): string {
    let seen = ''
    for (const { call, outcome } of results) {
      const { id: callId, name, input } = call
      const content = truncate(wellFormed(outcome.content), RESULT_LENGTH_MAX)
      this.#push({ role: 'tool', callId, name, content, isError: outcome.isError })
      seen += `${name} ${JSON.stringify(input)} ${outcome.content}\n`
    }
    return seen
  }

  /** Takes back a prompt that was never answered. */
  dropUnanswered(): void {
    const last = this.#messages.at(-1)
    if (last?.role !== 'user') return
    this.#messages.pop()
    this.#length -= last.content.length
    this.#renew()
  }

  /** What was not handed out yet. */
  handOut(): { epoch: number; from: number; messages: readonly ChatMessage[] } {
    const from = this.#handed
    this.#handed = this.#messages.length
    return { epoch: this.#epoch, from, messages: this.#messages.slice(from) }
  }

  /** How many messages from the front can be summed up without parting a call from its result. */
  compactable(): number {
    let until = this.#messages.length - KEPT_MESSAGES
    while (until > 1 && this.#messages[until]?.role === 'tool') until -= 1
    return Math.max(0, until)
  }

  compact(until: number, summary: string): void {
    const text = `[${until} earlier messages, summed up]\n${truncate(summary, RESULT_LENGTH_MAX)}`
    this.replace([{ role: 'user', content: text }, ...this.#messages.slice(until)])
  }

  /** Where no summary can be had: all but the newest results become a line. */
  shorten(): void {
    const until = this.compactable()
    this.replace(
      this.#messages.map((message, at) =>
        at < until && message.role === 'tool'
          ? { ...message, content: truncate(message.content, SHORT_RESULT_LENGTH) }
          : message,
      ),
    )
  }

  replace(messages: readonly ChatMessage[]): void {
    this.#messages = [...messages]
    this.#length = messages.reduce((sum, { content }) => sum + content.length, 0)
    this.#renew()
  }

  /** From an export: only what a conversation can be. */
  restore(messages: readonly ChatMessage[]): void {
    const open = new Set<string>()
    for (const message of messages) {
      if (message.role === 'tool') {
        if (!open.delete(message.callId)) throw broken('a result without its call')
      } else if (open.size > 0) throw broken('a call without its result')
      if (message.role === 'assistant') for (const call of message.toolCalls) open.add(call.id)
    }
    if (open.size > 0) throw broken('a call without its result')
    this.replace(messages)
    if (this.isTooLong) throw new GuestError('AGENT_LIMIT', 'the conversation is too long')
  }

  #push(message: ChatMessage): void {
    this.#messages.push(message)
    this.#length += message.content.length
    if (message.role === 'assistant') this.#length += JSON.stringify(message.toolCalls).length
  }

  #renew(): void {
    this.#epoch += 1
    this.#handed = 0
  }
}

/** Asked before a prompt is queued: one that waits must not fail when its turn comes. */
export function checkPrompt(input: unknown): void {
  if (typeof input !== 'string' || input.trim() === '')
    throw new GuestError('AGENT_INPUT', 'a prompt is a text that says something')
  if (input.length > MESSAGE_LENGTH_MAX)
    throw new GuestError('AGENT_LIMIT', `a prompt has at most ${MESSAGE_LENGTH_MAX} characters`)
}

function broken(why: string): GuestError {
  return new GuestError('AGENT_INPUT', `the messages do not fit together: ${why}`)
}
