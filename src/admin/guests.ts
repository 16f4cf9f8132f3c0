// Who signs in with a token of an authorisation server: its claims become roles, by the groups that
// sluice.yaml names for each role; no match, no entry. The token must be made for `<base>/api` and
// nothing else: one that an agent calls with is for `<base>/mcp`, and must not let it in here.

import { type Person, ROLES } from '../core/person.ts'
import { NotLetIn } from '../identity/caller.ts'
import type { Issuer } from '../identity/issuer.ts'
import type { Tokens } from '../identity/tokens.ts'
import { ApiError } from './errors.ts'

export interface Guest {
  readonly person: Person
  readonly untilMs: number
}

/** Throws ApiError. `base` is where the page was opened. */
export async function guestOf(
  issuers: readonly Issuer[],
  tokens: Pick<Tokens, 'check'>,
  jwt: string,
  base: string,
): Promise<Guest> {
  const caller = await tokens.check(jwt, [`${base}/api`], { isStrict: true }).catch(refuse)
  const { id, groups, claims } = caller.principal
  const issuer = issuers.find(({ name }) => id.startsWith(`${name}:`))
  const roles = ROLES.filter((role) => issuer?.roles[role]?.some((group) => groups.includes(group)))
  if (roles.length === 0)
    throw new ApiError(
      'API_ROLE',
      `\`${id}\` has no role here`,
      'sluice.yaml names groups for roles under `auth.issuers`',
    )
  // Whoever signs in here also calls under this id, with agents or without.
  const person: Person = { name: id, kind: 'person', roles, groups, owns: [id], proof: 'oauth' }
  return { person, untilMs: Number(claims.exp ?? 0) * 1_000 }
}

function refuse(error: Error): never {
  if (!(error instanceof NotLetIn)) throw error
  throw new ApiError('API_SIGN_IN', error.message, error.help)
}
