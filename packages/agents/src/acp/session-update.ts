// The messages of the Agent Client Protocol (version 1) that an editor is sent while an agent works, as the
// protocol spells them. Only what Sluice uses. Types only.

/** A piece of text, the only content that agents produce. */
export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

/** What an editor draws beside a tool call. */
export type ToolKind = 'read' | 'edit' | 'delete' | 'search' | 'execute' | 'think' | 'other'

/** `pending`: the call waits for a person at the gate. */
export type ToolCallStatus = 'pending' | 'in_progress' | 'completed' | 'failed'

export interface ToolCallContent {
  readonly type: 'content'
  readonly content: TextContent
}

/** Text of the user or of the agent. An editor joins pieces that follow each other. */
export interface MessageChunk {
  readonly sessionUpdate: 'user_message_chunk' | 'agent_message_chunk'
  readonly content: TextContent
}

/** A call that the model made. */
export interface ToolCallStarted {
  readonly sessionUpdate: 'tool_call'
  /** Unique in the session: the event that has the call, and its place there. */
  readonly toolCallId: string
  /** The name by which the gate knows the tool, never a text of its server. */
  readonly title: string
  readonly kind: ToolKind
  readonly status: ToolCallStatus
  /** The arguments as the model wrote them. */
  readonly rawInput: unknown
}

export interface ToolCallChanged {
  readonly sessionUpdate: 'tool_call_update'
  readonly toolCallId: string
  readonly status: ToolCallStatus
  /** The result, or what is waited for. */
  readonly content?: readonly ToolCallContent[]
}

export interface PlanEntry {
  readonly content: string
  /** Todos have no priority; the protocol demands one. */
  readonly priority: 'medium'
  readonly status: 'pending' | 'in_progress' | 'completed'
}

/** The whole todo list. An editor replaces the one before. */
export interface PlanUpdate {
  readonly sessionUpdate: 'plan'
  readonly entries: readonly PlanEntry[]
}

export type SessionUpdate = MessageChunk | ToolCallStarted | ToolCallChanged | PlanUpdate

/** Why a prompt ended, in the protocol's words. */
export type StopReason = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'cancelled'
