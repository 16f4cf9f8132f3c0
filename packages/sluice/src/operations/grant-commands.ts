// `sluice grants add` and `revoke`, as the owner of the data directory does them: after the proof, on
// record before anybody can call with it.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { Person } from '../core/person.ts'
import { toActor } from '../core/person.ts'
import { nameOne } from '../gateway/config/grants.ts'
import type { Grant } from '../identity/callers/grant.ts'
import type { GrantRequest, Grants } from '../identity/callers/grants.ts'
import { IdentityError } from '../identity/errors.ts'
import {
  AGENT_SESSIONS_MAX,
  AGENT_SESSIONS_SETTING_MAX,
  GRANT_GROUPS_MAX,
} from '../identity/limits.ts'
import { GRANT_NAME, GRANT_NAME_HELP, GROUP_NAME, GROUP_NAME_HELP } from '../identity/names.ts'
import type { Ledger } from '../ledger/ledger.ts'

export interface GrantParts {
  readonly grants: Grants
  readonly ledger: Pick<Ledger, 'event'>
  /** The names of the documents that a grant may name. */
  readonly policies: readonly string[]
  /** Sessions of those who may no longer call are to be ended. */
  readonly changed: () => void
  readonly nowMs: () => number
}

export async function addGrant(
  { grants, ledger, policies, changed, nowMs }: GrantParts,
  request: JsonObject,
  by: Person,
): Promise<JsonObject> {
  const wish = readWish(request)
  if (grants.refresh()) changed()
  if (!policies.includes(wish.policy))
    throw new OperationError(`no policy is called \`${wish.policy}\``, nameOne(policies))
  if (grants.list().some(({ name, revokedMs }) => name === wish.name && revokedMs === null))
    throw new OperationError(
      `\`${wish.name}\` has a grant already`,
      `take another name, or revoke that one first: sluice grants revoke ${wish.name}`,
    )
  const isFirst = !grants.exist
  const detail = { how: 'add', ...wish, groups: [...wish.groups], by: toActor(by) }
  await ledger.event({ atMs: nowMs(), name: 'grant', detail })
  const { grant, token } = withOperationErrors(() => grants.add(wish, nowMs()))
  changed()
  return { grant: grantTold(grant), token, isFirst }
}

export async function revokeGrant(
  { grants, ledger, changed, nowMs }: GrantParts,
  { name, forget }: JsonObject,
  by: Person,
): Promise<JsonObject> {
  if (typeof name !== 'string') throw new OperationError('no grant is named', 'say whose')
  if (grants.refresh()) changed()
  const of = grants.list().filter((one) => one.name === name)
  const fixed = of.some(({ isFixed }) => isFixed)
  const detail = { how: forget === true ? 'forget' : 'revoke', name, by: toActor(by) }
  if (of.length > 0) await ledger.event({ atMs: nowMs(), name: 'grant', detail })
  const revoked = grants.revoke(name, nowMs()) !== undefined
  const forgotten = forget === true && grants.forget(name) > 0
  if (revoked || forgotten) changed()
  return { name, revoked, forgotten, fixed, localUser: !grants.exist }
}

/** Never its token, never its hash. */
export function grantTold(grant: Grant): JsonObject {
  const { id, name, policy, slots, groups, explain, isFixed } = grant
  const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
  return {
    ...{ name, id, policy, slots, groups: [...groups], explain, fixed: isFixed },
    created: at(grant.createdMs),
    lastUsed: at(grant.lastUsedMs),
    revoked: at(grant.revokedMs),
  }
}

function readWish(request: JsonObject): GrantRequest {
  const { name, policy, slots = AGENT_SESSIONS_MAX, groups = [], explain = false } = request
  if (typeof name !== 'string' || !GRANT_NAME.test(name))
    throw new OperationError(`\`${shown(name)}\` is no name of a grant`, GRANT_NAME_HELP)
  if (typeof policy !== 'string') throw new OperationError('no policy is named', 'say --policy')
  const isCount = typeof slots === 'number' && Number.isInteger(slots)
  if (!isCount || slots < 1 || slots > AGENT_SESSIONS_SETTING_MAX)
    throw new OperationError(`\`${shown(slots)}\` slots`, `from 1 to ${AGENT_SESSIONS_SETTING_MAX}`)
  if (!Array.isArray(groups) || isObject(groups) || groups.length > GRANT_GROUPS_MAX)
    throw new OperationError('`groups` is no list', `at most ${GRANT_GROUPS_MAX} names`)
  const odd = groups.find((group) => typeof group !== 'string' || !GROUP_NAME.test(group))
  if (odd !== undefined) throw new OperationError(`\`${shown(odd)}\` is no group`, GROUP_NAME_HELP)
  return { name, policy, slots, groups: groups as string[], explain: explain === true }
}

function shown(value: JsonValue | undefined): string {
  return String(value).slice(0, 64)
}

function withOperationErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof IdentityError) throw new OperationError(error.message, error.help)
    throw error
  }
}
