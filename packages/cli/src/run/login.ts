// `sluice login SERVER`: a person logs in at the authorisation server of an MCP server, in a browser; for a
// machine grant a token is got at once, and `issuer:NAME` stores who a person is at an identity provider. The
// gate keeps the tokens, encrypted, and renews them. A running gate uses them from the next call on.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NOBODY } from '@sluice/access/identity/callers/caller'
import type { Issuer } from '@sluice/access/identity/callers/issuer'
import { DOCUMENT_PORT } from '@sluice/access/identity/oauth/client-document'
import type { Login, LoginOf } from '@sluice/access/identity/oauth/login'
import { Logins } from '@sluice/access/identity/oauth/logins'
import type { GateConfig } from '@sluice/gateway/config/config'
import type { LoginConfig } from '@sluice/gateway/config/login'
import { PROVE_PERSON } from '@sluice/gateway/operations/people'
import { escapeUnseenJson } from '@sluice/guard/show/visible-text'
import { StoreError } from '@sluice/ledger/store/errors'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { OperationClient } from '../connect/ask-operation.ts'
import { CONFIG_OPTIONS, loadConfig } from '../connect/load-config.ts'
import { PROOF } from '../connect/prove-person.ts'
import { readCount } from '../connect/read-option.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { LOGIN_WAIT_MS_MAX } from '../terminal/limits.ts'
import { printable } from '../terminal/output.ts'

const PATH = '/callback'

const EXAMPLES = `
Examples:
  sluice login linear                      prints an address; open it in a browser and log in
  sluice login linear --principal ann      where each principal has a login of its own
  sluice login linear --scope issues:write asks for one more scope
  sluice login linear --forget             takes the login away
  sluice login billing                     a machine grant: gets a token now
  sluice login issuer:corp                 who you are at an issuer, for servers with \`login: id-jag\`

In sluice.yaml:
  servers:
    linear: { url: "https://mcp.example.org/mcp", auth: login }
    issues: { url: "https://mcp.example.com/mcp", auth: { login: principal, client_id: "…" } }

Asks for your PIN at the terminal (role admin). With --json the address comes on a line of its own, the result on the next.
Exit code 0 if the login succeeded, 1 if it was refused or there is none to forget.`

const OPTIONS = {
  '--principal <name>': 'whose login, if each principal has one',
  '--scope <scope>': 'one more scope, beside those of the login before',
  '--redirect-port <n>': 'the port a registered client is redirected to',
  '--forget': 'remove the login instead',
  ...PROOF,
  ...CONFIG_OPTIONS,
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'login',
  args: { '<server>': 'a server of the configuration with `auth`, or `issuer:NAME`' },
  options: OPTIONS,
  json: 'print one JSON object per line',
  examples: EXAMPLES,
  run: async ({ server, ...options }, output) => {
    const config = loadConfig(options, output)
    const target = targetOf(config, server, options)
    await proveLogin(config.data, server, options)
    const logins = Logins.open(config.data)
    const say = (value: object): void => {
      const text = escapeUnseenJson(JSON.stringify({ server, ...value }))
      if (output.json) process.stdout.write(`${text}\n`)
    }
    try {
      if (options.forget === true) {
        const forgotten = logins.remove(target.of)
        say({ forgotten })
        output.line(forgotten ? 'the login is forgotten' : 'there is no login to forget')
        return forgotten ? 0 : 1
      }
      const show = (open: string): void => {
        say({ open })
        output.line(`open this address in a browser, and log in there:\n\n  ${open}\n`)
      }
      const got = await storeLogin(config, { target, logins, options, show })
      say({ loggedIn: true, ...got })
      const words = Object.entries(got).map(([name, value]) => `, ${name} ${value}`)
      output.line(`logged in at ${server}${printable(words.join(''))}`)
      return 0
    } catch (error) {
      if (error instanceof CliError || error instanceof StoreError) throw error
      const { message: why } = error as Error
      say({ loggedIn: false, why })
      output.remark(`sluice: not logged in: ${printable(why)}`)
      return 1
    } finally {
      logins.close()
    }
  },
})

