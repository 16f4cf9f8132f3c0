// How the agent commands reach the agents, in either process: a gate (gate-agents-api.ts), or the command itself
// (open-agents.ts).

import type { Service } from '@sluice/agents/service/service'

export interface ProgressWatch {
  onProgress(message: string): void
  /** Text of the model as it comes. */
  onText?(text: string): void
  readonly signal: AbortSignal
}

/** The tools of the agents' MCP server, called as the local user. */
export interface AgentsApi {
  call<View>(tool: string, args: object, watch?: ProgressWatch): Promise<View>
  close(): Promise<void>
  /** Where this process runs the agents itself. */
  readonly service?: Service
}
