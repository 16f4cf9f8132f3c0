// `auth:` of a server: which credential it is called with, whose, and who gives it out. Called by config.ts.
// Tokens go over TLS or stay on this machine, and never beside another Authorization header. The issuer that gets
// a secret or a token of the gate is named here, never by the server.

import type {
  ClientConfig,
  IssuerClient,
} from '@sluice/access/identity/oauth/client-authentication'
import { isSafeUrl } from '@sluice/access/identity/oauth/safe-url'
import type { Secret } from '@sluice/access/identity/oauth/secret-text'
import { BOOLEAN, list, object, required, text, word } from '@sluice/policy/document/build-shape'
import { asMap } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { type ConfigValues, readFields, safeUrlShape } from './values.ts'

/**
 * `gate` and `principal`: a person logs in, for all callers or for each. `client`: a machine. `assertion`: a
 * workload with a JWT. `exchange`: the caller's token for one of the server. `id-jag`: the identity of the
 * caller at the company's identity provider.
 */
const KINDS = ['gate', 'principal', 'client', 'assertion', 'exchange', 'id-jag'] as const
export type LoginKind = (typeof KINDS)[number]

export interface LoginConfig extends IssuerClient {
  readonly kind: LoginKind
  readonly scopes: readonly string[]
  /** The name of an issuer that has a `client`. */
  readonly via?: string | undefined
  readonly audience?: string | undefined
  /** False: none is sent. */
  readonly resource?: string | false | undefined
  readonly form?: 'rfc8693' | 'on-behalf-of'
  readonly assertion?: Secret | undefined
}

/** A client of an authorisation server. */
export const CLIENT_FIELDS = {
  client_id: { shape: text(2_048), doc: 'a client that is registered there', example: 'sluice' },
  client_secret: {
    shape: text(8_192),
    doc: 'its secret, if it has one; needs `issuer`',
    example: `$\{CLIENT_SECRET}`,
  },
  private_key: {
    shape: text(8_192),
    doc: 'its private key (PEM or JWK), instead of a secret (`private_key_jwt`); needs `issuer`',
    example: `$\{file:./gate-key.pem}`,
  },
  key_id: { shape: text(256), doc: '`kid` of the private key', example: '2026-11' },
} as const

const FIELDS = {
  login: required(
    word(KINDS),
    'one login for all callers (`gate`) or one for each (`principal`); a machine (`client`), a workload with a JWT (`assertion`); the token of the caller for one of the server (`exchange`); the identity of the caller (`id-jag`)',
  ),
  ...CLIENT_FIELDS,
  scopes: {
    shape: list(text(256), 64),
    doc: 'scopes to request',
    unset: 'as the server says',
    example: ['read'],
  },
  issuer: {
    shape: safeUrlShape('CONFIG_SERVER'),
    doc: 'the authorisation server that gets the secret of the client; for `gate` and `principal` also which one, if the server names several',
    example: 'https://login.example.com',
  },
  via: {
    shape: text(64),
    doc: 'for `exchange` and `id-jag`: the name of `auth.issuers` where the gate is a `client`',
    example: 'corp',
  },
  audience: {
    shape: text(2_048),
    doc: 'for `exchange` and `id-jag`: sent as `audience`',
    unset: 'not sent (`exchange`), the `issuer` (`id-jag`)',
    example: 'crm',
  },
  resource: {
    shape: { kind: 'either', of: [safeUrlShape('CONFIG_SERVER'), BOOLEAN] },
    doc: "what tokens are asked for, instead of the server's own address; `false`: no `resource` is sent",
    unset: 'as the server says, if that covers the `url`',
    example: 'https://mcp.example.com',
  },
  form: {
    shape: word(['rfc8693', 'on-behalf-of']),
    doc: 'of an `exchange`: `on-behalf-of` for Microsoft Entra',
    default: 'rfc8693',
  },
  assertion: {
    shape: text(16_384),
    doc: 'for `assertion`: the JWT of the workload',
    example: `$\{file:/var/run/secrets/tokens/sluice}`,
  },
} as const

export const LOGIN: Shape = {
  kind: 'either',
  of: [word(['login']), object('a login', FIELDS)],
}

