// The client half of the published conformance suite, through the gate: each scenario is a server that wants a
// token, and its authorisation server. The server is added to one running gate, a person logs in with the
// real command, and a client calls a tool through the gate. What does not pass is named with its cause.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { OperationClient } from '../../packages/sluice/src/cli/connect/ask-operation.ts'
import { PUT_SERVER } from '../../packages/sluice/src/operations/servers.ts'
import { type Check, runClient, scoredScenarios } from '../conformance/run-suite.ts'
import { browse } from '../support/browse.ts'
import { ROOT } from '../support/modules.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, NODE, type RunningGate, startGate } from '../support/start-gate.ts'

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

/** In both wire formats. */
const NOT_YET: Exceptions = {
  'auth/basic-cimd': 'the gate has no client ID metadata document',
  'auth/scope-step-up': 'a person cannot ask for one more scope',
}
const NOT_YET_EXTENSIONS: Exceptions = {
  'auth/client-credentials-jwt': 'no machine grants',
  'auth/client-credentials-basic': 'no machine grants',
  'auth/enterprise-managed-authorization': 'no machine grants',
  'auth/wif-jwt-bearer': 'no machine grants',
  'auth/dpop': 'tokens that are bound to a key are out of scope: no server has asked for one',
  'auth/dpop-nonce': 'the same',
}

interface Scenario {
  readonly name: string
  readonly url: string
  readonly context: Readonly<Record<string, string>>
}

let gate: RunningGate
let reports: Server
let command = ''
let servers = 0
let last: Promise<unknown> = Promise.resolve()

beforeAll(async () => {
  gate = await startGate({ servers: {} })
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
  const file = join(ROOT, 'test/conformance/report-scenario.ts')
  command = `${NODE} ${file} ${(reports.address() as AddressInfo).port}`
})
afterAll(async () => {
  await endGates()
  reports.close()
})

/** What a person and an agent would do with the server of the scenario. */
async function goThrough({ name, url, context }: Scenario): Promise<void> {
  if (!name.startsWith('auth/')) return
  const server = `s${++servers}`
  const entry = { url, auth: authOf(name, context) }
  await new OperationClient({ data: gate.data }, {}).ask(PUT_SERVER, { name: server, entry })
  await login(server)
  // Some servers change their mind when they are called: a person logs in once more then.
  if (await call(server)) return
  await login(server)
  await call(server)
}

function authOf(_: string, context: Scenario['context']): unknown {
  const { client_id, client_secret, issuer } = context
  return issuer === undefined ? 'login' : { login: 'gate', client_id, client_secret, issuer }
}

async function login(server: string): Promise<void> {
  let visit: Promise<unknown> | undefined
  const words = ['login', server, '--json', '--config', join(gate.folder, 'sluice.yaml')]
  await sluice(words, (text) => {
    const open = /"open":"([^"]+)"/.exec(text)?.[1]
    if (open !== undefined) visit ??= browse(open).catch(() => undefined)
  })
  await visit
}

/** False if the server wants another login. */
async function call(server: string): Promise<boolean> {
  const client = new PlainClient(gate, server)
  const { answer } = await client.initialize()
  const refusals = [answer]
  if (answer.error === undefined) {
    for (let round = 0; round < 2; round++) {
      const listed = (await client.ask('tools/list')).answer
      const tool = listed.result?.tools[0]?.name ?? 'test-tool'
      refusals.push(listed, (await client.call(tool)).answer)
    }
  }
  return refusals.every(
    ({ error }) => error?.data?.['sluice/upstream']?.code !== 'UPSTREAM_NEEDS_LOGIN',
  )
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
const PATIENT = ['--timeout', '300000']

describe('the client half of the suite, through the gate', () => {
  test('2025-11-25: every scored scenario, and the extensions', async () => {
    const inTime = await runClient(command, [
      '--suite',
      'auth',
      '--spec-version',
      '2025-11-25',
      ...PATIENT,
    ])
    const there = new Set(inTime.map(({ scenario }) => scenario))
    const others = [...SCORED, ...EXTENSIONS].filter((name) => !there.has(name))
    const forced = ['--spec-version', '2025-11-25', '--force', ...PATIENT]
    const later: Check[] = []
    for (const name of others)
      later.push(...(await runClient(command, ['--scenario', name, ...forced])))
    const checks = [...inTime, ...later]
    expect(SCORED).toHaveLength(25)
    const wrong = failed(checks, SCORED)
    expect(names(wrong), JSON.stringify(wrong)).toEqual(names(NOT_YET))
    const wrongExtensions = failed(checks, EXTENSIONS)
    expect(names(wrongExtensions), JSON.stringify(wrongExtensions)).toEqual(
      names(NOT_YET_EXTENSIONS),
    )
  })

  test('2026-07-28: the same', async () => {
    const checks = await runClient(command, ['--requirements', '2026-07-28', ...PATIENT])
    const wrong = failed(checks, [...SCORED, ...EXTENSIONS])
    const known = { ...NOT_YET, ...NOT_YET_EXTENSIONS }
    expect(names(wrong), JSON.stringify(wrong)).toEqual(names(known))
  })
})
