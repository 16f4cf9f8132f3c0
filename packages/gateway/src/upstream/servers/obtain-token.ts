// Asks for the token of a server without a person: for a machine (client credentials), for a workload (RFC 7523),
// for the caller (token exchange, RFC 8693, or Entra's on-behalf-of) and through an identity provider (ID-JAG).
// Token endpoints are those of configured issuers; of what the server says only a resource is used that covers it.

import type { Caller } from '@sluice/access/identity/callers/caller'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import { checkAudience, checkIdJag } from '@sluice/access/identity/oauth/check-token'
import {
  type ClientConfig,
  clientAt,
  type IssuerClient,
} from '@sluice/access/identity/oauth/client-authentication'
import { discoverResource } from '@sluice/access/identity/oauth/discover-login'
import type { IssuerMetadata } from '@sluice/access/identity/oauth/issuer-metadata'
import type { Login } from '@sluice/access/identity/oauth/login'
import { OutgoingHttp } from '@sluice/access/identity/oauth/outgoing'
import { readSecret } from '@sluice/access/identity/oauth/secret-text'
import { requestTokens, type TokenResponse } from '@sluice/access/identity/oauth/token-request'
import type { LoginConfig } from '../../config/login.ts'

const TYPE = 'urn:ietf:params:oauth:token-type:'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

export interface ObtainOptions {
  readonly login: LoginConfig
  readonly url: string
  readonly caller: Caller
  /** The issuer that `via` names, with the gate as a client. */
  readonly via: Issuer | undefined
  readonly metadata: IssuerMetadata
  readonly identity: (issuer: Issuer) => { idToken(): Promise<string | undefined> }
  readonly nowMs: () => number
}

type Parameters = Readonly<Record<string, string | undefined>>

/** Throws if an authorisation server refuses, or answers with what cannot be used. */
export async function obtainToken(options: ObtainOptions): Promise<Login> {
  const { login, url } = options
  const resource = (login.resource ?? (await discoverResource(url))) || undefined
  const scope = login.scopes.join(' ') || undefined
  const answer = await requestGrant(options, { resource, audience: login.audience, scope })
  const { clientId, clientAuth, issuer, tokenEndpoint } = answer.client
  const { accessToken, expiresMs, scope: granted } = answer.tokens
  const client = { issuer, tokenEndpoint, clientId, clientAuth }
  return { url, resource: resource ?? '', ...client, accessToken, expiresMs, scope: granted }
}

async function requestGrant(options: ObtainOptions, target: Parameters) {
  const { login, via } = options
  if (login.kind === 'client')
    return ask(options, login, { grant_type: 'client_credentials', ...target })
  if (login.kind === 'assertion') {
    const assertion = readSecret(login.assertion ?? '')
    return ask(options, login, { grant_type: JWT_BEARER, assertion, ...target })
  }
  if (via === undefined) throw new Error(`no issuer is called \`${login.via}\` since the start`)
  if (login.kind === 'exchange') {
    const { token = '' } = options.caller.subject?.() ?? {}
    const answer = await ask(options, via, exchangeOf(login, token, target))
    checkExchanged(answer.tokens, token, login, target)
    return answer
  }
  const subject = await options.identity(via).idToken()
  if (subject === undefined) throw new Error(`the identity at \`${via.name}\` has ended`)
  const audience = login.audience ?? login.issuer
  const type = `${TYPE}id-jag`
  const words = { ...subjectOf(subject, 'id_token'), requested_token_type: type }
  const { tokens } = await ask(options, via, { ...words, ...target, audience }, 'n_a')
  if (tokens.issuedType !== type) throw wrongType(tokens)
  const there = { aud: audience, client_id: login.client?.clientId ?? '' }
  checkIdJag(tokens.accessToken, { ...there, resource: target.resource }, options.nowMs())
  // The assertion says what it is for.
  return ask(options, login, { grant_type: JWT_BEARER, assertion: tokens.accessToken })
}

/** Asks an issuer as its client. */
async function ask(
  { metadata, nowMs }: ObtainOptions,
  { issuer = '', client: config }: IssuerClient,
  parameters: Parameters,
  type?: 'n_a',
) {
  const client = clientAt(await metadata.of(issuer), config as ClientConfig)
  const outgoing = new OutgoingHttp({ trusted: [issuer] })
  const tokens = await requestTokens(client, parameters, { nowMs: nowMs(), outgoing, type })
  return { client, tokens }
}

function subjectOf(token: string, type: 'access_token' | 'id_token'): Parameters {
  const grant_type = 'urn:ietf:params:oauth:grant-type:token-exchange'
  return { grant_type, subject_token: token, subject_token_type: `${TYPE}${type}` }
}

/** Entra's form has neither `resource` nor `audience`. */
function exchangeOf({ form }: LoginConfig, token: string, target: Parameters): Parameters {
  if (form === 'rfc8693') return { ...subjectOf(token, 'access_token'), ...target }
  const words = { grant_type: JWT_BEARER, requested_token_use: 'on_behalf_of' }
  return { ...words, assertion: token, scope: target.scope }
}

/** MCP forbids passing a token through. */
function checkExchanged(
  tokens: TokenResponse,
  subject: string,
  { form }: LoginConfig,
  { resource, audience }: Parameters,
): void {
  const { accessToken, issuedType = `${TYPE}access_token` } = tokens
  if (accessToken === subject) throw new Error('the answer is the token of the caller itself')
  if (![`${TYPE}access_token`, `${TYPE}jwt`].includes(issuedType)) throw wrongType(tokens)
  checkAudience(accessToken, form === 'rfc8693' ? [resource, audience] : [audience])
}

function wrongType({ issuedType }: TokenResponse): Error {
  return new Error(`the token is of the type \`${String(issuedType).slice(0, 100)}\``)
}
