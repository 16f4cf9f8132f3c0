// An authorisation server whose access tokens the gate takes, as the configuration has it. Apart from
// what checks tokens (tokens.ts), which commands that only read the configuration need not load.

import type { Role } from '../../core/person.ts'
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

/** As sluice.yaml has it under `auth.issuers`. */
export interface Issuer {
  /** What its principals' ids begin with. */
  readonly name: string
  readonly issuer: string
  readonly policy: string
  /** Where its keys are, where it does not say so itself. */
  readonly jwks?: string
  /** What a token may be for beside the gate's own addresses. */
  readonly audience?: string
  /** A token must have all of them. */
  readonly scopes: readonly string[]
  /** The claim that has the groups. */
  readonly groups: string
  readonly algorithms: readonly string[]
  readonly sessions: SessionLimit
  readonly explain: boolean
  /** Groups whose members may sign in to decide, by role. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>
  /** Subjects who may sign in as admin, whatever their groups. */
  readonly admins?: readonly string[]
  /** Where people sign in on the console's page. */
  readonly console?: ConsoleClient
}

/** What the gate is to the authorisation server while somebody signs in to the console. */
export interface ConsoleClient {
  readonly clientId: string
  readonly clientSecret?: string
  /** Asked for beside `openid`. */
  readonly scopes: readonly string[]
}
