// The words a guest and its host exchange: events go in, effects and a summary come out. Types only,
// so the host may import this file; everything that crosses is JSON, and bytes beside it.

export type TodoStatus = 'pending' | 'in_progress' | 'completed' | 'cancelled'

export interface Todo {
  readonly id: string
  readonly content: string
  readonly status: TodoStatus
  readonly createdAt: number
  readonly updatedAt: number
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** Why the host could not take the arguments as the model wrote them: the call is not made. */
  readonly refused?: string
}

export type ChatMessage =
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string
      readonly toolCalls: readonly ToolCall[]
    }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly content: string
      readonly isError: boolean
    }

/** A tool of a server behind the gate, as it was granted at create. */
export interface GrantedTool {
  /** What the model calls it: `<server>__<tool>`. */
  readonly name: string
  readonly server: string
  readonly tool: string
  readonly description: string
  readonly inputSchema: unknown
}

export interface Limits {
  readonly maxTurns: number
  readonly maxTokens: number | null
  /** In millionths of the currency the price is in. */
  readonly maxCostMicros: number | null
  readonly maxToolCalls: number | null
  readonly runMs: number | null
  readonly expiresAt: number | null
  /** The same call with the same result this often in a row; null never stops for it. */
  readonly noProgress: number | null
  /** An answer while todos are open goes on instead. */
  readonly finishTodos: boolean
  /** Tokens of one model call's input after which the conversation is compacted. */
  readonly contextTokens: number
  readonly fileBytesMax: number
  readonly totalBytesMax: number
  readonly filesMax: number
}

/** Millionths of the currency for one token. */
export interface Price {
  readonly inputMicros: number
  readonly outputMicros: number
}

export interface Config {
  readonly template: string | null
  readonly model: string
  readonly instructions: string
  readonly limits: Limits
  readonly tools: readonly GrantedTool[]
  readonly price: Price | null
}

export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  readonly costMicros: number | null
}

export type StopReason =
  | 'max_turns'
  | 'max_tokens'
  | 'max_cost'
  | 'max_tool_calls'
  | 'run_time'
  | 'expired'
  | 'no_progress'
  | 'stopped'
  | 'host_limit'

export interface Stop {
  readonly reason: StopReason
  readonly detail: string
  readonly at: number
}

/** A file as it is handed in: its text, or a stretch of the bytes that go along with the event. */
export interface FileIn {
  readonly path: string
  readonly text?: string
  /** Of the text in UTF-8, where whoever hands it in has counted, and seen that it is whole. */
  readonly size?: number
  readonly bytes?: readonly [offset: number, length: number]
  readonly modifiedAt?: number
}

export interface FileFacts {
  readonly path: string
  readonly bytes: number
  readonly modifiedAt: number
  /** Changes with the content: what the host knows of a file it keeps by this. */
  readonly revision: number
  readonly isText: boolean
}

/** What an export holds and an import brings, beside the files. */
export interface PortableAgent {
  readonly config: Config
  readonly todos: readonly Todo[]
  readonly messages: readonly ChatMessage[]
  readonly turnCount: number
  readonly toolCallCount: number
  readonly usage: TokenUsage
  readonly stop: Stop | null
}