/** Recorded: from now on every caller of this server uses this login. */
async function proveLogin(data: string, server: string, options: Options): Promise<void> {
  makePrivateFolder(data)
  const what = `login ${server}${options.forget === true ? ' --forget' : ''}`
  await new OperationClient({ data }, options).ask(PROVE_PERSON, { what, may: 'login' })
}

interface LoginTarget {
  readonly of: LoginOf
  readonly url: string
  readonly login: LoginConfig
  /** The login is who a person is there. */
  readonly issuer?: Issuer
}

function targetOf(config: GateConfig, name: string, { principal }: Options): LoginTarget {
  if (name.startsWith('issuer:')) return identityTarget(config, name, principal)
  const server = Object.hasOwn(config.servers, name) ? config.servers[name] : undefined
  if (server === undefined)
    throw new ArgumentError(
      `no server is called \`${name}\``,
      `one of ${Object.keys(config.servers).join(', ')}`,
    )
  if (server.kind !== 'http' || server.login === undefined)
    throw new ArgumentError(
      `\`${name}\` has no login`,
      `say \`auth: login\` under \`servers.${name}\` if it wants one`,
    )
  const { login, url } = server
  const { kind, via } = login
  if (kind === 'exchange' || kind === 'id-jag')
    throw new ArgumentError(
      `\`${name}\` is called with a token of each caller`,
      kind === 'exchange' ? 'there is nothing to do' : `run \`sluice login issuer:${via}\``,
    )
  if ((kind === 'principal') !== (principal !== undefined))
    throw new ArgumentError(
      kind === 'principal' ? 'whose login?' : `\`${name}\` has one login for all`,
      kind === 'principal' ? 'say --principal NAME' : 'leave --principal out',
    )
  return { of: { server: name, principal: principal ?? '' }, url, login }
}

/** A principal of an issuer is what its ID token says: nobody stores an identity under another's name. */
function identityTarget(config: GateConfig, server: string, principal = ''): LoginTarget {
  const name = server.slice('issuer:'.length)
  const issuer = config.issuers.find((one) => one.name === name)
  if (issuer?.client === undefined)
    throw new ArgumentError(
      `no issuer with a \`client\` is called \`${name}\``,
      `say \`auth.issuers.${name}.client\``,
    )
  if (principal.includes(':'))
    throw new ArgumentError(`\`${principal}\` is named by its identity`, 'leave --principal out')
  const login = { kind: 'gate', scopes: ['openid'] } as const
  const { client, issuer: url } = issuer
  return { of: { server, principal }, url, login: { ...login, client, issuer: url }, issuer }
}

interface LoginAttempt {
  readonly target: LoginTarget
  readonly logins: Logins
  readonly options: Options
  readonly show: (address: string) => void
}

/** Returns what is known of the token; throws if there is none. */
async function storeLogin(
  config: GateConfig,
  attempt: LoginAttempt,
): Promise<Record<string, string>> {
  const { target, logins } = attempt
  const { kind } = target.login
  if (kind === 'client' || kind === 'assertion') return getToken(config, attempt)
  const { login, nonce } = await logIn(config, attempt)
  const principal = await principalOf(target, login, nonce)
  logins.put({ ...target.of, principal }, login, Date.now())
  return target.issuer === undefined ? {} : { principal }
}

/** By the ID token, if it is an identity. */
async function principalOf(
  { of, issuer }: LoginTarget,
  { idToken, clientId }: Login,
  nonce: string,
): Promise<string> {
  if (issuer === undefined) return of.principal
  const { AccessTokenVerifier, subjectOf } = await import(
    '@sluice/access/identity/callers/access-token-verifier'
  )
  if (idToken === undefined) throw new Error(`\`${issuer.issuer}\` gave no ID token`)
  const tokens = new AccessTokenVerifier([issuer], Date.now)
  const payload = await tokens.checkIdToken(idToken, issuer, { clientId, nonce })
  return of.principal || `${issuer.name}:${subjectOf(payload, issuer)}`
}

