// How the agent commands reach the agents, in either process: a gate (gate-agents-api.ts), or the command itself
// (open-agents.ts).

import type { Service } from '@sluice/agents/service/service'
import { CliError } from '../terminal/errors.ts'

export interface ProgressWatch {
  onProgress(message: string): void
  /** Text of the model as it comes. */
  onText?(text: string): void
  readonly signal: AbortSignal
}

/** The tools of the agents' MCP server, called as the local user. */
export interface AgentsApi {
  /** `typed`: what the user typed for this call; without it, the command line. */
  call<View>(
    tool: string,
    args: object,
    watch?: ProgressWatch | undefined,
    typed?: string | undefined,
  ): Promise<View>
  close(): Promise<void>
  /** Where this process runs the agents itself. */
  readonly service?: Service
}

/** The agents of a gate refused a call, or the gate did. */
export class AgentsCallError extends CliError {
  /** The code of the refusal, such as `AGENT_NOT_FOUND`; undefined if the answer has none. */
  readonly refusal: string | undefined

  constructor(message: string, refusal: string | undefined) {
    const told = refusal === undefined ? message : `${message} (${refusal})`
    super('CLI_AGENTS', told, 'docs/reference/errors.md says what to do about each code')
    this.refusal = refusal
  }
}
