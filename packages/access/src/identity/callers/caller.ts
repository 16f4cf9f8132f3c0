// An authenticated caller: its identity, its policy, and whether it is still valid. Created by
// authenticator.ts; the gate opens sessions for callers and closes those whose caller is no longer
// valid.

import type { Principal } from '@sluice/policy/calls/call'
import { toWordSet } from '@sluice/policy/structures/word-set'
import type { SessionLimit } from '../sessions/agent-sessions.ts'

export interface Caller {
  readonly principal: Principal
  /** The name of the policy that decides on its calls; `policy` is that of the local user. */
  readonly policy: string
  /** How many sessions it may have, see AgentSessions. */
  readonly sessions: SessionLimit
  /** Its denials name the rule and the remaining quota. */
  readonly explain: boolean
  /** What it says that the user asked for counts as said by the user. */
  readonly canSayPrompt?: boolean
  /**
   * False once its grant is revoked, its token has expired, or a grant has replaced the local user.
   */
  readonly holds: () => boolean
  /**
   * The access token that it came with and the name of its issuer, to be exchanged for one of a server. A
   * function, so that no log or record of a caller has it.
   */
  readonly subject?: () => { readonly token: string; readonly issuer: string }
}

/** The caller of tokens that are not a caller's. */
export const NOBODY: Caller = {
  principal: { id: '', kind: 'local', groups: [], claims: {} },
  policy: '',
  sessions: { max: 0, windowMs: 0 },
  explain: false,
  holds: () => true,
}

/** Claims that differ in every token of the same person. */
const OF_ONE_TOKEN = toWordSet('exp iat nbf jti auth_time nonce')

/**
 * Equal for callers whose calls are decided alike. One principal may use tokens of different groups
 * concurrently: permissions of one must not leak to the other.
 */
export function getCallerKey({ principal, policy, explain }: Caller): string {
  const { id, kind, groups, claims } = principal
  const lasting = Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.has(name))
  return JSON.stringify([id, kind, groups, lasting, policy, explain])
}

/** Why authentication failed. */
export class AuthenticationError extends Error {
  readonly help: string
  /** The error code of RFC 6750; undefined if no token was sent. */
  readonly error: 'invalid_token' | 'insufficient_scope' | undefined
  /** Authentication is not possible at the moment: the fault is the gate's. */
  readonly isFault: boolean

  constructor(
    message: string,
    help: string,
    { error, isFault }: { error?: AuthenticationError['error']; isFault?: boolean } = {},
  ) {
    super(message)
    this.help = help
    this.error = error
    this.isFault = isFault === true
  }
}
