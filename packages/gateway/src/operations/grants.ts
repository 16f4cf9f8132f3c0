// `sluice grants`: who may call. Adding and revoking need the proof of an admin, and are recorded before
// anybody can call with the token.

import { FLAG, fieldsOf, TEXT } from '@sluice/access/identity/answer-shapes'
import { type Grant, getRevocationMs } from '@sluice/access/identity/callers/grant'
import type { Grants } from '@sluice/access/identity/callers/grants'
import { IdentityError } from '@sluice/access/identity/errors'
import {
  GRANT_LIST,
  GRANT_REQUEST,
  GRANT_VIEW,
  type GrantRequest,
  type GrantView,
} from '@sluice/access/identity/grant-fields'
import { toActor } from '@sluice/access/identity/person'
import { BOOLEAN, required, text } from '@sluice/policy/document/build-shape'
import { fillDefaults, parseTime } from '@sluice/policy/document/shape'
import { InputError, OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { nameOne } from '../config/grants.ts'
import { type Operation, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

export const ADD_GRANT = operation({
  name: 'grants.add',
  summary: 'let somebody call: the token is in the answer, this once',
  role: REQUIRED_ROLES.grants,
  proof: 'fresh',
  socket: 'grant-add',
  http: { method: 'POST', path: '/api/grants' },
  changes: true,
  input: GRANT_REQUEST,
  output: fieldsOf({ grant: GRANT_VIEW, token: TEXT, isFirst: FLAG }),
  run: async (parts, input, { by }) => {
    const { grants, record, policies, grantsChanged, nowMs } = parts
    if (grants.refresh()) grantsChanged()
    const refusal = refuseGrant(input, grants, policies, nowMs())
    if (refusal !== undefined) throw refusal
    const isFirst = !grants.exist
    const { until, prompt, ...filled } = fillDefaults(GRANT_REQUEST, input)
    const terms = { ...filled, groups: [...new Set(input.groups)] }
    const detail = { how: 'add', ...terms, prompt, ...pickDefined({ until }) }
    await record('grant', { ...detail, by: toActor(by) })
    const untilMs = until === undefined ? null : (parseTime(until) as number)
    const { grant, token } = withOperationErrors(() =>
      grants.add({ ...terms, canSayPrompt: prompt, untilMs }, nowMs()),
    )
    grantsChanged()
    return { grant: toGrantView(grant, grants), token, isFirst }
  },
})

/** What stands against a request that fits its fields; also asked before a person is asked for a PIN. */
export function refuseGrant(
  { name, policy, until }: GrantRequest,
  grants: Grants,
  policies: readonly string[],
  nowMs: number,
): OperationError | undefined {
  if (!policies.includes(policy))
    return new OperationError(`no policy is called \`${policy}\``, nameOne(policies))
  if (until !== undefined && (parseTime(until) as number) <= nowMs)
    return new InputError(`\`until\` is \`${until}\`, which is over`, 'give a time to come')
  if (grants.hasValid(name, nowMs))
    return new OperationError(
      `\`${name}\` has a grant already`,
      `take another name, or revoke that one first: sluice grants revoke ${name}`,
    )
  return undefined
}

export const REVOKE_GRANT = operation({
  name: 'grants.revoke',
  summary: 'end a grant and its sessions; with `forget` it is off the list, too',
  role: REQUIRED_ROLES.grants,
  proof: 'fresh',
  socket: 'grant-revoke',
  http: { method: 'DELETE', path: '/api/grants/:name' },
  changes: true,
  input: {
    name: required(text(300), 'whose'),
    forget: { shape: BOOLEAN, doc: 'remove it from the list, too' },
  },
  output: fieldsOf({ name: TEXT, revoked: FLAG, forgotten: FLAG, fixed: FLAG, localUser: FLAG }),
  run: async (parts, input, { by }) => {
    const { grants, record, grantsChanged, nowMs } = parts
    if (grants.refresh()) grantsChanged()
    const of = grants.list().filter((one) => one.name === input.name)
    const forget = input.forget === true
    const detail = { how: forget ? 'forget' : 'revoke', name: input.name, by: toActor(by) }
    if (of.length > 0) await record('grant', detail)
    const revoked = grants.revoke(input.name, nowMs()) !== undefined
    const forgotten = forget && grants.forget(input.name) > 0
    if (revoked || forgotten) grantsChanged()
    const fixed = of.some(({ isFixed }) => isFixed)
    return { name: input.name, revoked, forgotten, fixed, localUser: !grants.exist }
  },
})

const LIST = operation({
  name: 'grants.list',
  summary: 'who may call, the revoked ones too',
  role: 'viewer',
  proof: 'none',
  http: { method: 'GET', path: '/api/grants' },
  input: {},
  output: GRANT_LIST,
  run: async ({ grants, policies, lookup }) => {
    const list = grants.list()
    // Uses of grants in sluice.yaml, and those at other gates, are not stored with the grant.
    const calls = await lookup?.lastCalls(list.map(({ name }) => name))
    return {
      grants: list.map((one) => {
        const called = getRevocationMs(one) === null ? calls?.get(one.name) : undefined
        return toGrantView(one, grants, called)
      }),
      policies: [...policies],
      localUser: !grants.exist,
    }
  },
})

export const GRANT_OPERATIONS: readonly Operation[] = [LIST, ADD_GRANT, REVOKE_GRANT]

/** `calledMs`: when it made its last call, if the ledger has one. */
export function toGrantView(grant: Grant, grants: Grants, calledMs = 0): GrantView {
  const { id, policy, slots, explain, isFixed } = grant
  const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
  return {
    name: grant.name,
    id,
    policy,
    slots,
    groups: [...grant.groups],
    explain,
    prompt: grant.canSayPrompt === true,
    fixed: isFixed,
    until: at(grant.untilMs ?? null),
    created: at(grant.createdMs),
    lastUsed: at(Math.max(grants.lastUseMs(grant) ?? 0, calledMs) || null),
    revoked: at(getRevocationMs(grant)),
  }
}

function withOperationErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof IdentityError) throw new OperationError(error.message, error.help)
    throw error
  }
}
