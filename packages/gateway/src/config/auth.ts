// How the gate is reached from elsewhere and who signs tokens for it, as sluice.yaml says: `listen`,
// `tls`, `public_url`, `auth`. Beyond loopback only with TLS, its own or a proxy's. Called by config.ts.

import { ALGORITHMS, givesRoles, type Issuer } from '@sluice/access/identity/callers/issuer'
import { SLOTS } from '@sluice/access/identity/grant-fields'
import type { ClientConfig } from '@sluice/access/identity/oauth/client-authentication'
import { isLoopbackName, isSafeUrl } from '@sluice/access/identity/oauth/safe-url'
import { ROLES } from '@sluice/access/identity/person'
import {
  BOOLEAN,
  form,
  list,
  object,
  record,
  required,
  someOf,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import type { FilledValues, Shape } from '@sluice/policy/document/shape'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { nameOne } from './grants.ts'
import { CLIENT_FIELDS, readClient } from './login.ts'
import { readSessionLimit, readSessions, SESSION_LIMIT } from './sessions.ts'
import { type ConfigValues, readFields, safeUrlShape } from './values.ts'

export interface ListenConfig {
  readonly host: string
  readonly port: number
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Where clients reach it, without a slash at the end. */
  readonly publicUrl?: string
}

const names = list(text(256), 64)
const url = safeUrlShape('CONFIG_ISSUER')

export const TLS: Shape = object('TLS settings', {
  cert: required(text(4_096), 'file of the certificate with its chain', './gate.pem'),
  key: required(text(4_096), 'file of its private key', './gate.key'),
})

const ROLE_GROUPS = Object.fromEntries(
  ROLES.map((role) => [
    role,
    {
      shape: names,
      doc: `groups whose members sign in to the console as ${role}`,
      example: ['ops'],
    },
  ]),
)

const ISSUER = object('an issuer', {
  issuer: required(url, 'as its tokens name it in `iss`', 'https://login.example.com'),
  policy: required(
    text(64),
    'the policy for callers with its tokens: a name of `policies`, or `policy`',
    'readonly',
  ),
  jwks: {
    shape: url,
    doc: 'where its keys are',
    unset: 'as its metadata says',
    example: 'https://login.example.com/jwks',
  },
  audience: {
    shape: text(2_048),
    doc: "audience of a token that is accepted beside the gate's own addresses",
    example: 'sluice',
  },
  scopes: { shape: names, doc: 'a token must have all of them', example: ['tools'] },
  groups: { shape: text(256), doc: 'the claim that becomes `principal.groups`', default: 'groups' },
  subject: {
    shape: text(256),
    doc: 'the claim that names the person: `oid` for Microsoft Entra, whose `sub` differs for each application',
    default: 'sub',
  },
  client: {
    shape: object('a client', {
      ...CLIENT_FIELDS,
      client_id: { ...CLIENT_FIELDS.client_id, required: true },
    }),
    doc: 'the gate as a client there: for servers with `login: exchange` or `login: id-jag`',
  },
  algorithms: {
    shape: someOf(word(ALGORITHMS), 16),
    doc: 'signature algorithms that are accepted',
    unset: 'all that are asymmetric',
    example: ['ES256'],
  },
  sessions: {
    shape: SESSION_LIMIT,
    doc: 'how many sessions each caller may have',
    unset: 'as `sessions` of the configuration',
    example: { max: 5 },
  },
  slots: { shape: SLOTS, doc: 'an older name of `sessions.max`', example: 5 },
  explain: {
    shape: BOOLEAN,
    doc: 'a denial names the rule and what is left of a limit',
    default: false,
  },
  roles: {
    shape: object('roles', ROLE_GROUPS),
    doc: 'who may sign in to the console, by the groups of their token',
    unset: 'only `admins`',
  },
  admins: {
    shape: names,
    doc: 'subjects (`sub`) who sign in to the console as admin, whatever their groups: the first administrator if there is no terminal',
    example: ['ann'],
  },
  console: {
    shape: object('a client of the console', {
      ...CLIENT_FIELDS,
      client_id: required(
        text(2_048),
        'as the authorisation server knows the console',
        'sluice-console',
      ),
      scopes: { shape: names, doc: 'scopes to request beside `openid`', example: ['profile'] },
    }),
    doc: 'OIDC client of the console; its redirect address is `<base>/sign-in/<name>`',
  },
})

export const OAUTH: Shape = object('settings of the gate as a client', {
  client_id: {
    shape: form(
      'https address with a path',
      /^https:\/\/[^/?#]+\/[^?#]{1,2048}$/,
      'write `https://gate.example.com/oauth/client.json`',
      { code: 'CONFIG_ISSUER' },
    ),
    doc: 'address of its client ID metadata document, used by `sluice login` where the server takes one; below `public_url` the gate serves it',
    unset: 'the gate registers itself',
    example: 'https://gate.example.com/oauth/client.json',
  },
})

export const AUTH: Shape = object('authentication settings', {
  issuers: required(
    record(
      form(
        'name of an issuer',
        /^[a-z0-9][a-z0-9-]{0,31}$/,
        'small letters, digits and `-`, at most 32',
      ),
      ISSUER,
    ),
    'authorisation servers whose access tokens are accepted; principals are `name:subject`',
  ),
})

export function readListenConfig(map: LocatedMap, values: ConfigValues): ListenConfig {
  const tls = asMap(findEntry(map, 'tls'))
  const [cert, key] = [values.path(findEntry(tls, 'cert')), values.path(findEntry(tls, 'key'))]
  const publicUrl = readPublicUrl(findEntry(map, 'public_url'), values)
  const isSecure = cert !== undefined || publicUrl !== undefined
  return {
    ...readListen(findEntry(map, 'listen'), isSecure, values),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
  }
}

function readListen(node: LocatedNode | undefined, isSecure: boolean, values: ConfigValues) {
  if (node === undefined) return { host: '127.0.0.1', port: 7433 }
  const listen = values.text(node)
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/]+):(\d{1,5})$/.exec(listen) ?? []
  if (host === '' || Number(port) > 65_535)
    values.problems.error(
      'CONFIG_LISTEN',
      node.at,
      `\`${listen}\` is not an address with a port up to 65535`,
      'write `127.0.0.1:7433`',
    )
  else if (!isLoopbackName(host.toLowerCase()) && !isSecure)
    values.problems.error(
      'CONFIG_LISTEN',
      node.at,
      `\`${listen}\` is beyond loopback, and there is no TLS`,
      'say `tls: { cert, key }`, or `public_url: https://…` behind a proxy that has it',
    )
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

function readPublicUrl(node: LocatedNode | undefined, values: ConfigValues): string | undefined {
  if (node === undefined) return undefined
  const address = values.text(node)
  const url = isSafeUrl(address) ? new URL(address) : undefined
  if (url !== undefined && url.pathname === '/' && url.search === '' && url.hash === '')
    return url.origin
  values.problems.error(
    'CONFIG_PUBLIC_URL',
    node.at,
    `\`${address}\` is not an https address without a path`,
    'write `https://gate.example.com`, where clients reach the gate; `http://` is for 127.0.0.1, [::1] and localhost only',
  )
  return undefined
}

export function readIssuers(
  map: LocatedMap,
  policies: readonly string[],
  values: ConfigValues,
): Issuer[] {
  const { problems } = values
  const urls = new Set<string>()
  const common = readSessions(map)
  return asMap(findEntry(asMap(findEntry(map, 'auth')), 'issuers')).entries.map(
    ({ key, value }) => {
      const node = asMap(value)
      const read = readFields(ISSUER.fields, value)
      const { issuer, policy, jwks, audience, groups, subject, explain, scopes = [] } = read
      const client = readClient(asMap(findEntry(node, 'client')), values)
      const wrong = (field: string, message: string, help: string): void =>
        problems.error('CONFIG_ISSUER', findEntry(node, field)?.at ?? key.at, message, help)
      // A certificate may be for several names, or a whole domain. A token for another server of that
      // domain, sent with that server's name as Host, would be a token for this gate (confused deputy).
      if (findEntry(map, 'tls') !== undefined && findEntry(map, 'public_url') === undefined)
        wrong(
          'issuer',
          'with `tls` there is no address to compare the audience of tokens with',
          'say `public_url: https://…`: where clients reach the gate, and what tokens are made for',
        )
      if (urls.has(issuer)) wrong('issuer', `\`${issuer}\` stands here twice`, 'keep one of them')
      urls.add(issuer)
      if (!policies.includes(policy))
        wrong('policy', `no policy is called \`${policy}\``, nameOne(policies))
      return {
        name: String(key.value),
        issuer,
        policy,
        ...pickDefined({ jwks, audience, client }),
        scopes,
        groups,
        subject,
        algorithms: read.algorithms ?? ALGORITHMS,
        sessions: readSessionLimit(read, common),
        explain,
        ...consoleOf(read, readClient(asMap(findEntry(node, 'console')), values), wrong),
      }
    },
  )
}

function consoleOf(
  { roles: groups = {}, admins = [], console, audience }: FilledValues<typeof ISSUER.fields>,
  client: ClientConfig | undefined,
  wrong: (field: string, message: string, help: string) => void,
): Pick<Issuer, 'roles' | 'admins' | 'console'> {
  const named = Object.entries(groups).filter(([, members]) => members?.length)
  const roles: Issuer['roles'] = Object.fromEntries(named)
  if (console === undefined || client === undefined) return { roles, admins }
  const { scopes = [] } = console
  if (!givesRoles({ roles, admins }))
    wrong('console', 'nobody could sign in: there are no `roles`', 'name groups for a role')
  // A token from signing in to the console would be valid for calls, and vice versa.
  if (audience === client.clientId)
    wrong(
      'audience',
      '`audience` is the client of the console, too',
      'have tokens for agents made for another name',
    )
  return { roles, admins, console: { ...client, scopes } }
}
