// `auth:` of a server: that it wants a login, whose, and with which client. Called by config.ts.
// Tokens go over TLS or stay on this machine, and never beside another Authorization header.

import { asMap } from '@sluice/policy/document/check-shape'
import { scalar } from '@sluice/policy/document/fields'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import type { Shape } from '@sluice/policy/document/shape'
import { isSafeUrl } from '../../identity/oauth/safe-url.ts'
import type { ConfigValues } from './values.ts'

export interface LoginConfig {
  /** One login for the gate, or one for each principal. */
  readonly per: 'gate' | 'principal'
  readonly clientId?: string
  readonly clientSecret?: string
  readonly scopes: readonly string[]
  readonly issuer?: string
}

const text = (max: number): Shape => ({ kind: 'text', max })

export const LOGIN: Shape = {
  kind: 'either',
  of: [
    { kind: 'word', words: ['login'] },
    {
      kind: 'object',
      noun: 'a login',
      fields: {
        login: {
          shape: { kind: 'word', words: ['gate', 'principal'] },
          doc: 'one login for all callers (`gate`), or one for each (`principal`)',
          required: true,
        },
        client_id: {
          shape: text(2_048),
          doc: 'a client that is registered already',
          unset: 'the gate registers one',
          example: 'sluice',
        },
        client_secret: {
          shape: text(2_048),
          doc: 'its secret, if it has one; needs `issuer`',
          example: `$\{CLIENT_SECRET}`,
        },
        scopes: {
          shape: { kind: 'list', of: text(256), max: 64 },
          doc: 'scopes to request',
          unset: 'as the server says',
          example: ['read'],
        },
        issuer: {
          shape: text(2_048),
          doc: 'which authorisation server, if the server names several or there is a `client_secret`',
          example: 'https://login.example.com',
        },
      },
    },
  ],
}

export function readLogin(server: LocatedMap, values: ConfigValues): { login?: LoginConfig } {
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
  if (node.kind === 'scalar') return { login: { per: 'gate', scopes: [] } }
  const map = asMap(node)
  const readString = (name: string) => {
    const node = findEntry(map, name)
    return node === undefined ? undefined : values.text(node)
  }
  const [clientId, clientSecret, issuer] = ['client_id', 'client_secret', 'issuer'].map(readString)
  if (clientSecret !== undefined && clientId === undefined)
    wrong(node, 'a `client_secret` is of no use without its `client_id`', 'name both')
  // Otherwise the server says which authorisation server there is, and so who gets the secret (mix-up).
  if (clientSecret !== undefined && issuer === undefined)
    wrong(
      node,
      'a `client_secret` needs the `issuer` it is for',
      'say `issuer: https://…`, the authorisation server that gave it out',
    )
  return {
    login: {
      per: scalar(map, 'login') === 'principal' ? 'principal' : 'gate',
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
      scopes: values.list(findEntry(map, 'scopes')),
    },
  }
}
