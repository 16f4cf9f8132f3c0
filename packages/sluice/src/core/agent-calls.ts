// Calls of agents to servers behind the gate, in the words of both sides: the agents make them, the
// gate judges and carries them. Neither room knows the other.

import type { AgentFacts } from '@sluice/policy/core/call'

export interface AgentTool {
  readonly server: string
  readonly name: string
  readonly description: string
  readonly inputSchema: unknown
  /** A call without a result may be made again only where this says `Read`. */
  readonly category: string
}

export interface AgentCall {
  readonly owner: string
  readonly agent: AgentFacts
  /** One session for an agent's family, its whole life. */
  readonly family: string
  /** What the family has seen, as the agents keep it: the call is judged with these labels too. */
  readonly labels?: readonly string[]
  readonly server: string
  readonly tool: string
  readonly args: unknown
  /** Goes upstream in `_meta`, the same when a Read is made again. */
  readonly effectId: string
}

/** Labels of a session: what it has seen, and a way to add to it. */
export interface SessionLabels {
  saw(): readonly string[]
  see(labels: readonly string[]): void
}

/** `saw` is everything that the family has seen, after the call. */
export type AgentOutcome = { readonly saw?: readonly string[] } & AgentOutcomeKind

type AgentOutcomeKind =
  /** The server answered; `isError` is the server's own. */
  | {
      readonly kind: 'result'
      readonly text: string
      readonly structured?: unknown
      readonly isError: boolean
    }
  /** Refused before it left: by policy, a limit, or an approval. */
  | { readonly kind: 'denied'; readonly code: string; readonly reason: string }
  /** Waits for a person; its ticket gives the outcome, also after a restart. */
  | { readonly kind: 'held'; readonly ticket: string; readonly reason: string }
  /** It left and nobody knows what became of it. */
  | { readonly kind: 'unknown'; readonly reason: string }
