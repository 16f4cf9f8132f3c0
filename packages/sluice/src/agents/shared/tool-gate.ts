// The way out: how agents reach tools of servers behind the gate. The composition root hands one in;
// this room knows no gateway. A call by an agent is its owner's call with `agent` set, judged and
// recorded like any other. What comes back is data for the model, never a permission.

import type { AgentCall, AgentOutcome, AgentTool } from '../../core/agent-calls.ts'

export type GateTool = AgentTool
export type GateOutcome = AgentOutcome

export interface GateCall extends AgentCall {
  readonly signal: AbortSignal
}

export interface ToolGate {
  /** What the owner may see, today. */
  list(owner: string): Promise<readonly GateTool[]>
  call(call: GateCall): Promise<GateOutcome>
  /** Waits for the verdict on a held call, carries it out if it may, and gives its outcome. */
  settle(
    ticket: string,
    signal: AbortSignal,
    /** What the family has seen when the call is made. */
    labels: () => Promise<readonly string[]>,
  ): Promise<GateOutcome>
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
