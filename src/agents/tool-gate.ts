// The way out: how agents reach tools of servers behind the gate. The composition root hands one in;
// this room knows no gateway. A call by an agent is its owner's call with `agent` set, judged and
// recorded like any other. What comes back is data for the model, never a permission.

import type { AgentFacts } from '../core/call.ts'

export interface GateTool {
  readonly server: string
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  /** A call without a result may be made again only where this says `Read`. */
  readonly category: string
}

export interface GateCall {
  readonly owner: string
  readonly agent: AgentFacts
  /** One session for an agent's family, its whole life. */
  readonly family: string
  readonly server: string
  readonly tool: string
  readonly args: unknown
  /** Goes upstream in `_meta`, the same when a Read is made again. */
  readonly effectId: string
  readonly signal: AbortSignal
}

export type GateOutcome =
  /** The server answered; `isError` is the server's own. */
  | {
      readonly kind: 'result'
      readonly text: string
      readonly structured?: unknown
      readonly isError: boolean
    }
  /** Refused before it left: by policy, a limit, or an approval. */
  | { readonly kind: 'denied'; readonly code: string; readonly reason: string }
  /** Waits for a person; `settle` with the ticket gives the outcome, also after a restart. */
  | { readonly kind: 'held'; readonly ticket: string; readonly reason: string }
  /** It left and nobody knows what became of it. */
  | { readonly kind: 'unknown'; readonly reason: string }

export interface ToolGate {
  /** What the owner may see, today. */
  list(owner: string): Promise<readonly GateTool[]>
  call(call: GateCall): Promise<GateOutcome>
  /** Waits for the verdict on a held call, carries it out if it may, and gives its outcome. */
  settle(ticket: string, signal: AbortSignal): Promise<GateOutcome>
}

/** Where agents run without a gate: no tools but their own. */
export const NO_GATE: ToolGate = {
  list: async () => [],
  call: async ({ server, tool }) => ({
    kind: 'denied',
    code: 'TOOL_UNKNOWN',
    reason: `there is no gate here that leads to \`${server}/${tool}\``,
  }),
  settle: async () => ({ kind: 'unknown', reason: 'there is no gate here' }),
}
