// How the gate proves at a token endpoint that it is the client: nothing, a shared secret (RFC 6749), or a
// JWT signed with its private key (RFC 7523). Secrets and keys are read at each request, so that a rotated
// one is used at once; no key is ever stored.

import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto'
import type { JsonObject } from '@sluice/policy/values/json'
import { CLIENT_ASSERTION_S } from '../limits.ts'
import { endpointIn, textsIn } from './discover-issuer.ts'
import { readSecret, type Secret } from './secret-text.ts'

export type ClientAuth = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt'

/** A client of an authorisation server, as the configuration names it. */
export interface ClientConfig {
  readonly clientId: string
  readonly clientSecret?: Secret | undefined
  /** PEM or JWK. */
  readonly privateKey?: Secret | undefined
  readonly keyId?: string | undefined
}

/** Who gets the secret of a client. */
export interface IssuerClient {
  readonly issuer?: string | undefined
  readonly client?: ClientConfig | undefined
}

/** A client, and the endpoint that it shows its secret to: the only one that the issuer's own metadata names. */
export interface OAuthClient extends ClientConfig {
  readonly clientAuth: ClientAuth
  readonly issuer: string
  readonly tokenEndpoint: string
}

/** A client with the metadata of the issuer that it was read from. */
export interface LocatedClient extends OAuthClient {
  readonly metadata: JsonObject
}

/** Throws if the issuer names no token endpoint. */
export function clientAt(metadata: JsonObject, config: ClientConfig): LocatedClient {
  const methods = textsIn(metadata, 'token_endpoint_auth_methods_supported')
  return {
    ...config,
    clientAuth: pickAuthMethod(config, methods),
    issuer: String(metadata.issuer),
    tokenEndpoint: endpointIn(metadata, 'token_endpoint'),
    metadata,
  }
}

/** What the server supports decides how a secret is sent. */
export function pickAuthMethod(
  { clientSecret, privateKey }: Partial<ClientConfig>,
  methods: readonly string[],
): ClientAuth {
  if (privateKey !== undefined) return 'private_key_jwt'
  if (clientSecret === undefined) return 'none'
  const isPost = !methods.includes('client_secret_basic') && methods.length > 0
  return isPost ? 'client_secret_post' : 'client_secret_basic'
}

/** Adds the proof to a request; returns its headers. */
export async function authenticateClient(
  client: OAuthClient,
  body: URLSearchParams,
  nowMs: number,
): Promise<Record<string, string>> {
  const { clientId, clientAuth } = client
  if (clientAuth === 'client_secret_basic') {
    const pair = [clientId, readSecret(client.clientSecret ?? '')].map(encodeURIComponent).join(':')
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
  }
  body.set('client_id', clientId)
  if (clientAuth === 'client_secret_post')
    body.set('client_secret', readSecret(client.clientSecret ?? ''))
  if (clientAuth === 'private_key_jwt') {
    body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    body.set('client_assertion', await signAssertion(client, nowMs))
  }
  return {}
}

/** Signs an assertion for this issuer only, for a minute, with an id that is never used again. */
async function signAssertion(client: OAuthClient, nowMs: number): Promise<string> {
  const { clientId, issuer, privateKey, keyId } = client
  if (privateKey === undefined) throw new Error(`the client \`${clientId}\` has no \`private_key\``)
  const key = parsePrivateKey(readSecret(privateKey), clientId)
  const { SignJWT } = await import('jose')
  const now = Math.floor(nowMs / 1_000)
  return new SignJWT()
    .setProtectedHeader({ alg: algorithmOf(key), ...(keyId && { kid: keyId }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + CLIENT_ASSERTION_S)
    .sign(key)
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
  rsa: 'RS256',
  ed25519: 'EdDSA',
}

function algorithmOf(key: KeyObject): string {
  const name = key.asymmetricKeyDetails?.namedCurve ?? key.asymmetricKeyType ?? ''
  const algorithm = ALGORITHMS[name]
  if (algorithm === undefined) throw new Error(`no algorithm signs with a key of type \`${name}\``)
  return algorithm
}

/** The message of the parser is left out: it may quote the key. */
function parsePrivateKey(text: string, clientId: string): KeyObject {
  try {
    return text.trimStart().startsWith('{')
      ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
      : createPrivateKey(text)
  } catch {
    throw new Error(`the \`private_key\` of the client \`${clientId}\` is not a PEM or JWK`)
  }
}
