// `sluice grants`: who may call. Adding and revoking need the proof of an admin, and are recorded before
// anybody can call with the token.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import { toActor } from '../core/person.ts'
import { nameOne } from '../gateway/config/grants.ts'
import {
  GRANT_END_HELP,
  type Grant,
  getRevocationMs,
  readGrantEnd,
} from '../identity/callers/grant.ts'
import type { Grants } from '../identity/callers/grants.ts'
import { IdentityError } from '../identity/errors.ts'
import {
  AGENT_SESSIONS_MAX,
  AGENT_SESSIONS_SETTING_MAX,
  GRANT_GROUPS_MAX,
} from '../identity/limits.ts'
import { GRANT_NAME, GRANT_NAME_HELP, GROUP_NAME, GROUP_NAME_HELP } from '../identity/names.ts'
import { type Operation, operation } from './operation.ts'
import { COUNT, FLAG, fieldsOf, listOf, orNull, TEXT, TIME } from './output.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const name = { kind: 'text', max: 64 } as const
const groups = { kind: 'list', of: name, max: GRANT_GROUPS_MAX } as const

const VIEW = fieldsOf({
  name: TEXT,
  id: TEXT,
  policy: TEXT,
  slots: COUNT,
  groups: listOf(TEXT),
  explain: FLAG,
  prompt: FLAG,
  fixed: FLAG,
  until: orNull(TIME),
  created: orNull(TIME),
  lastUsed: orNull(TIME),
  revoked: orNull(TIME),
})

export const ADD_GRANT: Operation = operation({
  name: 'grants.add',
  summary: 'let somebody call: the token is in the answer, this once',
  role: REQUIRED_ROLES.grants,
  proof: 'fresh',
  socket: 'grant-add',
  http: { method: 'POST', path: '/api/grants' },
  command: 'grants add',
  input: {
    name: { shape: name, doc: 'who it is for: the principal in rules and records', required: true },
    policy: { shape: name, doc: 'the policy that applies to it', required: true },
    slots: {
      shape: { kind: 'integer', min: 1, max: AGENT_SESSIONS_SETTING_MAX },
      doc: 'how many sessions it may have within `sessions.window`',
      default: AGENT_SESSIONS_MAX,
    },
    groups: { shape: groups, doc: 'what rules see as `principal.groups`' },
    explain: { shape: { kind: 'boolean' }, doc: 'denials name the rule and what is left' },
    prompt: {
      shape: { kind: 'boolean' },
      doc: 'its client may say what the user asked for, in `_meta` under `sluice/prompt`',
    },
    until: {
      shape: { kind: 'text', max: 40, example: '2027-01-31T18:00:00Z' },
      doc: 'when it ends: a time with a time zone, or a day (from 00:00 UTC on)',
      unset: 'when it is revoked',
    },
  },
  output: fieldsOf({ grant: VIEW, token: TEXT, isFirst: FLAG }),
  run: async (parts, input, { by }) => {
    const { grants, ledger, policies, grantsChanged, nowMs } = parts
    const request = {
      slots: AGENT_SESSIONS_MAX,
      groups: [],
      explain: false,
      prompt: false,
      ...input,
    }
    if (!GRANT_NAME.test(request.name))
      throw new OperationError(`\`${request.name}\` is not a valid grant name`, GRANT_NAME_HELP)
    const odd = request.groups.find((group) => !GROUP_NAME.test(group))
    if (odd !== undefined) throw new OperationError(`\`${odd}\` is not a group`, GROUP_NAME_HELP)
    if (grants.refresh()) grantsChanged()
    if (!policies.includes(request.policy))
      throw new OperationError(`no policy is called \`${request.policy}\``, nameOne(policies))
    const untilMs = request.until === undefined ? null : requireEnd(request.until, nowMs())
    if (grants.hasValid(request.name, nowMs()))
      throw new OperationError(
        `\`${request.name}\` has a grant already`,
        `take another name, or revoke that one first: sluice grants revoke ${request.name}`,
      )
    const isFirst = !grants.exist
    const detail = { how: 'add', ...request, groups: [...request.groups], by: toActor(by) }
    await ledger.event({ atMs: nowMs(), name: 'grant', detail })
    const { prompt: canSayPrompt, until: _, ...terms } = request
    const { grant, token } = withOperationErrors(() =>
      grants.add({ ...terms, canSayPrompt, untilMs }, nowMs()),
    )
    grantsChanged()
    return { grant: toGrantView(grant, grants), token, isFirst }
  },
})

export const REVOKE_GRANT: Operation = operation({
  name: 'grants.revoke',
  summary: 'end a grant and its sessions; with `forget` it is off the list, too',
  role: REQUIRED_ROLES.grants,
  proof: 'fresh',
  socket: 'grant-revoke',
  http: { method: 'DELETE', path: '/api/grants/:name' },
  command: 'grants revoke',
  input: {
    name: { shape: { kind: 'text', max: 300 }, doc: 'whose', required: true },
    forget: { shape: { kind: 'boolean' }, doc: 'remove it from the list, too' },
  },
  output: fieldsOf({ name: TEXT, revoked: FLAG, forgotten: FLAG, fixed: FLAG, localUser: FLAG }),
  run: async (parts, input, { by }) => {
    const { grants, ledger, grantsChanged, nowMs } = parts
    if (grants.refresh()) grantsChanged()
    const of = grants.list().filter((one) => one.name === input.name)
    const forget = input.forget === true
    const detail = { how: forget ? 'forget' : 'revoke', name: input.name, by: toActor(by) }
    if (of.length > 0) await ledger.event({ atMs: nowMs(), name: 'grant', detail })
    const revoked = grants.revoke(input.name, nowMs()) !== undefined
    const forgotten = forget && grants.forget(input.name) > 0
    if (revoked || forgotten) grantsChanged()
    const fixed = of.some(({ isFixed }) => isFixed)
    return { name: input.name, revoked, forgotten, fixed, localUser: !grants.exist }
  },
})

const LIST: Operation = operation({
  name: 'grants.list',
  summary: 'who may call, the revoked ones too',
  role: 'viewer',
  proof: 'none',
  http: { method: 'GET', path: '/api/grants' },
  input: {},
  output: fieldsOf({ grants: listOf(VIEW), policies: listOf(TEXT), localUser: FLAG }),
  run: ({ grants, policies }) => ({
    grants: grants.list().map((one) => toGrantView(one, grants)),
    policies: [...policies],
    localUser: !grants.exist,
  }),
})

export const GRANT_OPERATIONS: readonly Operation[] = [LIST, ADD_GRANT, REVOKE_GRANT]

/** Never its token, never its hash. */
export function toGrantView(grant: Grant, grants: Grants): JsonObject {
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
    lastUsed: at(grants.lastUseMs(grant)),
    revoked: at(getRevocationMs(grant)),
  }
}

function requireEnd(text: string, nowMs: number): number {
  const untilMs = readGrantEnd(text)
  if (untilMs === undefined)
    throw new OperationError(`\`until\` is \`${text}\`, which is not a time`, GRANT_END_HELP)
  if (untilMs <= nowMs)
    throw new OperationError(`\`until\` is \`${text}\`, which is over`, 'give a time to come')
  return untilMs
}

function withOperationErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof IdentityError) throw new OperationError(error.message, error.help)
    throw error
  }
}
