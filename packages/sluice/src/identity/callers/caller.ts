// Somebody who has been let in: who it is, what binds it, and whether that still holds. Made by the
// door (door.ts); the gate opens sessions for callers and ends those whose caller no longer holds.

import type { Principal } from '@sluice/policy/core/call'
import type { SessionLimit } from '../sessions/agent-sessions.ts'

export interface Caller {
  readonly principal: Principal
  /** The name of the document that judges its calls; `policy` is that of the local user. */
  readonly policy: string
  /** How many sessions it may have, see AgentSessions. */
  readonly sessions: SessionLimit
  /** Its denials name the rule and what is left. */
  readonly explain: boolean
  /** False once its grant is revoked, its token has expired, or a grant has ended the local user's
   * time. */
  readonly holds: () => boolean
}

/** Claims that are another in every token of the same person. */
const OF_ONE_TOKEN: ReadonlySet<string> = new Set([
  'exp',
  'iat',
  'nbf',
  'jti',
  'auth_time',
  'nonce',
])

/** Equal for callers whose calls are judged alike. One principal may come with tokens of different
 * groups at the same time: what one of them may is not to be lent to the other. */
export function getCallerKey({ principal, policy, explain }: Caller): string {
  const { id, kind, groups, claims } = principal
  const lasting = Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.has(name))
  return JSON.stringify([id, kind, groups, lasting, policy, explain])
}

/** Why somebody is not let in. */
export class AuthenticationError extends Error {
  readonly help: string
  /** As RFC 6750 says it; undefined where no token was sent. */
  readonly error: 'invalid_token' | 'insufficient_scope' | undefined
  /** Nobody can be let in now: the fault is the gate's. */
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
