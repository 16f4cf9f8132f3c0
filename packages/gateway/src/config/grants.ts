// Who may call, as far as sluice.yaml says so: policies by name, and grants that are fixed there by
// the hash of their token. Called by config.ts.

import { createHash } from 'node:crypto'
import type { AcsKey, FixedGrant } from '@sluice/access/identity/callers/grant'
import { FIXED_GRANT, GRANT_NAME, POLICY_NAME } from '@sluice/access/identity/grant-fields'
import { readSecret } from '@sluice/access/identity/oauth/secret-text'
import { object, record, text } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import { type FilledValues, parseTime, type Shape } from '@sluice/policy/document/shape'
import { attempt } from '@sluice/policy/structures/attempt'
import { HMAC_KEY_BYTES_MIN } from './limits.ts'
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
): { policies: Record<string, string>; basePolicy?: string } {
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
  const { [BASE_POLICY]: basePolicy, ...others } = policies
  return { policies: others, ...(basePolicy === undefined ? {} : { basePolicy }) }
}

export function readGrants(
  map: LocatedMap,
  policies: readonly string[],
  values: ConfigValues,
  acsServers: readonly string[],
): FixedGrant[] {
  const common = readSessions(map)
  return asMap(findEntry(map, 'grants')).entries.map(({ key, value }) => {
    const grant = readFields(GRANTS.of.fields, value)
    const { policy, groups = [], explain, prompt, hooks, until } = grant
    const wrong = (message: string, help: string): void =>
      values.problems.error('CONFIG_GRANT', key.at, message, help)
    const name = String(key.value)
    const acs = readAcsKey(grant, asMap(value), { name, acsServers, values, wrong })
    if (!policies.includes(policy))
      values.problems.error(
        'CONFIG_GRANT',
        findEntry(asMap(value), 'policy')?.at ?? key.at,
        `no policy is called \`${policy}\``,
        nameOne(policies),
      )
    const { max: slots, windowMs } = readSessionLimit(grant, common)
    return {
      name,
      hash: readHash(grant, { name, isAcs: acs !== undefined, wrong }),
      policy,
      slots,
      windowMs,
      groups,
      explain,
      canSayPrompt: prompt,
      ...(hooks === undefined ? {} : { hooks }),
      ...(acs === undefined ? {} : { acs }),
      ...(until === undefined ? {} : { untilMs: parseTime(until) ?? 0 }),
    }
  })
}

type ReadGrant = FilledValues<typeof GRANTS.of.fields>
type SayWrong = (message: string, help: string) => void

/** No token has the hash of a grant for ACS: the id of the grant comes from its name alone. */
function readHash(
  { hash, acs }: ReadGrant,
  {
    name,
    isAcs,
    wrong,
  }: { readonly name: string; readonly isAcs: boolean; readonly wrong: SayWrong },
): Buffer {
  if (isAcs) return createHash('sha256').update(`acs ${name}`).digest()
  if (hash === undefined && acs === undefined)
    wrong('the grant has no `hash`', '`sluice grants add NAME --fixed` prints one')
  return Buffer.from((hash ?? '').slice('sha256:'.length), 'hex')
}

function readAcsKey(
  { acs: server, hash, hmac_key: key, hooks }: ReadGrant,
  map: LocatedMap,
  {
    name,
    acsServers,
    values,
    wrong,
  }: {
    readonly name: string
    readonly acsServers: readonly string[]
    readonly values: ConfigValues
    readonly wrong: SayWrong
  },
): AcsKey | undefined {
  const secret = values.findSecret(map, 'hmac_key')
  if (server === undefined) {
    if (key !== undefined) wrong('`hmac_key` does nothing without `acs`', 'take it away')
    return undefined
  }
  if (secret === undefined) {
    wrong('a grant with `acs` has no `hmac_key`', `\`sluice grants add ${name} --acs\` makes one`)
    return undefined
  }
  if (hash !== undefined || hooks !== undefined)
    wrong('a grant with `acs` opens `/acs` alone', 'take `hash` and `hooks` away')
  if (!acsServers.includes(server))
    wrong(
      `no server \`${server}\` has \`builtin: acs\``,
      `add \`${server}: { builtin: acs }\` to \`servers\``,
    )
  // One that cannot be read now has been warned about.
  const bytes = attempt(() => Buffer.byteLength(readSecret(secret).trimEnd()))
  if (bytes !== undefined && bytes < HMAC_KEY_BYTES_MIN)
    wrong(
      `its \`hmac_key\` has ${bytes} bytes, at least ${HMAC_KEY_BYTES_MIN} are needed`,
      'make one with `openssl rand -hex 32`',
    )
  return { server, secret }
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
