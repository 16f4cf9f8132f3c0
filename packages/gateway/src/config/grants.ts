// Who may call, as far as sluice.yaml says so: policies by name, and grants that are fixed there by
// the hash of their token. Called by config.ts.

import type { FixedGrant } from '@sluice/access/identity/callers/grant'
import { FIXED_GRANT, GRANT_NAME, POLICY_NAME } from '@sluice/access/identity/grant-fields'
import { object, record, text } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import { parseTime, type Shape } from '@sluice/policy/document/shape'
import { readSessionLimit, readSessions, SESSION_LIMIT } from './sessions.ts'
import { type ConfigValues, readFields } from './values.ts'

/** The document of `policy:`, where a grant is to have the same as the local user. */
export const LOCAL_POLICY = 'policy'
export const BASE_POLICY = 'house'

export const POLICIES: Shape = record(POLICY_NAME, text(4_096))

export const GRANTS = record(
  GRANT_NAME,
  object('a grant', {
    ...FIXED_GRANT,
    sessions: {
      shape: SESSION_LIMIT,
      doc: 'how many sessions it may have',
      unset: 'as `sessions` of the configuration',
      example: { max: 5 },
    },
  }),
)

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
    const grant = readFields(GRANTS.of.fields, value)
    const { hash, policy, groups = [], explain, prompt, hooks, until } = grant
    if (!policies.includes(policy))
      values.problems.error(
        'CONFIG_GRANT',
        findEntry(asMap(value), 'policy')?.at ?? key.at,
        `no policy is called \`${policy}\``,
        nameOne(policies),
      )
    const { max: slots, windowMs } = readSessionLimit(grant, common)
    return {
      name: String(key.value),
      hash: Buffer.from(hash.slice('sha256:'.length), 'hex'),
      policy,
      slots,
      windowMs,
      groups,
      explain,
      canSayPrompt: prompt,
      ...(hooks === undefined ? {} : { hooks }),
      ...(until === undefined ? {} : { untilMs: parseTime(until) ?? 0 }),
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
