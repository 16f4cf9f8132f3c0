// An authorisation server whose access tokens the gate accepts, as configured. Separate from
// access-token-verifier.ts, which commands that only read the configuration need not load.

import type { ClientConfig } from '../oauth/client-authentication.ts'
import type { Role } from '../person.ts'
import type { SessionLimit } from '../sessions/agent-sessions.ts'

export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

/** An entry of `auth.issuers` in sluice.yaml. */
export interface Issuer {
  /** Prefix of its principals' ids. */
  readonly name: string
  readonly issuer: string
  readonly policy: string
  /** URL of its keys, if its metadata does not name it. */
  readonly jwks?: string
  /** An accepted audience in addition to the gate's own URLs. */
  readonly audience?: string
  /** A token must have all of them. */
  readonly scopes: readonly string[]
  /** The claim with the groups. */
  readonly groups: string
  /** The claim that names the person; `sub` unless set. */
  readonly subject?: string
  /** The gate as a client there: to exchange tokens of callers, and for identities. */
  readonly client?: ClientConfig
  readonly algorithms: readonly string[]
  readonly sessions: SessionLimit
  readonly explain: boolean
  /** Groups whose members may sign in as approvers, by role. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>
  /** Subjects who may sign in as admin, regardless of their groups. */
  readonly admins?: readonly string[]
  /** Enables sign-in on the console's page. */
  readonly console?: ConsoleClient
}

/** Whether anybody may sign in to the console with it. */
export function givesRoles({ roles, admins = [] }: Pick<Issuer, 'roles' | 'admins'>): boolean {
  return Object.keys(roles).length > 0 || admins.length > 0
}

/** The gate's OAuth client for sign-in to the console. */
export interface ConsoleClient extends ClientConfig {
  /** Requested in addition to `openid`. */
  readonly scopes: readonly string[]
}
