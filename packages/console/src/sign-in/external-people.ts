// Who signs in by an authorisation server: their groups there become roles, as sluice.yaml names groups
// for each role; no match, no entry. A token that is brought along must be made for `<base>/api` and
// nothing else: one that an agent calls with is for `<base>/mcp`, and must not let it in here.

import type { AccessTokenVerifier } from '@sluice/access/identity/callers/access-token-verifier'
import { AuthenticationError } from '@sluice/access/identity/callers/caller'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import { type Person, ROLES } from '@sluice/access/identity/person'
import { type JsonValue, listStrings } from '@sluice/policy/values/json'
import { ApiError } from '../http/errors.ts'

export interface ExternalPerson {
  readonly person: Person
  readonly untilMs: number
}

/** How many groups an error lists for a person who has no role. */
const GROUPS_SHOWN_MAX = 10

/** Throws ApiError. `base` is where the page was opened. */
export async function verifyExternalPerson(
  issuers: readonly Issuer[],
  tokens: Pick<AccessTokenVerifier, 'check'>,
  jwt: string,
  base: string,
): Promise<ExternalPerson> {
  const caller = await tokens.check(jwt, [`${base}/api`], { isStrict: true }).catch(refuse)
  const { id, claims } = caller.principal
  // Names of issuers have no colon.
  const issuer = issuers.find(({ name }) => id.startsWith(`${name}:`)) as Issuer
  const person = personOf(issuer, id.slice(issuer.name.length + 1), claims[issuer.groups])
  // A bearer token may be sent by any program that has it, also an agent. It does not prove that a person is present.
  return { person: { ...person, proof: 'token' }, untilMs: Number(claims.exp ?? 0) * 1_000 }
}

/** Throws ApiError where the claim gives no role: which one was looked for, and what was in it. */
export function personOf(issuer: Issuer, subject: string, claim: JsonValue | undefined): Person {
  const id = `${issuer.name}:${subject}`
  const groups = listStrings(claim)
  const isAdmin = issuer.admins?.includes(subject) === true
  const roles = ROLES.filter(
    (role) => isAdmin || issuer.roles[role]?.some((group) => groups.includes(group)),
  )
  if (roles.length === 0)
    throw new ApiError(
      'API_ROLE',
      `\`${id}\` has no role here: ${whyNone(issuer.groups, claim, groups)}`,
      `sluice.yaml gives roles to groups under \`auth.issuers.${issuer.name}.roles\`, and \`groups\` there names the claim`,
    )
  // A person who signs in here also calls under this id, with agents or without.
  return { name: id, kind: 'person', roles, groups, owns: [id], proof: 'oauth' }
}

function whyNone(name: string, claim: JsonValue | undefined, groups: readonly string[]): string {
  if (claim === undefined) return `there is no claim \`${name}\``
  if (!Array.isArray(claim)) return `the claim \`${name}\` is not a list`
  if (groups.length === 0) return `the claim \`${name}\` is empty`
  const shown = groups.slice(0, GROUPS_SHOWN_MAX).map((group) => `\`${group.slice(0, 100)}\``)
  const more = groups.length > shown.length ? ` and ${groups.length - shown.length} more` : ''
  return `the claim \`${name}\` has ${shown.join(', ')}${more}, and none of them has a role`
}

/** What was wrong with the token, or with who could have checked it. */
export function refuse(error: Error): never {
  if (!(error instanceof AuthenticationError)) throw error
  throw new ApiError(error.isFault ? 'API_ISSUER' : 'API_SIGN_IN', error.message, error.help)
}
