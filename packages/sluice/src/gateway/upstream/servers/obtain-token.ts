// Asks for the token of a server without a person: for a machine (client credentials), for a workload (RFC 7523),
// for the caller (token exchange, RFC 8693, or Entra's on-behalf-of) and through an identity provider (ID-JAG).
// Token endpoints are those of configured issuers; of what the server says only a resource is used that covers it.

import type { Caller } from '../../../identity/callers/caller.ts'
import type { Issuer } from '../../../identity/callers/issuer.ts'
import { checkAudience, checkIdJag } from '../../../identity/oauth/check-token.ts'
import { type ClientConfig, pickAuthMethod } from '../../../identity/oauth/client-authentication.ts'
import { endpointIn, textsIn } from '../../../identity/oauth/discover-issuer.ts'
import { discoverResource } from '../../../identity/oauth/discover-login.ts'
import type { IssuerMetadata } from '../../../identity/oauth/issuer-metadata.ts'
import type { Login } from '../../../identity/oauth/login.ts'
import { OutgoingHttp } from '../../../identity/oauth/outgoing.ts'
import { readSecret } from '../../../identity/oauth/secret-text.ts'
import { requestTokens, type TokenResponse } from '../../../identity/oauth/token-request.ts'
import type { LoginConfig } from '../../config/login.ts'

const TYPE = 'urn:ietf:params:oauth:token-type:'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

interface ObtainOptions {
  readonly login: LoginConfig
  readonly url: string
  readonly caller: Caller
  readonly issuers: readonly Issuer[]
  readonly metadata: IssuerMetadata
  readonly identity: (issuer: Issuer) => { idToken(): Promise<string | undefined> }
  readonly nowMs: () => number
}

type Parameters = Readonly<Record<string, string | undefined>>

/** Throws if an authorisation server refuses, or answers with what cannot be used. */
export async function obtainToken(options: ObtainOptions): Promise<Login> {
  const { login, url } = options
  const asked = login.resource ?? (await discoverResource(url))
  const resource = asked === false ? undefined : asked
  const scope = login.scopes.length > 0 ? login.scopes.join(' ') : undefined
  const { client, tokens } = await grantOf(options, { resource, audience: login.audience, scope })
  const { clientId, clientAuth, issuer, tokenEndpoint } = client
  const { accessToken, expiresMs, scope: granted } = tokens
  return {
    url,
    resource: resource ?? '',
    issuer,
    tokenEndpoint,
    clientId,
    clientAuth,
    accessToken,
    ...(expiresMs === undefined ? {} : { expiresMs }),
    ...(granted === undefined ? {} : { scope: granted }),
  }
}

async function grantOf(options: ObtainOptions, target: Parameters) {
  const { login, nowMs } = options
  const own = () => clientOf(options, login.issuer, login.client)
  if (login.kind === 'client')
    return (await own()).request({ grant_type: 'client_credentials', ...target })
  if (login.kind === 'assertion') {
    const assertion = readSecret(login.assertion ?? '')
    return (await own()).request({ grant_type: JWT_BEARER, assertion, ...target })
  }
  const via = options.issuers.find(({ name }) => name === login.via)
  if (via === undefined) throw new Error(`no issuer is called \`${login.via}\` since the start`)
  const provider = await clientOf(options, via.issuer, via.client)
  if (login.kind === 'exchange') {
    const { token = '' } = options.caller.subject?.() ?? {}
    const answer = await provider.request(exchangeOf(login, token, target))
    checkExchanged(answer.tokens, token, login, target)
    return answer
  }
  const subject = await options.identity(via).idToken()
  if (subject === undefined) throw new Error(`the identity at \`${via.name}\` has ended`)
  const audience = login.audience ?? login.issuer
  const type = `${TYPE}id-jag`
  const words = { ...subjectOf(subject, 'id_token'), requested_token_type: type }
  const { tokens } = await provider.request({ ...words, ...target, audience }, 'n_a')
  if (tokens.issuedType !== type) throw wrongType(tokens)
  const there = { aud: audience, client_id: login.client?.clientId ?? '' }
  checkIdJag(tokens.accessToken, { ...there, resource: target.resource }, nowMs())
  // The assertion says what it is for.
  return (await own()).request({ grant_type: JWT_BEARER, assertion: tokens.accessToken })
}

/** The gate as a client of an issuer, by the issuer's own metadata. */
async function clientOf(
  { metadata, nowMs }: ObtainOptions,
  issuer = '',
  config: ClientConfig | undefined,
) {
  const found = await metadata.of(issuer)
  const tokenEndpoint = endpointIn(found, 'token_endpoint')
  if (tokenEndpoint === undefined || config === undefined)
    throw new Error(`\`${issuer}\` names no token endpoint, or the gate is no client there`)
  const methods = textsIn(found, 'token_endpoint_auth_methods_supported')
  const client = { ...config, clientAuth: pickAuthMethod(config, methods), issuer, tokenEndpoint }
  const request = async (parameters: Parameters, type: 'bearer' | 'n_a' = 'bearer') => {
    const outgoing = new OutgoingHttp({ trusted: [issuer] })
    return {
      client,
      tokens: await requestTokens(client, parameters, { nowMs: nowMs(), outgoing, type }),
    }
  }
  return { request }
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
