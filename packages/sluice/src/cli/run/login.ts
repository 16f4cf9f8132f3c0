// `sluice login SERVER`: a person logs in at the authorisation server of an MCP server, in a browser;
// the gate keeps the tokens, encrypted, and renews them. A running gate uses them from the next call on.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from 'commander'
import { escapeUnseenJson } from '../../core/visible-text.ts'
import type { GateConfig } from '../../gateway/config/config.ts'
import { IdentityError } from '../../identity/errors.ts'
import type { LoginOf } from '../../identity/oauth/login.ts'
import { Logins } from '../../identity/oauth/logins.ts'
import { PROVE_PERSON } from '../../operations/people.ts'
import { StoreError } from '../../store/errors.ts'
import { makePrivateFolder } from '../../store/files/private-folder.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { LOGIN_WAIT_MS_MAX } from '../../terminal/limits.ts'
import { Output, printable } from '../../terminal/output.ts'
import { OperationClient } from '../connect/ask-operation.ts'
import { type ConfigOptions, loadConfig } from '../connect/load-config.ts'

const PATH = '/callback'

interface Options extends ConfigOptions {
  readonly principal?: string
  readonly redirectPort: string
  readonly forget?: boolean
}

const EXAMPLES = `
Examples:
  sluice login linear                      prints an address; open it in a browser and log in
  sluice login linear --principal ann      where each principal has a login of its own
  sluice login linear --forget             takes the login away

In sluice.yaml:
  servers:
    linear: { url: "https://mcp.example.org/mcp", auth: login }
    issues: { url: "https://mcp.example.com/mcp", auth: { login: principal, client_id: "…" } }

Asks for your PIN at the terminal (role admin). With --json the address comes on a line of its own, the result on the next.
Exit code 0 if the login succeeded, 1 if it was refused or there is none to forget.`

export function addLogin(parent: Command, answer: SetExitCode): void {
  parent
    .command('login')
    .argument('<server>', 'a server of the configuration with `auth: login`')
    .option('--principal <name>', 'whose login, if each principal has one')
    .option('--redirect-port <n>', 'the port a registered client is redirected to', '0')
    .option('--forget', 'remove the login instead')
    .option('--as <name>', 'your name, if several people have a PIN')
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'data directory, instead of the one in the configuration')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', EXAMPLES)
    .action(async (server: string, options: Options) => {
      const output = new Output(options)
      const config = loadConfig(options, output)
      const target = targetOf(config, server, options)
      await proveLogin(config.data, server, options)
      const logins = openLogins(config.data)
      try {
        const say = (value: object): void => {
          if (output.json) process.stdout.write(`${escapeUnseenJson(JSON.stringify(value))}\n`)
        }
        if (options.forget === true) {
          const forgotten = logins.remove(target.of)
          say({ server, forgotten })
          output.line(forgotten ? 'the login is forgotten' : 'there is no login to forget')
          return answer(forgotten ? 0 : 1)
        }
        const why = await logIn(target, logins, options, (address) => {
          say({ server, open: address })
          output.line(`open this address in a browser, and log in there:\n\n  ${address}\n`)
        })
        say({ server, loggedIn: why === undefined, ...(why === undefined ? {} : { why }) })
        if (why === undefined) output.line(`logged in at ${server}`)
        else output.remark(`sluice: not logged in: ${printable(why)}`)
        answer(why === undefined ? 0 : 1)
      } finally {
        logins.close()
      }
    })
}

/** Recorded: from now on every caller of this server uses this login. */
async function proveLogin(data: string, server: string, options: Options): Promise<void> {
  makePrivateFolder(data)
  const what = `login ${server}${options.forget === true ? ' --forget' : ''}`
  await new OperationClient({ data }, options).ask(PROVE_PERSON, { what, may: 'login' })
}

interface LoginTarget {
  readonly of: LoginOf
  readonly url: string
  readonly login: NonNullable<Extract<GateConfig['servers'][string], { kind: 'http' }>['login']>
}

function targetOf(config: GateConfig, name: string, { principal }: Options): LoginTarget {
  const server = Object.hasOwn(config.servers, name) ? config.servers[name] : undefined
  if (server === undefined)
    throw new CliError(
      'CLI_ARGUMENT',
      `no server is called \`${name}\``,
      `one of ${Object.keys(config.servers).join(', ')}`,
    )
  if (server.kind !== 'http' || server.login === undefined)
    throw new CliError(
      'CLI_ARGUMENT',
      `\`${name}\` has no login`,
      `say \`auth: login\` under \`servers.${name}\` if it wants one`,
    )
  const { login, url } = server
  if ((login.per === 'principal') !== (principal !== undefined))
    throw new CliError(
      'CLI_ARGUMENT',
      login.per === 'principal' ? 'whose login?' : `\`${name}\` has one login for all`,
      login.per === 'principal' ? 'say --principal NAME' : 'leave --principal out',
    )
  return { of: { server: name, principal: principal ?? '' }, url, login }
}

/** Why not, or undefined. */
async function logIn(
  { of, url, login }: LoginTarget,
  logins: Logins,
  { redirectPort }: Options,
  show: (address: string) => void,
): Promise<string | undefined> {
  const port = Number(redirectPort)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new CliError('CLI_ARGUMENT', `--redirect-port is \`${redirectPort}\``, '0 to 65535')
  // Loaded here: no other command needs them.
  const { discoverLogin } = await import('../../identity/oauth/discover-login.ts')
  const { LoginFlow } = await import('../../identity/oauth/login-flow.ts')
  const redirect = await listenForRedirect(port).catch((error: Error) => {
    throw new CliError('CLI_ARGUMENT', error.message, 'say another --redirect-port')
  })
  try {
    const place = await discoverLogin(url, login.issuer)
    const { clientId, clientSecret, scopes } = login
    const request = { url, redirect: redirect.address, clientId, clientSecret, scopes }
    const flow = await LoginFlow.begin(place, request)
    const answered = redirect.wait((parameters) => flow.isOurs(parameters))
    show(flow.address)
    logins.put(of, await flow.finish(await answered, Date.now()), Date.now())
    return undefined
  } catch (error) {
    if (error instanceof StoreError) throw stored(error)
    return (error as Error).message
  } finally {
    redirect.close()
  }
}

function openLogins(directory: string): Logins {
  try {
    return Logins.open(directory)
  } catch (error) {
    if (error instanceof StoreError || error instanceof IdentityError) throw stored(error)
    throw error
  }
}

function stored({ message, code, help }: StoreError | IdentityError): CliError {
  return new CliError('CLI_FILE', `${message} (${code})`, help)
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  const wait: Redirect['wait'] = (isOurs) =>
    new Promise((resolve, reject) => {
      const why = new Error(`nobody logged in within ${LOGIN_WAIT_MS_MAX / 60_000} minutes`)
      const timer = setTimeout(() => reject(why), LOGIN_WAIT_MS_MAX)
      take = (parameters) => {
        if (!isOurs(parameters)) return false
        take = () => false
        clearTimeout(timer)
        resolve(parameters)
        return true
      }
    })
  return { address, wait, close: () => void server.close() }
}
