// The events of an agent's journal as updates for an editor: the model's words, its calls, and what became of them.
// The same for a run that goes on and for one that is loaded. Holds what is open of the current turn.

import { attempt } from '@sluice/policy/structures/attempt'
import type { SessionUpdate, TextContent, ToolCallStatus, ToolKind } from './session-update.ts'

/** An event as `wasm_agent_history` lists it with `whole`. Members depend on its kind. */
export interface ShownEvent {
  readonly seq: number
  readonly kind: string
  /** Answered model calls of the agent after this event. */
  readonly turn: number
  /** What the agent was told; an update `prompt` has it. */
  readonly input?: string
  /** The words of the model; an update `model` has them. */
  readonly text?: string
  /** The calls that the model made, with their arguments as JSON; an update `model` has them. */
  readonly toolCalls?: readonly ShownCall[]
  /** The effect that the update belongs to: `e` and a number. The calls of a turn have the numbers behind that of its model
   * call, in their order. */
  readonly effectId?: string
  /** The result; updates `tool` and `code` have it. */
  readonly content?: string
  readonly isError?: boolean
  /** The request at the gate and its address, in an update `waiting`; empty if nothing is waited for any more. */
  readonly on?: string
}

export interface ShownCall {
  readonly name: string
  /** The arguments as JSON. */
  readonly input: string
  /** Why the host could not take the arguments: the call was not made. */
  readonly refused?: string
}

export interface RunUpdatesOptions {
  /** Names of the agent's tools: a call of another one is refused inside, without an event. */
  readonly tools: ReadonlySet<string>
  /** `turn` of the last event that is not shown; undefined at the beginning of a history. */
  readonly turn?: number | undefined
}

interface OpenCall {
  readonly toolCallId: string
  readonly effectId: string
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_files: 'read',
  glob: 'search',
  grep: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  delete_file: 'delete',
  run_code: 'execute',
  write_todos: 'think',
  update_todo: 'think',
}

export class RunUpdates {
  readonly #tools: ReadonlySet<string>
  #turn: number | undefined
  /** Calls of this turn that left the sandbox and have no result, in the order of the model. */
  #open: OpenCall[] = []

  constructor({ tools, turn }: RunUpdatesOptions) {
    this.#tools = tools
    this.#turn = turn
  }

  /** `takeStreamed`: whether the words of a turn have been shown as they came; asked once for each turn with words. */
  ofEvent(
    event: ShownEvent,
    takeStreamed: (text: string) => boolean = () => false,
  ): SessionUpdate[] {
    // A model's answer that is no turn sums the conversation up: it is not part of the chat.
    const isTurn = event.turn !== this.#turn
    this.#turn = event.turn
    switch (event.kind) {
      case 'prompt':
        return [userMessage(event.input ?? '')]
      case 'model':
        return isTurn ? this.#ofTurn(event, takeStreamed) : []
      case 'waiting':
        return this.#ofWaiting(event)
      case 'tool':
      case 'code':
        return this.#ofResult(event)
      default:
        return []
    }
  }

  /** The run has ended: what is still open was given up. */
  end(): SessionUpdate[] {
    return this.#closeAll('failed')
  }

  #closeAll(status: ToolCallStatus): SessionUpdate[] {
    const left = this.#open.map((call) => changed(call, status))
    this.#open = []
    return left
  }

  #ofTurn(event: ShownEvent, takeStreamed: (text: string) => boolean): SessionUpdate[] {
    const { seq, text = '', toolCalls = [], effectId = '' } = event
    // The model is asked again only when every call has its result.
    const updates = this.#closeAll('completed')
    if (text !== '' && !takeStreamed(text)) updates.push(agentMessage(text))
    let effect = Number(effectId.slice(1))
    for (const [at, call] of toolCalls.entries()) {
      const { name, input } = call
      const toolCallId = `${seq}.${at + 1}`
      const leaves = this.#leavesSandbox(call)
      if (leaves) {
        effect += 1
        this.#open.push({ toolCallId, effectId: `e${effect}` })
      }
      updates.push({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: name.replace('__', '/'),
        kind: KINDS[name] ?? 'other',
        status: leaves ? 'in_progress' : this.#isAnswered(call) ? 'completed' : 'failed',
        rawInput: attempt(() => JSON.parse(input)) ?? input,
      })
    }
    return updates
  }

  /** A tool inside the sandbox answers at once, and has no event of its own. */
  #isAnswered({ name, refused }: ShownCall): boolean {
    return refused === undefined && this.#tools.has(name)
  }

  #leavesSandbox(call: ShownCall): boolean {
    return this.#isAnswered(call) && (call.name === 'run_code' || call.name.includes('__'))
  }

  #ofWaiting({ effectId = '', on = '' }: ShownEvent): SessionUpdate[] {
    const call = this.#find(effectId)
    if (call === undefined) return []
    if (on === '') return [changed(call, 'in_progress')]
    return [changed(call, 'pending', `waits for approval: ${on}`)]
  }

  #ofResult({ effectId = '', isError, content = '' }: ShownEvent): SessionUpdate[] {
    const call = this.#find(effectId)
    // A call that a person made directly is no part of the chat.
    if (call === undefined) return []
    this.#open = this.#open.filter((each) => each !== call)
    return [changed(call, isError === true ? 'failed' : 'completed', content)]
  }

  #find(effectId: string): OpenCall | undefined {
    return this.#open.find((call) => call.effectId === effectId)
  }
}

export function userMessage(text: string): SessionUpdate {
  return { sessionUpdate: 'user_message_chunk', content: textContent(text) }
}

export function agentMessage(text: string): SessionUpdate {
  return { sessionUpdate: 'agent_message_chunk', content: textContent(text) }
}

function changed(call: OpenCall, status: ToolCallStatus, text?: string): SessionUpdate {
  const { toolCallId } = call
  if (text === undefined) return { sessionUpdate: 'tool_call_update', toolCallId, status }
  const content = [{ type: 'content', content: textContent(text) }] as const
  return { sessionUpdate: 'tool_call_update', toolCallId, status, content }
}

function textContent(text: string): TextContent {
  return { type: 'text', text }
}
