// Faults of the database, of a gate and of the network, from outside: what a client sees, and what is never
// violated, as the table of docs/concepts/scale.md says.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { People } from '../../packages/access/src/identity/people/people.ts'
import { writeLock } from '../../packages/catalogue/src/pins/lock-file.ts'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { agentsFor } from '../../packages/cli/src/run/builtin-agents.ts'
import type { PolicyView } from '../../packages/console/src/endpoints/policy-endpoints.ts'
import { SESSION_TAKEN } from '../../packages/gateway/src/shared/transport.ts'
import { makeDocument } from '../../packages/gateway/src/state/documents.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import type { JsonObject } from '../../packages/policy/src/values/json.ts'
import { type FixtureServer, serveFixture } from '../support/fixture-server.ts'
import { ROOT } from '../support/modules.ts'
import { endOwnGates, ownGate, serveGate } from '../support/own-gate.ts'
import { makePerson, PIN } from '../support/person.ts'
import { PlainClient, recordsOf } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  canFollow,
  findPostgres,
  namePostgresSuite,
  nameStandbyTest,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  fixture,
  type RunningGate,
  startGate,
  until,
  writeScript,
} from '../support/start-gate.ts'
import { postStateless } from '../support/stateless-client.ts'
import { TcpRelay } from '../support/tcp-relay.ts'

const postgres = findPostgres()
const POLICY = `version: 1
default: allow
tools:
  count/write: { action: allow, rate_limit: { max: 40, window: 1h, per: everyone } }
  count/read: { action: allow, rate_limit: { max: 2, window: 1h, per: everyone } }
`

const LABELLED = `version: 1
default: allow
labels: { count/read: [private] }
guardrails:
  - { name: stays in, match: { tools: [count/write] }, when: session.saw.private, action: deny, reason: private }
  - { name: not after, match: { tools: [count/slow] }, when: 'has(args.after) && called("count/write")', extra_args: allow, action: deny }
  - { name: not read, match: { tools: [count/slow] }, when: 'has(args.to) && origin.to == "prose"', extra_args: allow, action: deny }
answers: { count/fail: { redact: [secret], seal: [count/slow] } }
tools: { count/fail: { action: allow, rate_limit: { max: 2, window: 1h, per: everyone } } }
`
const TOKEN = `glpat-${'Zx9kQ2vLmN7pRt4wYb3c'}`
const TURNS = [{ toolCalls: [{ name: 'count__write', input: { n: 1 } }] }, { text: 'done' }]

