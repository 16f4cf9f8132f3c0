// The way out: how agents reach tools of servers behind the gate. The composition root hands one in;
// this module knows no gateway. A call by an agent is its owner's call with `agent` set, judged and
// recorded like any other. What comes back is data for the model, never a permission.

import type {
  AgentCall,
  AgentOutcome,
  AgentPrompt,
  AgentTool,
  ProgramOrigin,
} from '@sluice/protocol/agent-calls'

/**
 * A tool that an agent can be given.
 *
 * @example
 * ```ts
 * const tools: readonly GateTool[] = await gate.list('ann')
 * ```
 */
export type GateTool = AgentTool
/**
 * What became of a tool call by an agent.
 *
 * @example
 * ```ts
 * const outcome: GateOutcome = { kind: 'denied', code: 'DENIED', reason: 'not permitted' }
 * ```
 */
export type GateOutcome = AgentOutcome

/**
 * A tool call by an agent, made as its owner.
 *
 * @example
 * ```ts
 * const call = async ({ server, tool, signal }: GateCall) => forward(server, tool, signal)
 * ```
 */
export interface GateCall extends AgentCall {
  readonly signal: AbortSignal
}

/**
 * How agents reach tools outside of their sandbox. Everything that an agent does to the world goes
 * through it, so this is where a policy is enforced.
 *
 * @example
 * ```ts
 * const gate: ToolGate = { list: async () => [], call: deny, settle: deny }
 * ```
 */
export interface ToolGate {
  /** What the owner may see, today. */
  list(owner: string): Promise<readonly GateTool[]>
  call(call: GateCall): Promise<GateOutcome>
  /** Called before the run that it begins: the agent's calls are judged by its prompt. */
  notePrompt?(prompt: AgentPrompt): Promise<void>
  /** The ticket of a call that was held before the process ended, if the agent did not come to note it. */
  findHeld?(call: AgentCall): string | undefined
  /** Waits for the verdict on a held call, carries it out if it may, and gives its outcome. */
  settle(
    ticket: string,
    signal: AbortSignal,
    /** What the family has seen when the call is made. */
    labels: () => Promise<readonly string[]>,
    /** The client's program that made the call. */
    program?: ProgramOrigin,
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
