// The client half of the published conformance suite, through the gate: each scenario is a server that wants a
// token, and its authorisation server. The server is added to one running gate, a person logs in with the
// real command, and a client calls a tool through the gate. What does not pass is named with its cause.

import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Login } from '../../packages/access/src/identity/oauth/login.ts'
import { Logins } from '../../packages/access/src/identity/oauth/logins.ts'
import { OperationClient } from '../../packages/cli/src/connect/ask-operation.ts'
import { PUT_SERVER } from '../../packages/gateway/src/operations/servers.ts'
import {
  type Check,
  endSuites,
  PATIENT,
  runClient,
  scoredScenarios,
} from '../conformance/run-suite.ts'
import { browse } from '../support/browse.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { endGates, type ServingGate } from '../support/start-gate.ts'

vi.setConfig({ testTimeout: 400_000 })

const SCORED = scoredScenarios('client').filter((name) => name.startsWith('auth/'))
const EXTENSIONS = [
  'auth/client-credentials-jwt',
  'auth/client-credentials-basic',
  'auth/enterprise-managed-authorization',
  'auth/wif-jwt-bearer',
  'auth/dpop',
  'auth/dpop-nonce',
]

type Exceptions = Record<string, string>

/** Every other scenario passes. */
const OUT_OF_SCOPE: Exceptions = {
  'auth/dpop':
    'tokens that are bound to a key (DPoP) are out of scope until a server asks for them',
  'auth/dpop-nonce': 'the same',
}

interface Scenario {
  readonly name: string
  readonly url: string
  readonly context: Readonly<Record<string, string>>
}

let gate: ServingGate
let reports: Server
let client = ''
let servers = 0
let last: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  gate = await serveGate({
    servers: {},
    config: { oauth: { client_id: 'https://conformance-test.local/client-metadata.json' } },
  })
  await atTerminal(gate.data)
  reports = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      // One at a time: commands run in this process.
      last = last
        .then(() => goThrough(JSON.parse(text)))
        .then(
          () => response.end(),
          (error: Error) => response.writeHead(500).end(error.stack),
        )
    })
  })
  await new Promise<void>((resolve) => reports.listen(0, '127.0.0.1', resolve))
  client = `http://127.0.0.1:${(reports.address() as AddressInfo).port}`
})
afterAll(async () => {
  await endSuites()
  await endGates()
  reports.close()
})

/** What a person and an agent would do with the server of the scenario. */
async function goThrough({ name, url, context }: Scenario): Promise<void> {
  if (!name.startsWith('auth/')) return
  const server = `s${++servers}`
  const entry = { url, auth: await authOf(name, url, context) }
  if (name === 'auth/enterprise-managed-authorization') return callByIdentity(entry, context)
  await new OperationClient({ data: gate.data }, {}).ask(PUT_SERVER, { name: server, entry })
  await login(server)
  // Some servers change their mind when they are called: a person logs in once more then.
  const command = await call(gate, server)
  if (command === undefined) return
  await login(...command)
  await call(gate, server)
}

async function authOf(name: string, url: string, context: Scenario['context']): Promise<unknown> {
  const { client_id, client_secret, issuer, private_key_pem, valid_jwt } = context
  const there = { client_id, issuer: EXTENSIONS.includes(name) ? await issuerOf(url) : issuer }
  if (name === 'auth/client-credentials-jwt')
    return { login: 'client', ...there, private_key: private_key_pem }
  if (name === 'auth/client-credentials-basic') return { login: 'client', ...there, client_secret }
  if (name === 'auth/wif-jwt-bearer') {
    const file = join(gate.folder, 'workload.jwt')
    writeFileSync(file, valid_jwt ?? '')
    return { login: 'assertion', ...there, assertion: `$\{file:${file}}` }
  }
  if (name === 'auth/enterprise-managed-authorization')
    return { login: 'id-jag', via: 'corp', ...there, client_secret }
  return issuer === undefined ? 'login' : { login: 'gate', client_id, client_secret, issuer }
}

