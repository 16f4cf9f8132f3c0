import type { Facts } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import type { Answer } from '../wire/message.ts'
import { type Spine } from './admit.ts'
import type { Link } from './link.ts'
import type { ToolList } from './tool-list.ts'
import type { UpstreamLink } from './upstream/upstream.ts'
/** How a call ended, for the record. */
export type Outcome = {
  readonly status: 'answered' | 'error' | 'cancelled' | 'unknown'
  readonly bytes: number
  readonly errorCode?: number
}
export interface RelayContext {
  readonly spine: Spine
  readonly server: string
  /** Who calls, and in which session; asked anew for every call. */
  readonly facts: () => Omit<Facts, 'tool'>
  readonly tools: ToolList
  /** A call was admitted; an answer of this tool came. */
  readonly onCall: () => void
  readonly onAnswer: (tool: string) => void
  readonly outcome: (intent: number, startedMs: number, outcome: Outcome) => void
  readonly onEnd: () => void
  /** What both sides agreed to speak. */
  readonly onRevision: (revision: string) => void
  readonly log: (text: string) => void
}
export declare class Relay {
  #private
  constructor(client: Link, server: UpstreamLink, context: RelayContext)
  close(why: string): void
  /** Closes, and waits until nothing of the server is left. */
  end(why: string): Promise<void>
  /** A question of the gate's own, such as for the list of tools. */
  ask(method: string, params: JsonObject): Promise<Answer>
}