describe.skipIf(postgres === undefined)(namePostgresSuite('faults of a cluster', postgres), () => {
  let server: RunningPostgres
  let relay: TcpRelay
  /** The server that gates reach over the relay; another one after a failover. */
  let primary: RunningPostgres
  let databases = 0
  /** Standbys, and relays between them: ended whatever fails. */
  const others: { end(): Promise<void> }[] = []
  const keep = <Ended extends { end(): Promise<void> }>(other: Ended): Ended => {
    others.push(other)
    return other
  }

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    primary = server
    relay = await TcpRelay.start(server.port)
  })
  afterEach(async () => {
    relay.mode = 'pass'
    relay.delayMs = 0
    await endOwnGates()
    await endGates()
    for (const web of webs.splice(0)) web.process.kill()
  })
  afterAll(async () => {
    await relay?.end()
    await Promise.allSettled(others.map((each) => each.end()))
    await server?.end()
  })

  const webs: FixtureServer[] = []
  async function serveWeb(): Promise<FixtureServer> {
    const web = await serveFixture('session')
    webs.push(web)
    return web
  }

  async function newCluster(port = server.port, policy = POLICY) {
    const database = `faults_${++databases}`
    await primary.createDatabase(database)
    const log = join(scratchDirectory(), 'calls')
    const spec = (name: string, at = port, more: { servers?: object; address?: string } = {}) => {
      const { address, servers = {} } = more
      const store = `postgres://sluice@127.0.0.1:${at}/${database}`
      const cluster = { name, key: CLUSTER_KEY, ...(address === undefined ? {} : { address }) }
      return {
        servers: { count: fixture('counter', log), ...servers },
        policy,
        config: { store, cluster },
      }
    }
    const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    return { calls, database, spec }
  }

  async function open(gate: { readonly url: string }, name = 'count'): Promise<PlainClient> {
    const client = await PlainClient.open(gate as RunningGate, name)
    await client.ask('tools/list')
    return client
  }

  const isReady = async ({ url }: { readonly url: string }) =>
    (await fetch(`${url}/readyz`)).status === 200

  /** The primary is killed, and gates reach the standby. */
  async function failOver(standby: RunningPostgres): Promise<void> {
    await primary.stop('SIGKILL')
    standby.promote()
    primary = standby
    relay.cut()
    relay.to = standby.port
    relay.mode = 'pass'
  }

  // In a process of its own, as a gate in this process could not be stopped.
  test('a gate is stopped (SIGSTOP) and goes on: nothing by an old state, nothing twice', async () => {
    const web = await serveWeb()
    const { calls, spec } = await newCluster()
    const servers = { web: { url: web.url } }
    const stopped = await startGate(spec('stopped', server.port, { servers }))
    const other = await serveGate(spec('other', server.port, { servers }))
    const count = await open(stopped)
    const page = await open(stopped, 'web')
    const through = (client: PlainClient, name: string) =>
      Object.assign(new PlainClient(other, name), { session: client.session })
    const open1 = through(count, 'count').call('slow')
    await until(() => calls().length === 1)
    stopped.process.kill('SIGSTOP')
    // It was passed on, and its gate says nothing any more: unknown, and not sent again.
    const lost = await open1
    expect([lost.status, lost.text]).toEqual([502, expect.stringContaining('is unknown')])
    expect((await through(count, 'count').call('slow')).status).toBe(404)
    await until(
      async () =>
        (await through(page, 'web').ask('tools/list')).answer?.result?.tools !== undefined,
    )
    const waiting = count.call('write')
    await sluiceJson(['freeze', '--data', other.data])
    stopped.process.kill('SIGCONT')
    expect((await waiting).text).toMatch(/FROZEN|was stopped|cannot be recorded/)
    expect((await count.call('write')).text).toContain('FROZEN')
    // Its session is at the other gate now, and goes on through this one.
    expect((await page.ask('ping')).status).toBe(200)
    expect(calls()).toHaveLength(1)
  })

  test('slow, or an answer is lost: calls wait, then are refused, and nothing stays charged', async () => {
    const { calls, spec } = await newCluster()
    const gate = await ownGate(spec('slow', relay.port))
    const client = await open(gate)
    /** The caller is told that it may try again, the log says why. */
    const expectLate = async () => {
      const { text, answer } = await client.call('write')
      expect(text).toContain('GATE_UNAVAILABLE')
      const { callId } = answer.result._meta['sluice/decision']
      const line = gate.log.find((each) => each.includes(`the call ${callId} cannot`))
      expect(line).toContain('within 900 ms')
    }
    relay.delayMs = 150
    expect((await client.call('write')).answer.result).toBeDefined()
    relay.delayMs = 1_500
    await expectLate()
    relay.delayMs = 0
    await until(() => isReady(gate))
    // The commit arrives, its answer does not.
    relay.mode = 'deaf'
    await expectLate()
    relay.cut()
    relay.mode = 'pass'
    await until(() => isReady(gate))
    await until(async () => (await client.call('write')).text.includes('RATE_LIMITED'))
    expect(calls()).toHaveLength(40)
  })

  test('a verdict in an outage is an error in the time of calls, and nothing of it takes effect later', async () => {
    const policy =
      'version: 1\ndefault: deny\ntools: { count/slow: { action: require_approval } }\n'
    const { calls, spec } = await newCluster(relay.port, policy)
    const folder = scratchDirectory()
    const people = People.open(join(folder, 'data'))
    const system = { kind: 'system', roles: ['approver'], groups: [], owns: [] } as const
    const { token } = await people.add({ name: 'desk', ...system }, { token: true }, Date.now())
    people.close()
    const gate = await serveGate({ ...spec('verdicts', relay.port), folder })
    const client = await open(gate)
    const held = client.call('slow')
    const ask = (path: string, body?: object) =>
      fetch(`${gate.url}/api/approvals${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(1_900),
      })
    const list = async () =>
      ((await (await ask('')).json()) as { requests: { id: string; state: string }[] }).requests
    const steps = (name: string) =>
      recordsOf(gate).filter((each) => 'name' in each && each.name === `approval-${name}`)
    await until(() => steps('proposed').length === 1)
    const [{ id } = { id: '' }] = await list()
    const approve = () => ask(`/${id}/verdict`, { verdict: 'approve' })
    for (const [end, whenKnown] of [
      // The record arrives and its answer does not; or nothing arrives.
      [() => Object.assign(relay, { mode: 'deaf' }), /temporary outage|does not answer/],
      [() => relay.cut(), /nothing is changed: the shared store does not answer/],
    ] as const) {
      end()
      const first = await approve()
      expect([first.status, first.headers.get('retry-after')]).toEqual([503, '5'])
      expect(await first.json()).toMatchObject({
        error: { code: 'GATE_UNAVAILABLE', message: expect.stringContaining('it is not done') },
      })
      const second = await approve()
      expect([second.status, await second.text()]).toEqual([503, expect.stringMatching(whenKnown)])
      relay.cut()
      relay.mode = 'pass'
      await until(() => isReady(gate))
      expect(await list()).toMatchObject([{ id, state: 'pending' }])
    }
    expect(calls()).toHaveLength(0)
    await until(async () => (await approve()).status === 200)
    expect((await held).answer.result?.isError).not.toBe(true)
    expect(calls()).toHaveLength(1)
    // The one that arrived, and the last.
    expect(steps('approved').length).toBeLessThanOrEqual(2)
    const outages = recordsOf(gate).filter((each) => 'name' in each && each.name === 'outage')
    expect(outages.at(-1)).toMatchObject({ detail: { why: 'the database did not answer' } })
  })

  test('policies, the lock file and servers in an outage: refused in the time of calls, and nothing takes effect later', async () => {
    const { spec } = await newCluster(relay.port)
    const folder = scratchDirectory()
    const file = (name: string) => join(folder, name)
    await makePerson(file('data'))
    const people = People.open(file('data'))
    const system = { kind: 'system', roles: ['policy-manager'], groups: [], owns: [] } as const
    const { token } = await people.add({ name: 'desk', ...system }, { token: true }, Date.now())
    people.close()
    const gate = await serveGate({ ...spec('changes', relay.port), folder })
    const at = (path: string, body?: object) =>
      fetch(`${gate.url}/api/policy${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'PUT', body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(2_800),
      })
    const proof = { name: 'ann', pin: PIN }
    const ask = async (word: string, more: JsonObject = {}) =>
      (await askGate(gate.data, { do: word, ...more }, { waitMs: 2_800 })) ?? {}
    const inForce = async () => {
      const { documents } = (await (await at('')).json()) as PolicyView
      return documents[0]?.textInForce
    }
    const looser = POLICY.replace('max: 40', 'max: 41')
    const loosest = POLICY.replace('max: 40', 'max: 42')
    const base = makeDocument('policy', '', POLICY).digest
    const save = async () => {
      const saved = await at('', { name: 'policy', text: looser, base, why: '' })
      if (saved.status === 503) throw new Error(await saved.text())
      expect([saved.status, await saved.text()]).toEqual([200, expect.anything()])
    }
    const waiting = async () => {
      let answer: JsonObject | undefined
      // What a PIN has left may have been committed without an answer: then it is a change of another gate.
      await until(async () => {
        answer = await ask('apply').catch(() => undefined)
        return answer !== undefined
      })
      const { digest, lock } = answer ?? {}
      return { digest, lock: (lock as { digest?: string } | null)?.digest }
    }
    /** Each with what is there to be changed, the change, and whether it is made. */
    const changes: readonly [() => void, () => Promise<unknown>, () => Promise<boolean>][] = [
      [
        () => writeFileSync(file('policy.yaml'), POLICY),
        save,
        async () => (await inForce()) === looser,
      ],
      [
        () => writeFileSync(file('policy.yaml'), loosest),
        () => ask('apply', { digest: shown.digest ?? null, proof }),
        async () => (await inForce()) === loosest,
      ],
      [
        () =>
          writeFileSync(
            file('sluice.lock'),
            writeLock([
              {
                server: 'count',
                name: 'new',
                digest: `sha256:${'0'.repeat(64)}`,
                category: 'Read',
                risk: 'low',
              },
            ]),
          ),
        () => ask('apply', { lock: shown.lock ?? null, proof }),
        async () => (await waiting()).lock === undefined,
      ],
    ]
    let shown: Awaited<ReturnType<typeof waiting>> = { digest: null, lock: undefined }
    for (const [prepare, change, isMade] of changes)
      for (const end of [() => Object.assign(relay, { mode: 'deaf' }), () => relay.cut()]) {
        prepare()
        shown = await waiting()
        end()
        await expect(change()).rejects.toThrow(/temporary outage|is unknown|nothing is changed/)
        relay.cut()
        relay.mode = 'pass'
        await until(() => isReady(gate))
        expect(await isMade()).toBe(false)
      }
    for (const [prepare, change, isMade] of changes) {
      prepare()
      shown = await waiting()
      await change()
      expect(await isMade()).toBe(true)
    }
  })

  test('P1: the database is read-only: not ready everywhere, no denials, and one message', async () => {
    const { database, spec } = await newCluster()
    const titles: string[] = []
    const receiver = createServer(async (request, response) => {
      titles.push(((await json(request)) as { title: string }).title)
      response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    receiver.unref()
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const { config, ...rest } = spec('readonly')
    const gate = await ownGate({
      ...rest,
      config: {
        ...config,
        metrics: { token: 'a-token-for-metrics' },
        alerts: { every: '1s' },
        approvals: { webhook: { url: hook, secret: 'of the stage, long enough' } },
      },
    })
    const client = await open(gate)
    const readMetrics = async () => {
      const headers = { authorization: 'Bearer a-token-for-metrics' }
      return (await fetch(`${gate.url}/metrics`, { headers })).text()
    }
    expect(await readMetrics()).toMatch(/^sluice_ready 1$/m)
    const admin = new PostgresConnections(parsePostgresUrl(server.url()))
    const set = async (change: string) => {
      await admin.query(`ALTER DATABASE ${database} ${change}`)
      // Connections keep the setting that they began with.
      const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`
      await admin.query(sql)
    }
    await set('SET default_transaction_read_only = on')
    await until(async () => (await client.call('write')).text.includes('GATE_UNAVAILABLE'))
    // No call is needed for it to be noticed, and it does not come and go.
    await until(async () => !(await isReady(gate)))
    await until(() => titles.length > 0)
    const body = await (await fetch(`${gate.url}/readyz`)).text()
    expect(body).toBe('not ready: calls cannot be recorded in the shared store\n')
    const status = await sluiceJson(['status', '--data', gate.data])
    expect(status).toMatchObject({ ready: false, why: expect.stringMatching(/refuses to write/) })
    const metrics = await readMetrics()
    expect(metrics).toMatch(/^sluice_ready 0$/m)
    expect(metrics).toMatch(/^sluice_ledger_state\{state="writing"\} 0$/m)
    expect(metrics).toMatch(/action="unavailable",code="GATE_UNAVAILABLE"\} [1-9]/)
    expect(metrics).not.toMatch(/action="deny"/)
    await set('RESET default_transaction_read_only')
    await admin.close()
    await until(() => isReady(gate))
    expect((await client.call('write')).answer.result).toBeDefined()
    await until(() => titles.length > 1)
    const outages = recordsOf(gate).filter((each) => 'name' in each && each.name === 'outage')
    expect(outages).toMatchObject([{ detail: { why: expect.stringMatching(/read-only/) } }])
    expect(titles).toEqual([
      'Calls cannot be recorded, and none is forwarded',
      'Calls are recorded again',
    ])
    const refused = gate.log.filter((line) => line.startsWith('no call is admitted'))
    expect(refused).toHaveLength(1)
    receiver.close()
  })

  test('P2: a session that cannot be looked up is an outage with its id, and names no database', async () => {
    const { spec } = await newCluster()
    const first = await ownGate(spec('first'))
    const second = await ownGate(spec('second', relay.port))
    const client = await open(first)
    const through = Object.assign(new PlainClient(second, 'count'), { session: client.session })
    expect((await through.ask('ping')).status).toBe(200)
    relay.cut()
    const lost = await through.call('write')
    expect([lost.status, lost.headers.get('retry-after')]).toEqual([503, '5'])
    expect(lost.answer).toMatchObject({
      id: 2,
      error: {
        message: expect.stringMatching(/^temporary outage: .*try again in 5 s$/),
        data: { 'sluice/decision': { code: 'GATE_UNAVAILABLE', retryAfterMs: 5_000 } },
      },
    })
    expect(lost.text).not.toMatch(/postgres|127\.0\.0\.1|ECONN/)
    const why = 'a request could not be handled'
    const lines = () => second.log.filter((line) => line.startsWith(why))
    expect(lines()).toEqual([expect.stringContaining(`127.0.0.1:${relay.port}`)])
    // L11: one line tells of an outage, and not one of each request.
    for (let n = 0; n < 10; n++) await through.call('write')
    expect(lines()).toHaveLength(1)
  })

  // test/cluster/clock.test.ts has a clock that is wrong at the start, and one that is set.
  test.runIf(IS_FULL)(
    "a gate's clock is wrong by an hour: it says so and admits nothing, and its sessions go on at another",
    async () => {
      const web = await serveWeb()
      const servers = { web: { url: web.url } }
      const { calls, spec } = await newCluster()
      const before = process.env.NODE_OPTIONS
      process.env.NODE_OPTIONS = `--import=${join(ROOT, 'test/support/clock-ahead.mjs')}`
      const gate = await startGate(spec('ahead', server.port, { servers })).finally(() => {
        if (before === undefined) delete process.env.NODE_OPTIONS
        else process.env.NODE_OPTIONS = before
      })
      const client = await open(gate)
      expect((await client.call('write')).text).toContain('GATE_UNAVAILABLE')
      const ready = await fetch(`${gate.url}/readyz`)
      expect([ready.status, await ready.text()]).toEqual([
        503,
        expect.stringMatching(/the clock of this gate is 3\d{3} s ahead/),
      ])
      expect(calls()).toHaveLength(0)
      const page = await open(gate, 'web')
      const other = await ownGate(spec('right', server.port, { servers }))
      const through = Object.assign(new PlainClient(other as unknown as RunningGate, 'web'), {
        session: page.session,
      })
      // The clock of the database tells who is there, not that of the gate.
      await until(async () => (await through.ask('tools/list')).text.includes('"tools"'))
      await until(() => gate.log.includes(SESSION_TAKEN))
    },
  )

  test('the network between gates is cut: sessions are taken over, or over', async () => {
    const web = await serveWeb()
    const servers = { web: { url: web.url } }
    const { spec } = await newCluster()
    const hidden = await ownGate(spec('hidden', server.port, { servers, address: 'gate.invalid' }))
    const other = await ownGate(spec('other', server.port, { servers }))
    const page = await open(hidden, 'web')
    const count = await open(hidden)
    const through = (client: PlainClient, name: string) =>
      Object.assign(new PlainClient(other as unknown as RunningGate, name), {
        session: client.session,
      })
    const listTools = async () => (await through(page, 'web').ask('tools/list')).text
    expect(await listTools()).toContain('"tools"')
    expect((await through(count, 'count').call('read')).status).toBe(404)
    // The gate that had it ends it at itself, and not at the server.
    await until(() => hidden.log.some((line) => line.includes(SESSION_TAKEN)))
    expect(await listTools()).toContain('"tools"')
  })

  test.skipIf(!canFollow(postgres))(
    nameStandbyTest('S2: the primary is killed under load and a standby promoted', postgres),
    async () => {
      const { calls, database, spec } = await newCluster(relay.port)
      const replication = keep(await TcpRelay.start(server.port))
      const standby = keep(await server.startStandby(replication.port))
      const admin = new PostgresConnections(parsePostgresUrl(server.url(database)))
      await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await admin.query('SELECT pg_reload_conf()')
      await until(async () => {
        const [row] = await admin.query('SELECT sync_state FROM pg_stat_replication')
        return row?.sync_state === 'sync'
      })
      await admin.close()
      const gates = [await ownGate(spec('a')), await ownGate(spec('b'))]
      const clients = await Promise.all(gates.map((gate) => open(gate)))
      let number = 0
      const load = async (client: PlainClient, until: () => boolean) => {
        while (!until()) {
          await client.call('write', { number: ++number }).catch(() => {})
          // Without the database calls are refused at once.
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      }
      let isOver = false
      const loads = clients.flatMap((client) => [
        load(client, () => isOver),
        load(client, () => isOver),
      ])
      await until(() => calls().length >= 10)
      await failOver(standby)
      for (const gate of gates) await until(() => isReady(gate))
      await until(
        async () =>
          (await clients[0]?.call('write', { number: ++number }))?.text.includes('RATE_LIMITED') ===
          true,
      )
      isOver = true
      await Promise.all(loads)
      // Every commit that a gate was told of is there: exactly the limit, each call once.
      expect(calls().length).toBeLessThanOrEqual(40)
      expect(new Set(calls()).size).toBe(calls().length)
      const verified = await sluiceJson(['ledger', 'verify', '--store', standby.url(database)])
      expect(verified).toMatchObject({ ok: true })
    },
  )

  test.skipIf(!canFollow(postgres))(
    nameStandbyTest(
      'S2: a standby that is behind is promoted: gates give back what it has lost',
      postgres,
    ),
    async () => {
      const { calls, database, spec } = await newCluster(relay.port, LABELLED)
      const agents = { servers: { agents: { builtin: 'agents' as const } } }
      const a = await ownGate(spec('a', relay.port, agents), { agents: agentsFor })
      const b = await ownGate(spec('b'))
      writeScript(a.data, 'story', TURNS)
      const helper = await open(a, 'agents')
      const made = await helper.value('wasm_agent_create', {
        model: 'script:story',
        tools: ['count/*'],
      })
      const prompt = { agentId: made.agent.id as string, input: 'go' }
      const early = await open(a)
      // What the common session has called and read, as this gate knows it.
      const common = async (gate: { readonly url: string }, name: string, args = {}) => {
        const params = { name, arguments: args }
        return (await postStateless(gate as RunningGate, 'count', 'tools/call', params)).text
      }
      const judged = [{ after: 1 }, { to: 'ann@example.com' }]
      for (const args of judged) expect(await common(a, 'slow', args)).not.toContain('DENIED')
      const replication = keep(await TcpRelay.start(primary.port))
      const late = keep(await primary.startStandby(replication.port))
      replication.cut()
      // Everything from here on is lost with the primary: labels, a session, a step, a charge, a gate.
      const fresh = await open(a)
      for (const client of [early, fresh]) expect((await client.call('read')).status).toBe(200)
      const failed = await fresh.call('fail', { token: TOKEN })
      expect(failed.text).not.toContain('RATE_LIMITED')
      const [placeholder = ''] = /\[sealed GitLab token [a-z2-7]{16}\]/.exec(failed.text) ?? []
      expect((await helper.value('wasm_agent_prompt', prompt)).response).toBe('done')
      const effects = () => calls().filter((line) => line.includes(prompt.agentId))
      expect(effects()).toHaveLength(1)
      const young = await ownGate(spec('young'))
      expect((await (await open(young)).call('slow')).answer.result).toBeDefined()
      // Used at another gate too, which does not come back: nobody who is left knows of it.
      const gone = await ownGate(spec('gone'))
      expect(await common(gone, 'write', { to: 'ann@example.com' })).not.toContain('DENIED')
      await gone.stop()
      await failOver(late)
      for (const gate of [a, b, young]) await until(() => isReady(gate))
      for (const client of [early, fresh]) {
        const { session } = client
        expect((await client.call('write')).text).toContain('DENIED')
        const through = Object.assign(new PlainClient(b as unknown as RunningGate, 'count'), {
          session,
        })
        expect((await through.call('write')).text).toContain('DENIED')
      }
      // Until a gate has noticed the loss it refuses, and charges nothing.
      const recorded = async (call: () => Promise<string>) => {
        let text = ''
        await until(async () => {
          text = await call()
          return !text.includes('cannot be recorded')
        })
        return text
      }
      for (const args of judged)
        expect(await recorded(() => common(a, 'slow', args))).toContain('DENIED')
      const sealed = async () => (await fresh.call('slow', { token: placeholder })).text
      expect(await recorded(sealed)).not.toContain(TOKEN)
      expect(calls().at(-1)).toContain(TOKEN)
      // What was charged counts.
      const admit = () => recorded(async () => (await fresh.call('fail')).text)
      expect(await admit()).not.toContain('RATE_LIMITED')
      expect(await admit()).toContain('RATE_LIMITED')
      // The agent has forgotten its run; the call of it is not made again.
      await until(async () => {
        const again = await helper.value('wasm_agent_prompt', prompt).catch(() => ({}))
        return again.response === 'done'
      })
      const { state } = await helper.value('wasm_agent_state', { agentId: prompt.agentId })
      expect(JSON.stringify(state.messages)).toContain('OUTCOME_UNKNOWN')
      expect(effects()).toHaveLength(1)
      expect((await (await open(young)).call('slow')).answer.result).toBeDefined()
      for (const gate of [a, young])
        expect(recordsOf(gate).map((each) => 'name' in each && each.name)).toContain('failover')
      const left = await sluiceJson(['ledger', 'verify', '--store', late.url(database)])
      expect(left).toMatchObject({ ok: true })
      expect(left.chains).toHaveLength(3)
    },
  )
})