/** What the operator of the server would say: the gate asks only issuers of its configuration. */
async function issuerOf(url: string): Promise<string> {
  const { origin, pathname } = new URL(url)
  for (const path of [pathname, '']) {
    const response = await fetch(`${origin}/.well-known/oauth-protected-resource${path}`)
    if (response.ok)
      return (
        ((await response.json()) as { authorization_servers: string[] }).authorization_servers[0] ??
        ''
      )
  }
  return ''
}

/** The identity provider of the scenario has no page to log in at: it hands over the ID token. */
async function callByIdentity(
  entry: { url: string; auth: unknown },
  context: Scenario['context'],
): Promise<void> {
  const { idp_issuer = '', idp_client_id = '', idp_id_token = '' } = context
  const issuer = { issuer: idp_issuer, policy: 'policy', client: { client_id: idp_client_id } }
  const own = await serveGate({
    servers: { wiki: entry },
    config: { auth: { issuers: { corp: issuer } } },
  })
  await atTerminal(own.data)
  const add = ['grants', 'add', 'ci', '--policy', 'policy']
  const { token } = await sluiceJson([...add, '--config', join(own.folder, 'sluice.yaml')])
  const logins = Logins.open(own.data)
  const identity: Login = {
    url: idp_issuer,
    issuer: idp_issuer,
    resource: '',
    clientId: idp_client_id,
    tokenEndpoint: `${idp_issuer}/token`,
    clientAuth: 'none',
    accessToken: 'none',
    idToken: idp_id_token,
  }
  logins.put({ server: 'issuer:corp', principal: 'ci' }, identity, Date.now())
  logins.close()
  await call(own, 'wiki', token)
  await own.stop()
}

async function login(...words: string[]): Promise<void> {
  let visit: Promise<unknown> | undefined
  const command = ['login', ...words, '--json', '--config', join(gate.folder, 'sluice.yaml')]
  await sluice(command, (text) => {
    const open = /"open":"([^"]+)"/.exec(text)?.[1]
    if (open !== undefined) visit ??= browse(open).catch(() => undefined)
  })
  await visit
}

/** The arguments of `sluice login` that a refusal asks for; undefined if none does. */
async function call(
  through: ServingGate,
  server: string,
  token?: string,
): Promise<string[] | undefined> {
  const client = new PlainClient(through, server)
  client.token = token
  const { answer } = await client.initialize()
  const answers = [answer]
  if (answer.error === undefined)
    for (let round = 0; round < 2; round++) {
      const listed = (await client.ask('tools/list')).answer
      const tool = listed.result?.tools[0]?.name ?? 'test-tool'
      answers.push(listed, (await client.call(tool)).answer)
    }
  const commands = answers.map(({ error }) => /`sluice login (.+)`/.exec(error?.message ?? '')?.[1])
  return commands.find((command) => command !== undefined)?.split(' ')
}

/** Those that fail, with the check that did. */
function failed(checks: readonly Check[], scenarios: readonly string[]): Exceptions {
  const wrong = scenarios.flatMap((name) => {
    const own = checks.filter(({ scenario }) => scenario === name)
    const bad = own.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    if (bad.length === 0 && own.some(({ status }) => status === 'SUCCESS')) return []
    return [[name, bad.map(({ id, errorMessage = '' }) => `${id} ${errorMessage}`).join('; ')]]
  })
  return Object.fromEntries(wrong)
}

const names = (exceptions: Exceptions) => Object.keys(exceptions).sort()

describe('the client half of the suite, through the gate', () => {
  test.runIf(IS_FULL)('2025-11-25: every scenario of the revision', async () => {
    const options = ['--suite', 'auth', '--spec-version', '2025-11-25', ...PATIENT]
    const checks = await runClient(client, options)
    const there = [...new Set(checks.map(({ scenario }) => scenario))]
    expect(there.length).toBeGreaterThanOrEqual(14)
    expect(failed(checks, there)).toEqual({})
  })

  test('2026-07-28: every scored scenario, and the extensions', async () => {
    const checks = await runClient(client, ['--requirements', '2026-07-28', ...PATIENT])
    expect(SCORED).toHaveLength(25)
    const wrong = failed(checks, [...SCORED, ...EXTENSIONS])
    expect(names(wrong), JSON.stringify(wrong)).toEqual(names(OUT_OF_SCOPE))
  })
})
