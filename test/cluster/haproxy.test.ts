// Three gates behind two HAProxy, with the files of deploy/: a session and a console stay at their gate, a gate that stops gets
// no new one, clients of its stdio sessions begin again at another gate, and a rolling restart shows others no error.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { Page } from '../../packages/console/src/admin.test-support.ts'
import { ensureConsole } from '../../scripts/build-console.ts'
import { type FixtureServer, serveFixture } from '../support/fixture-server.ts'
import { findHaproxy, nameHaproxySuite, startHaproxy } from '../support/haproxy.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  freePort,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { forms, rounds } from '../support/runs.ts'
import {
  endGates,
  fixture,
  type GateSpec,
  type RunningGate,
  startGate,
  until,
} from '../support/start-gate.ts'

const TOKEN = `sluice_${'7'.repeat(64)}`
const haproxy = findHaproxy()
/** Between the calls of a client during a restart. */
const PAUSE_MS = 100 / rounds(4)

/** A page that brings its cookie along. */
class Browser extends Page {
  readonly #cookie: string

  constructor(url: string, cookie: string) {
    super(url)
    this.#cookie = cookie
  }

  override ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    return super.ask(method, path, body, { cookie: this.#cookie, ...headers })
  }
}
const postgres = findPostgres()

const isHere = haproxy !== undefined && postgres !== undefined
describe.skipIf(!isHere)(nameHaproxySuite('behind HAProxy', haproxy), () => {
  let database: RunningPostgres
  let balancer: Awaited<ReturnType<typeof startHaproxy>>
  let second: typeof balancer
  let upstream: FixtureServer
  let gateSpec: (at: number) => GateSpec
  const gates: RunningGate[] = []

  beforeAll(async () => {
    await ensureConsole()
    database = await startPostgres(postgres as string)
    const port = await freePort()
    upstream = await serveFixture('session')
    const hash = `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`
    const ports = [await freePort(), await freePort(), await freePort()]
    gateSpec = (at) => ({
      servers: { count: fixture('counter', '/dev/null'), web: { url: upstream.url } },
      config: {
        store: database.url(),
        cluster: { name: `gate-${at + 1}`, key: CLUSTER_KEY },
        public_url: `http://127.0.0.1:${port}`,
        grants: { ci: { hash, policy: 'policy' } },
      },
      arguments: ['--port', String(ports[at])],
    })
    for (const at of ports.keys()) gates.push(await startGate(gateSpec(at)))
    const [one, two, three] = gates.map(({ url }) => new URL(url).host)
    const hosts = [one!, two!, three!] as const
    balancer = await startHaproxy(haproxy as string, port, hosts)
    // Both have the same port, and the kernel gives each some of the connections, as two behind one address would get.
    second = await startHaproxy(haproxy as string, port, hosts)
  })
  afterAll(async () => {
    await balancer?.end()
    await second?.end()
    await endGates()
    await database?.end()
    upstream?.process.kill()
  })

  const open = (server: string) =>
    PlainClient.open(balancer as unknown as RunningGate, server, '2025-11-25', TOKEN)

  test('the console stays at the gate that made its code, also if the browser was at another', async () => {
    const proof = { name: 'ann', pin: PIN }
    for (const [at, gate] of gates.entries()) {
      await makePerson(gate.data, proof.name)
      const { url } = (await askGate(gate.data, { do: 'console', proof })) as { url: string }
      const [address = '', code = ''] = url.split('#code=')
      const loaded = await fetch(address)
      expect(loaded.status).toBe(200)
      const [cookie = ''] = loaded.headers.getSetCookie()[0]?.split(';') ?? []
      expect(cookie).toBe(`sluice_gate=gate-${at + 1}`)
      const page = new Browser(balancer.url, cookie)
      expect((await page.signIn(code)).status).toBe(200)
      // All at once, so that they are connections of their own, at both balancers.
      const asked = Array.from({ length: 12 }, () => page.ask('GET', '/api/servers'))
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
    }
  })

  test('a session stays at its gate, and its client begins again when that gate stops', async () => {
    const clients = await Promise.all(Array.from({ length: 6 }, () => open('count')))
    for (let turn = 0; turn < 3; turn++)
      for (const client of clients)
        expect((await client.call('read')).status, 'the session is known').toBe(200)
    const [first] = gates as [RunningGate]
    await first.stop()
    const replies = await Promise.all(clients.map((client) => client.call('read')))
    const lost = clients.filter((_, at) => replies[at]?.status !== 200)
    expect(lost.length).toBeLessThan(clients.length)
    for (const client of lost) {
      client.session = undefined
      await until(async () => (await client.initialize()).status === 200)
      expect((await client.call('read')).answer.result).toBeDefined()
    }
  })

  /** Of the first gate, which has stopped, and of gates that serve. */
  test('a rolling restart shows clients no error, and their sessions go on', async () => {
    const clients = await Promise.all(Array.from({ length: 3 }, () => open('web')))
    const problems: string[] = []
    let answers = 0
    let isOver = false
    const callOn = async (client: PlainClient): Promise<void> => {
      while (!isOver) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        const { status, text } = await client
          .call('test_simple_text')
          .catch(({ message }: Error) => ({
            status: 0,
            text: message,
          }))
        if (status === 200 && text.includes('"result"') && !text.includes('"isError":true'))
          answers++
        else problems.push(`${status} ${text}`)
      }
    }
    const calling = clients.map(callOn)
    for (const [at, gate] of forms([...gates.entries()], 2)) {
      const before = answers
      await gate.stop()
      gates[at] = await startGate({ ...gateSpec(at), folder: gate.folder })
      await until(() => answers > before)
    }
    isOver = true
    await Promise.all(calling)
    expect(problems).toEqual([])
    expect(answers).toBeGreaterThan(clients.length)
  })
})
