// A real authorisation server (oidc-provider) on a free port of this machine, started inside a test:
// discovery, dynamic registration, PKCE, resource indicators, JWT access tokens, refresh tokens, ID
// tokens and userinfo. Whoever comes to its login page is logged in as `ann` and has agreed to everything.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  /** Gives `SHOP` another secret; the old one is refused from then on. */
  rotate(secret: string): Promise<void>
  close(): Promise<void>
}

/** The console of a gate, on whatever port of this machine; its issuer is called `corp` there. */
export const CONSOLE = { id: 'console', redirect: 'http://localhost/sign-in/corp' }
/** A client with a secret, redirected to any port of this machine. */
export const SHOP = { id: 'shop', secret: 'the first secret of the shop' }
export const MACHINE = { id: 'machine', secret: 'a-secret-of-the-machine' }

type State = Pick<AuthorisationServer, 'lifeS' | 'groups' | 'outage'>

export async function serveAuthorisation(): Promise<AuthorisationServer> {
  const seen: string[] = []
  const state: State = { lifeS: 3_600, groups: [], outage: undefined }
  let handle: (request: unknown, response: unknown) => void = () => {}
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${(request.url ?? '').split('?')[0]}`)
    if (request.url === '/token' && state.outage !== undefined) state.outage(response)
    else handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, configuration(state))
  logInEverybody(provider)
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
  const rotate = async (secret: string): Promise<void> => {
    const client = await provider.Client.find(SHOP.id)
    client.clientSecret = secret
  }
  const close = (): Promise<void> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return Object.assign(state, { issuer, seen, tokenFor, rotate, close })
}

function configuration(state: State): object {
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
  return {
    clients: [machine, page, shop],
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