export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type JournalEvent =
  | {
      readonly kind: 'create'
      readonly at: number
      readonly id: string
      readonly seed: string
      readonly config: Config
      readonly files: readonly FileIn[]
      readonly from?: PortableAgent
    }
  | {
      readonly kind: 'prompt'
      readonly at: number
      readonly runId: string
      readonly input: string
      readonly maxTurns: number | null
    }
  | {
      readonly kind: 'model'
      readonly at: number
      readonly effectId: string
      readonly text: string
      readonly toolCalls: readonly ToolCall[]
      readonly usage: ModelUsage
    }
  | {
      readonly kind: 'model_failed'
      readonly at: number
      readonly effectId: string
      readonly code: string
      readonly message: string
    }
  | {
      readonly kind: 'tool'
      readonly at: number
      readonly effectId: string
      readonly content: string
      readonly isError: boolean
    }
  | {
      readonly kind: 'code'
      readonly at: number
      readonly effectId: string
      readonly content: string
      readonly isError: boolean
      readonly write: readonly FileIn[]
      readonly remove: readonly string[]
      /** Tool calls that the program made. */
      readonly calls?: number
    }
  | {
      /** `on` is empty where nothing is waited for any more. */
      readonly kind: 'waiting'
      readonly at: number
      readonly effectId: string
      readonly on: string
    }
  | {
      readonly kind: 'direct'
      readonly at: number
      readonly name: string
      readonly input: unknown
    }
  | {
      readonly kind: 'stop'
      readonly at: number
      readonly reason: 'stopped' | 'host_limit'
      readonly detail: string
    }
  /** Nothing is sent until a resume: the host holds effects back, the agent stops its clock. Cores that
   * do not know it leave it without effect. */
  | { readonly kind: 'pause'; readonly at: number; readonly reason: string }
  | {
      readonly kind: 'resume'
      readonly at: number
      readonly limits: Partial<Limits>
      /** The run as which one goes on that a limit had stopped. */
      readonly runId?: string
    }
  | { readonly kind: 'reset'; readonly at: number; readonly keepFiles: boolean }
  | { readonly kind: 'cancel'; readonly at: number; readonly runId: string }
  | { readonly kind: 'tick'; readonly at: number }
  | { readonly kind: 'forked'; readonly at: number; readonly id: string; readonly seed: string }

export type EventOf<Kind extends JournalEvent['kind']> = Extract<JournalEvent, { kind: Kind }>

export type Effect =
  | {
      readonly kind: 'model'
      readonly id: string
      /** Messages with the same epoch and a lower index were handed out before. */
      readonly epoch: number
      readonly from: number
      readonly messages: readonly ChatMessage[]
    }
  | {
      readonly kind: 'compact'
      readonly id: string
      readonly epoch: number
      /** Messages before this index are to be summed up. */
      readonly until: number
    }
  | {
      readonly kind: 'tool'
      readonly id: string
      readonly server: string
      readonly tool: string
      readonly input: unknown
    }
  | { readonly kind: 'code'; readonly id: string; readonly code: string }

export type RunStop =
  | StopReason
  | 'answered'
  | 'run_max_turns'
  | 'cancelled'
  | 'model_failed'
  | 'reset'

export interface RunEnd {
  readonly runId: string
  readonly response: string
  readonly turns: number
  readonly toolCalls: number
  readonly stop: { readonly reason: RunStop; readonly detail: string }
  readonly usage: TokenUsage
}

export type AgentState = 'idle' | 'running' | 'waiting' | 'stopped'

export interface Summary {
  readonly state: AgentState
  readonly turnCount: number
  readonly toolCallCount: number
  readonly fileCount: number
  readonly fileBytes: number
  readonly todos: Readonly<Record<TodoStatus, number>>
  readonly usage: TokenUsage
  readonly stop: Stop | null
  readonly waitingFor: string | null
  readonly wakeAt: number | null
  readonly runId: string | null
  readonly queued: number
}

/** What a step did to todos and files: whoever knew them before it knows them after it. */
export interface Changes {
  /** The whole list, where it was written. */
  readonly todos: readonly Todo[] | null
  /** Those that were written, and the paths of those that are not there any more. */
  readonly files: readonly FileFacts[]
  readonly gone: readonly string[]
}

export interface StepResult {
  readonly effects: readonly Effect[]
  /** Effects that nobody needs any more. */
  readonly dropped: readonly string[]
  readonly ended: readonly RunEnd[]
  /** The answer to a `direct` call; null where it comes as an effect's result. */
  readonly output: { readonly content: string; readonly isError: boolean } | null
  readonly summary: Summary
  /** Null where there are none; absent where a core does not say. */
  readonly changes?: Changes | null
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
}

export type AgentQuery =
  | { readonly ask: 'todos' }
  | { readonly ask: 'files'; readonly glob?: string; readonly path?: string }
  | { readonly ask: 'read'; readonly path: string }
  | { readonly ask: 'messages'; readonly from: number; readonly bytesMax: number }
  | { readonly ask: 'tools' }
  | { readonly ask: 'portable' }
  | { readonly ask: 'summary' }

/** What a guest says to a call: what was asked for, or why not. A refusal changes nothing. */
export type GuestReply<Value> =
  | { readonly ok: Value }
  | { readonly refused: { readonly code: string; readonly message: string } }