/** What each kind needs, and why. */
const NEEDS = {
  issuer: ['the `issuer` that gets its secret', 'say `issuer: https://…`'],
  client_id: ['a `client_id`', 'name the client that is registered at the issuer'],
  via: ['a `via`', 'name an issuer of `auth.issuers`'],
  assertion: ['an `assertion`', `say \`assertion: "$\{file:…}"\``],
} as const
const NEEDED: Readonly<Record<LoginKind, readonly (keyof typeof NEEDS)[]>> = {
  gate: [],
  principal: [],
  client: ['issuer', 'client_id'],
  assertion: ['issuer', 'client_id', 'assertion'],
  exchange: ['via'],
  'id-jag': ['via', 'issuer', 'client_id'],
}

/** `auth` is the section of the whole configuration. */
export function readLogin(
  server: LocatedMap,
  values: ConfigValues,
  auth: LocatedMap,
): { login?: LoginConfig } {
  const node = findEntry(server, 'auth')
  if (node === undefined) return {}
  const wrong = ({ at }: Pick<LocatedNode, 'at'>, message: string, help: string): void =>
    values.problems.error('CONFIG_SERVER', at, message, help)
  const url = findEntry(server, 'url')
  if (url !== undefined && !isSafeUrl(values.text(url)))
    wrong(url, 'a token would go over the network unencrypted', 'use https')
  const header = asMap(findEntry(server, 'headers')).entries.find(
    ({ key }) => String(key.value).toLowerCase() === 'authorization',
  )
  if (header !== undefined)
    wrong(header.key, 'a login has an Authorization header of its own', 'take this one away')
  if (node.kind === 'scalar') return { login: { kind: 'gate', scopes: [] } }
  const map = asMap(node)
  const read = readFields(FIELDS, values.filled(map))
  const { login: kind, issuer, via, audience, form, resource, scopes = [] } = read
  for (const key of NEEDED[kind])
    if (read[key] === undefined)
      wrong(map, `a \`login: ${kind}\` needs ${NEEDS[key][0]}`, NEEDS[key][1])
  const issuers = asMap(findEntry(auth, 'issuers'))
  if (via !== undefined && findEntry(asMap(findEntry(issuers, via)), 'client') === undefined)
    wrong(
      findEntry(map, 'via') as LocatedNode,
      `\`via: ${via}\` has no \`client\`, so the gate cannot exchange tokens there`,
      `say \`auth.issuers.${via}.client\``,
    )
  // Otherwise the server says which authorisation server there is, and so who gets the secret (mix-up).
  const key = (['client_secret', 'private_key'] as const).find((one) => read[one] !== undefined)
  if (key !== undefined && issuer === undefined)
    wrong(
      node,
      `a \`${key}\` needs the \`issuer\` it is for`,
      'say `issuer: https://…`, the authorisation server that knows the client',
    )
  const client = readClient(map, values)
  const assertion = values.findSecret(map, 'assertion')
  // `resource: true` says what is so anyway.
  const named = resource === true ? undefined : (resource as string | false | undefined)
  return {
    login: { kind, form, scopes, client, issuer, via, audience, resource: named, assertion },
  }
}

/** Undefined if there is no client. */
export function readClient(map: LocatedMap, values: ConfigValues): ClientConfig | undefined {
  const read = readFields(CLIENT_FIELDS, values.filled(map))
  const { client_id: clientId, client_secret: secret, private_key: key, key_id: keyId } = read
  const wrong = (message: string, help: string): void =>
    values.problems.error('CONFIG_SERVER', map.at, message, help)
  if ((secret ?? key) !== undefined && clientId === undefined)
    wrong(
      `a \`${key === undefined ? 'client_secret' : 'private_key'}\` is of no use without its \`client_id\``,
      'name both',
    )
  if (secret !== undefined && key !== undefined)
    wrong('a client has a `client_secret` or a `private_key`', 'keep one of them')
  if (clientId === undefined) return undefined
  const clientSecret = values.findSecret(map, 'client_secret')
  return { clientId, clientSecret, privateKey: values.findSecret(map, 'private_key'), keyId }
}
