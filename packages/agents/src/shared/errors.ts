// What the agents can answer with instead of an answer. Codes of the guest's refusals are here too:
// they reach callers as they are. docs/reference/errors.md lists the same codes.

export const ERRORS = {
  AGENT_NOT_FOUND: 'there is no such agent, or it belongs to somebody else',
  AGENT_INPUT: 'an argument is wrong',
  AGENT_LIMIT: 'a limit of the agent or of the gate would be passed',
  AGENT_STOPPED: 'the agent is stopped; `wasm_agent_is_stopped` says why',
  AGENT_BUSY: 'the agent is doing something this has to wait for',
  AGENT_ELSEWHERE: 'another gate runs the agent',
  AGENT_UNAVAILABLE:
    'the shared store of the agents, or the gate that runs the agent, does not answer',
  AGENT_PATH: 'a path that leaves the files of the agent, or names none',
  AGENT_FILE_MISSING: 'there is no such file',
  AGENT_EVENT: 'a result nobody waits for',
  AGENT_RUN_MISSING: 'there is no such run of this agent',
  AGENT_DAMAGED: 'what is stored of the agent cannot be read or does not fit together',
  AGENT_IMPORT: 'an export that cannot be imported; nothing was changed',
  AGENT_FAULT: 'the agent failed inside; its last committed state stands',
  MODEL_UNKNOWN: 'a model that is not named `provider:model`, or of an unknown provider',
  MODEL_KEY_MISSING: 'the provider needs a key that is not set',
  MODEL_FAILED: 'the model could not be asked',
  MODEL_SCRIPT: 'a script of canned turns cannot be read, or has ended',
  MODEL_PRICE_MISSING: 'a limit on cost needs a price for the model',
  TOOL_UNKNOWN: 'a tool the owner does not have',
  TOOL_FAILED: 'a tool that a program called answered with an error of its own',
  OUTCOME_UNKNOWN: 'a call was sent and its result was lost; it is not sent again',
  PROGRAM_FAILED: 'a program did not end well; nothing it wrote was kept',
  TEMPLATE_UNKNOWN: 'there is no such template',
  TEMPLATE_REFUSED: 'a template that cannot be taken',
  RVF_INVALID: 'a container that is not RVF, or damaged',
} as const

export type AgentErrorCode = keyof typeof ERRORS

/**
 * A fault with a stable code; the errors page explains each.
 *
 * @example
 * ```ts
 * if (error instanceof AgentError && error.code === 'AGENT_LIMIT') console.error(error.message)
 * ```
 */
export class AgentError extends Error {
  readonly code: AgentErrorCode
  constructor(code: AgentErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** The error of the store has its address, which is not for agents. */
const STORE_DOWN = 'the shared store does not answer; try again'

/** An error as a thread sent it, or as a guest said it. */
export function toAgentError({ code, message }: { code?: string; message: string }): AgentError {
  if (code !== undefined && Object.hasOwn(ERRORS, code))
    return new AgentError(code as AgentErrorCode, message)
  if (code === 'STORE_UNREACHABLE') return new AgentError('AGENT_UNAVAILABLE', STORE_DOWN)
  if (code === 'STORE_FENCED') return new AgentError('AGENT_ELSEWHERE', message)
  if (code?.startsWith('STORE_')) return new AgentError('AGENT_DAMAGED', `${message} [${code}]`)
  return new AgentError('AGENT_FAULT', code === undefined ? message : `${message} [${code}]`)
}
