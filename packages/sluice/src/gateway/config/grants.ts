// Who may call, as far as sluice.yaml says so: policies by name, and grants that are fixed there by
// the hash of their token. Called by config.ts.

import { asMap } from '@sluice/policy/document/check-shape'
import { scalar } from '@sluice/policy/document/fields'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { type FixedGrant, GRANT_END_HELP, readGrantEnd } from '../../identity/callers/grant.ts'
import { GRANT_GROUPS_MAX } from '../../identity/limits.ts'
import { GRANT_NAME, GRANT_NAME_HELP, GROUP_NAME, GROUP_NAME_HELP } from '../../identity/names.ts'
import { readSessionLimit, readSessions, SESSION_LIMIT, SLOTS } from './sessions.ts'
import type { ConfigValues } from './values.ts'

/** The document of `policy:`, where a grant is to have the same as the local user. */
export const LOCAL_POLICY = 'policy'
export const BASE_POLICY = 'house'

export const POLICIES: Shape = {
  kind: 'record',
  keys: {
    kind: 'form',
    noun: 'name of a policy',
    form: /^[a-z0-9][a-z0-9-]{0,63}$/,
    help: 'small letters, digits and `-`, at most 64',
  },
  of: { kind: 'text', max: 4_096 },
}

export const GRANTS: Shape = {
  kind: 'record',
  keys: { kind: 'form', noun: 'name of a grant', form: GRANT_NAME, help: GRANT_NAME_HELP },
  of: {
    kind: 'object',
    noun: 'a grant',
    fields: {
      hash: {
        shape: { kind: 'text', max: 80, example: 'sha256:…' },
        doc: 'of its token, as `sluice grants add NAME --fixed` prints it',
        required: true,
        example: `sha256:${'0'.repeat(64)}`,
      },
      policy: {
        shape: { kind: 'text', max: 64 },
        doc: 'the name of a document under `policies`, or `policy`',
        required: true,
        example: 'readonly',
      },
      sessions: {
        shape: SESSION_LIMIT,
        doc: 'how many sessions it may have',
        unset: 'as `sessions` of the configuration',
        example: { max: 5 },
      },
      slots: { shape: SLOTS, doc: 'an older name of `sessions.max`', example: 5 },
      groups: {
        shape: { kind: 'list', of: { kind: 'text', max: 64 }, max: GRANT_GROUPS_MAX },
        doc: 'what rules see as `principal.groups`',
        example: ['ops'],
      },
      explain: {
        shape: { kind: 'boolean' },
        doc: 'a denial names the rule and what is left of a limit',
        default: false,
      },
      prompt: {
        shape: { kind: 'boolean' },
        doc: 'what its client says in `_meta` under `sluice/prompt` counts as asked for by the user',
        default: false,
      },
      until: {
        shape: { kind: 'text', max: 40, example: '2027-01-31T18:00:00Z' },
        doc: 'when it ends: a time with a time zone, or a day (from 00:00 UTC on)',
        unset: 'when it is taken away here',
        example: '2027-01-31T18:00:00Z',
      },
    },
  },
}

/** By name, without the base policy; its path beside them. */
export function readPolicies(
  map: LocatedMap,
  values: ConfigValues,
): { policies: Record<string, string>; house?: string } {
  const policies: Record<string, string> = {}
  for (const { key, value } of asMap(findEntry(map, 'policies')).entries) {
    if (key.value === LOCAL_POLICY)
      values.problems.error(
        'CONFIG_POLICY',
        key.at,
        `\`${LOCAL_POLICY}\` is the name of the document of \`policy:\``,
        'give this one another name',
      )
    policies[String(key.value)] = values.path(value) as string
  }
  const { [BASE_POLICY]: house, ...others } = policies
  return { policies: others, ...(house === undefined ? {} : { house }) }
}

export function readGrants(
  map: LocatedMap,
  policies: readonly string[],
  values: ConfigValues,
): FixedGrant[] {
  const common = readSessions(map)
  return asMap(findEntry(map, 'grants')).entries.map(({ key, value }) => {
    const grant = asMap(value)
    const hash = values.text(findEntry(grant, 'hash') ?? key)
    const digest = /^sha256:([0-9a-f]{64})$/.exec(hash)?.[1]
    const wrong = (field: string, message: string, help: string): void =>
      values.problems.error('CONFIG_GRANT', findEntry(grant, field)?.at ?? key.at, message, help)
    if (digest === undefined)
      wrong('hash', 'this is not `sha256:` and 64 hex digits', 'sluice grants add NAME --fixed')
    const policy = String(scalar(grant, 'policy'))
    if (!policies.includes(policy))
      wrong('policy', `no policy is called \`${policy}\``, nameOne(policies))
    const limit = readSessionLimit(grant, common)
    const groups = values.list(findEntry(grant, 'groups'))
    const odd = groups.find((group) => !GROUP_NAME.test(group))
    if (odd !== undefined) wrong('groups', `\`${odd}\` is not a valid group name`, GROUP_NAME_HELP)
    const until = scalar(grant, 'until')
    const untilMs = until === undefined ? undefined : readGrantEnd(String(until))
    if (until !== undefined && untilMs === undefined)
      wrong('until', `\`${String(until)}\` is not a time`, GRANT_END_HELP)
    return {
      name: String(key.value),
      hash: Buffer.from(digest ?? '', 'hex'),
      policy,
      slots: limit.max,
      windowMs: limit.windowMs,
      groups,
      explain: scalar(grant, 'explain') === true,
      canSayPrompt: scalar(grant, 'prompt') === true,
      ...(until === undefined ? {} : { untilMs: untilMs ?? 0 }),
    }
  })
}

export function nameOne(policies: readonly string[]): string {
  if (policies.length === 0) return 'put it under `policies:` of the configuration'
  return `one of ${policies.map((name) => `\`${name}\``).join(', ')}, or put it under \`policies:\``
}

/** What a grant may name. */
export function policyNames(config: {
  readonly policy?: string
  readonly policies: Readonly<Record<string, string>>
}): string[] {
  return [...(config.policy === undefined ? [] : [LOCAL_POLICY]), ...Object.keys(config.policies)]
}
