// A real authorisation server (oidc-provider) on a free port of this machine, started inside a test:
// discovery, dynamic registration, PKCE, resource indicators, JWT access tokens, refresh tokens, ID
// tokens and userinfo. Whoever comes to its login page is logged in as `ann` and has agreed to everything.
// It exchanges tokens (RFC 8693, on-behalf-of), gives identity assertions (ID-JAG) and takes those of a server
// that it trusts.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
// @ts-expect-error: it comes without types
import Provider from 'oidc-provider'

export interface AuthorisationServer {
  readonly issuer: string
  /** Paths that were asked for. */
  readonly seen: string[]
  /** For the machine that is registered from the start. */
  tokenFor(resource: string, scope?: string): Promise<string>
  /** Access tokens given out from now on live so long. */
  lifeS: number
  /** Of `ann`: the claim `groups`, in userinfo. */
  groups: readonly string[]
  /** While it is set, it answers every request for a token: an outage, or a refusal. */
  outage: ((response: ServerResponse) => void) | undefined
  /** Requests for tokens: the parameters, and the status of the answer. */
  readonly asked: (Record<string, string> & { status: number })[]
  /** While it is set, it changes what an exchange answers. */
  exchanged: ((answer: Record<string, unknown>) => Record<string, unknown>) | undefined
  /** A JWT as this server signs it. */
  sign(claims: JWTPayload, typ?: string): Promise<string>
  /** Gives `SHOP` another secret; the old one is refused from then on. */
  rotate(secret: string, client?: string): Promise<void>
  close(): Promise<void>
}

/** The console of a gate, on whatever port of this machine; its issuer is called `corp` there. */
export const CONSOLE = { id: 'console', redirect: 'http://localhost/sign-in/corp' }
/** A client with a secret, redirected to any port of this machine. */
export const SHOP = { id: 'shop', secret: 'the first secret of the shop' }
export const MACHINE = { id: 'machine', secret: 'a-secret-of-the-machine' }

/** The gate itself, as a client that exchanges tokens. */
export const GATE = { id: 'gate', secret: 'a-secret-of-the-gate' }
/** A client with a private key; `serveAuthorisation` is told the public one. */
export const SIGNER = 'signer'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const TYPE = 'urn:ietf:params:oauth:token-type:'

type State = Pick<AuthorisationServer, 'lifeS' | 'groups' | 'outage' | 'exchanged'>

interface AuthorisationOptions {
  /** The issuer whose identity assertions it takes. */
  readonly trusts?: string
  /** The public key of `SIGNER`. */
  readonly signer?: object
}

export async function serveAuthorisation(
  options: AuthorisationOptions = {},
): Promise<AuthorisationServer> {
  const seen: string[] = []
  const asked: AuthorisationServer['asked'] = []
  const state: State = { lifeS: 3_600, groups: [], outage: undefined, exchanged: undefined }
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  let handle: (request: unknown, response: unknown) => void = () => {}
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${(request.url ?? '').split('?')[0]}`)
    if (request.url === '/token' && state.outage !== undefined) state.outage(response)
    else handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const key = { ...(await exportJWK(privateKey)), kid: 'test', use: 'sig', alg: 'RS256' }
  const provider = new Provider(issuer, configuration(state, key, options))
  const sign = (claims: JWTPayload, typ = 'at+jwt'): Promise<string> =>
    new SignJWT({ iss: issuer, jti: crypto.randomUUID(), ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'test', typ })
      .setIssuedAt()
      .setExpirationTime(typeof claims.exp === 'number' ? claims.exp : `${state.lifeS}s`)
      .sign(privateKey)
  // biome-ignore lint/suspicious/noExplicitAny: it comes without types
  provider.use(async (ctx: any, next: () => Promise<void>) => {
    await next()
    if (ctx.path === '/token') asked.push({ ...ctx.oidc?.params, status: ctx.status })
  })
  logInEverybody(provider)
  registerGrants(provider, { issuer, state, sign, options })
  provider.on('server_error', (_: unknown, error: Error) => console.error(error))
  handle = provider.callback()
  const tokenFor = async (resource: string, scope = 'mcp'): Promise<string> => {
    const response = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${MACHINE.id}:${MACHINE.secret}`)}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
    })
    const body = (await response.json()) as { access_token?: string }
    if (body.access_token === undefined) throw new Error(JSON.stringify(body))
    return body.access_token
  }
  const rotate = async (secret: string, name = SHOP.id): Promise<void> => {
    const client = await provider.Client.find(name)
    client.clientSecret = secret
  }
  const close = (): Promise<void> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return Object.assign(state, { issuer, seen, asked, sign, tokenFor, rotate, close })
}

