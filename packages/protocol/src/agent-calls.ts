// Calls of agents to servers behind the gate, in terms of both sides: the agents make them, the
// gate decides on and forwards them. Neither module knows the other.

import type { AgentFacts } from '@sluice/policy/calls/call'

export interface AgentTool {
  readonly server: string
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  /** A call without a result may be repeated only if this is `Read`. */
  readonly category: string
}

/** The program whose call a call is: a client wrote it for `run_code`. */
export interface ProgramOrigin {
  /** The id of the call of `run_code`. */
  readonly parent: string
  readonly code: string
  /** It has received an answer before: what it calls with may be computed from that. */
  readonly hasReceived: boolean
}

/** Names the effect of an agent in `_meta` of a call that it makes. */
export const EFFECT_META = 'sluice/effect'
/** Names the call in `_meta` of a request to a server inside the gate. The gate writes it. */
export const CALL_META = 'sluice/call'
/** Why a request is cancelled if the client's connection is lost. */
export const CLIENT_GONE = 'the client went away'

const PROGRAMS = 'code/'

/** Whose agent runs the programs of a client. No principal is named so, and no list of agents has it. */
export function toProgramOwner(principal: string): string {
  return `${PROGRAMS}${principal}`
}

/** The client whose programs an owner's agents run; undefined for every other owner. */
export function readProgramOwner(owner: string): string | undefined {
  return owner.startsWith(PROGRAMS) ? owner.slice(PROGRAMS.length) : undefined
}

export interface AgentCall {
  readonly owner: string
  /** Null if a client's program calls: then the call is the client's own. */
  readonly agent: AgentFacts | null
  /** One session for an agent's family, for its whole life. Of a program: the key of its client's session. */
  readonly family: string
  /** Set if a client's program calls. */
  readonly program?: ProgramOrigin | undefined
  /**
   * The labels of the family, as the agents store them: the call is decided with these labels too.
   */
  readonly labels?: readonly string[]
  readonly server: string
  readonly tool: string
  readonly args: unknown
  /** Sent upstream in `_meta`, the same when a Read is repeated (idempotency key). */
  readonly effectId: string
}

/**
 * Goes along with labels from a session that has read something the policy does not trust: to the agents that
 * it tells something, and back from agents that have. No rule reads it.
 */
export const READ_LABEL = 'sluice/read'

/** Labels of a session, and a way to add to them. */
export interface SessionLabels {
  saw(): readonly string[]
  see(labels: readonly string[]): void
  /** Whether a text that comes from this session is its user's own. Absent if nothing is known of it. */
  isUsersText?(text: string): boolean
}

/** What an agent is told to do. */
export interface AgentPrompt {
  readonly owner: string
  readonly family: string
  readonly labels: readonly string[]
  readonly text: string
  /** A person wrote it; otherwise a model did, in another session. */
  readonly isUsers: boolean
}

/** `saw`: all labels of the family after the call. */
export type AgentOutcome = { readonly saw?: readonly string[] } & AgentOutcomeKind

type AgentOutcomeKind =
  /** The server answered; `isError` is the server's own. */
  | {
      readonly kind: 'result'
      readonly text: string
      readonly structured?: unknown
      readonly isError: boolean
    }
  /** Refused before it was sent: by policy, a limit, or an approval. */
  | { readonly kind: 'denied'; readonly code: string; readonly reason: string }
  /** Pending approval; its ticket gives the outcome, also after a restart. */
  | { readonly kind: 'held'; readonly ticket: string; readonly reason: string }
  /** It was sent and its outcome is unknown. */
  | { readonly kind: 'unknown'; readonly reason: string }