/** The token that the gate would ask for with the next call. */
async function getToken(
  { issuers }: GateConfig,
  { target, logins }: LoginAttempt,
): Promise<Record<string, string>> {
  const { Credentials } = await import('@sluice/gateway/upstream/servers/credentials')
  const parts = { logins, issuers, nowMs: Date.now, log() {} }
  const credential = new Credentials(parts).of(target.of.server, target, NOBODY)
  await credential.ready()
  const { failure, refusal, row } = credential
  if (row === undefined || failure !== undefined)
    throw new Error(refusal ?? failure?.message ?? 'no token')
  const { issuer, resource, scope = '', expiresMs } = row
  const until = expiresMs === undefined ? 'it is refused' : new Date(expiresMs).toISOString()
  return { issuer, resource, scope, until }
}

async function logIn(
  { clientDocument }: GateConfig,
  { target, logins, options, show }: LoginAttempt,
): Promise<{ readonly login: Login; readonly nonce: string }> {
  const { of, url, login, issuer } = target
  // Loaded here: no other command needs them.
  const { discoverIdentity, discoverLogin } = await import(
    '@sluice/access/identity/oauth/discover-login'
  )
  const { LoginFlow } = await import('@sluice/access/identity/oauth/login-flow')
  const place = await (issuer === undefined
    ? discoverLogin(url, login.issuer)
    : discoverIdentity(issuer.issuer))
  // As MCP says: a client of the configuration, then the document, then registration.
  const takesDocument = place.metadata.client_id_metadata_document_supported === true
  const document = login.client === undefined && takesDocument ? clientDocument : undefined
  const client = document === undefined ? login.client : { clientId: document }
  const port = document === undefined ? 0 : DOCUMENT_PORT
  const { redirectPort } = options
  const wanted =
    redirectPort === undefined ? port : readCount(redirectPort, '--redirect-port', 65_535, 0)
  const redirect = await listenForRedirect(wanted).catch((error: Error) => {
    const help = port === 0 ? 'say another --redirect-port' : 'end the program that uses the port'
    throw new ArgumentError(error.message, help)
  })
  try {
    const scopes = scopesOf(login, logins.get(of), options)
    const flow = await LoginFlow.begin(place, { url, redirect: redirect.address, client, scopes })
    const answered = redirect.wait((parameters) => flow.isOurs(parameters))
    show(flow.address)
    return { login: await flow.finish(await answered, Date.now()), nonce: flow.nonce }
  } finally {
    redirect.close()
  }
}

/** Scopes that were granted before are asked for again with one more. */
function scopesOf(login: LoginConfig, before: Login | undefined, { scope }: Options): string[] {
  if (scope === undefined) return [...login.scopes]
  return [...new Set([...login.scopes, ...(before?.scope?.split(' ') ?? []), scope])]
}

interface Redirect {
  readonly address: string
  /** The parameters of the first request that `isOurs`. */
  wait(isOurs: (parameters: URLSearchParams) => boolean): Promise<URLSearchParams>
  close(): void
}

/**
 * The loopback end of a login: a server on a free port of this machine that takes one redirect, tells
 * the person to go back to the terminal, and is gone. What does not belong to the login is turned away.
 */
async function listenForRedirect(port: number): Promise<Redirect> {
  let take: (parameters: URLSearchParams) => boolean = () => false
  const server = createServer((request, response) => {
    // Not parsed as a URL: `//` is none, and any page of a browser can ask for it.
    const [path, query] = (request.url ?? '').split('?', 2)
    const isTaken = request.method === 'GET' && path === PATH && take(new URLSearchParams(query))
    const message = isTaken ? 'You can close this page and go back to the terminal.' : 'Not found.'
    response
      .writeHead(isTaken ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
        // The code must not go on to another site, nor into a cache.
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        connection: 'close',
      })
      .end(`${message}\n`)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  const wait: Redirect['wait'] = (isOurs) =>
    new Promise((resolve, reject) => {
      const why = new Error(`nobody logged in within ${LOGIN_WAIT_MS_MAX / 60_000} minutes`)
      setTimeout(() => reject(why), LOGIN_WAIT_MS_MAX).unref()
      take = (parameters) => {
        if (!isOurs(parameters)) return false
        resolve(parameters)
        return true
      }
    })
  return { address, wait, close: () => void server.close() }
}