function configuration(state: State, key: object, { signer }: AuthorisationOptions): object {
  const machine = {
    client_id: MACHINE.id,
    client_secret: MACHINE.secret,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  }
  const page = {
    client_id: CONSOLE.id,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    redirect_uris: [CONSOLE.redirect],
  }
  const shop = {
    client_id: SHOP.id,
    client_secret: SHOP.secret,
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['http://127.0.0.1/callback'],
  }
  const gate = {
    ...shop,
    client_id: GATE.id,
    client_secret: GATE.secret,
    grant_types: [...shop.grant_types, EXCHANGE, JWT_BEARER],
  }
  const signing = {
    ...machine,
    client_id: SIGNER,
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [signer] },
  }
  const { client_secret: _, ...keyed } = signing
  return {
    jwks: { keys: [key] },
    clients: [machine, page, shop, gate, ...(signer === undefined ? [] : [keyed])],
    scopes: ['openid', 'offline_access', 'mcp', 'groups'],
    claims: { openid: ['sub'], groups: ['groups'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, groups: state.groups }),
    }),
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['a key of the test'] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'mcp',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: state.lifeS,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  }
}

interface GrantParts {
  readonly issuer: string
  readonly state: State
  readonly sign: AuthorisationServer['sign']
  readonly options: AuthorisationOptions
}

/** The grants that the library does not have. */
// biome-ignore lint/suspicious/noExplicitAny: it comes without types
function registerGrants(provider: any, { issuer, state, sign, options }: GrantParts): void {
  const refuse = (ctx: { status: number; body: unknown }, error: string): void => {
    ctx.status = 400
    ctx.body = { error, error_description: 'said by the authorisation server of the test' }
  }
  const verify = async (token: string, from: string) =>
    (await jwtVerify(token, createRemoteJWKSet(new URL(`${from}/jwks`)), { issuer: from })).payload
  const words = ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'scope']
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const exchange = async (ctx: any): Promise<void> => {
    const { params, client } = ctx.oidc
    const token = params.subject_token ?? params.assertion
    const subject = await verify(token, issuer).catch(() => undefined)
    if (subject === undefined) return refuse(ctx, 'invalid_grant')
    if (params.audience === 'nobody') return refuse(ctx, 'invalid_target')
    const isAssertion = params.requested_token_type === `${TYPE}id-jag`
    if (isAssertion && subject.aud !== client.clientId) return refuse(ctx, 'invalid_grant')
    const { resource, scope, audience } = params
    const common = { sub: subject.sub ?? '', ...(scope === undefined ? {} : { scope }) }
    const aud = isAssertion ? audience : (resource ?? audience ?? 'nobody')
    const more = isAssertion ? { resource, client_id: GATE.id } : {}
    const answer = {
      access_token: await sign(
        { ...common, ...more, aud },
        isAssertion ? 'oauth-id-jag+jwt' : undefined,
      ),
      issued_token_type: `${TYPE}${isAssertion ? 'id-jag' : 'access_token'}`,
      token_type: isAssertion ? 'N_A' : 'Bearer',
      expires_in: state.lifeS,
    }
    ctx.body = state.exchanged?.({ ...answer, subject: token }) ?? answer
  }
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const present = async (ctx: any): Promise<void> => {
    const { params, client } = ctx.oidc
    if (params.requested_token_use === 'on_behalf_of') return exchange(ctx)
    const claims = await verify(params.assertion, options.trusts ?? issuer).catch(() => undefined)
    if (claims?.aud !== issuer || claims.client_id !== client.clientId)
      return refuse(ctx, 'invalid_grant')
    const token = await sign({ sub: claims.sub ?? '', aud: String(claims.resource) })
    ctx.body = { access_token: token, token_type: 'Bearer', expires_in: state.lifeS }
  }
  provider.registerGrantType(EXCHANGE, exchange, [...words, 'resource'])
  provider.registerGrantType(JWT_BEARER, present, ['assertion', 'requested_token_use', 'scope'])
}

/** What a person would do in a browser, done by the page itself. */
// biome-ignore lint/suspicious/noExplicitAny: it comes without types
function logInEverybody(provider: any): void {
  // biome-ignore lint/suspicious/noExplicitAny: the same
  provider.use(async (ctx: any, next: () => Promise<void>) => {
    if (!ctx.path.startsWith('/interaction/')) return next()
    const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res)
    const result: Record<string, unknown> = {}
    if (prompt.name === 'login') result.login = { accountId: 'ann' }
    else {
      const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
      grant.addOIDCScope(params.scope ?? 'openid')
      if (params.resource) grant.addResourceScope(params.resource, 'mcp')
      result.consent = { grantId: await grant.save() }
    }
    await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true })
    ctx.respond = false
  })
}
