// Sessions at gates that share one PostgreSQL: labels, limits and the number of sessions are those of the
// session, whichever gate a request comes to.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { identityFile } from '../../packages/access/src/identity/identity-file.ts'
import { discoverLogin } from '../../packages/access/src/identity/oauth/discover-login.ts'
import { LoginFlow } from '../../packages/access/src/identity/oauth/login-flow.ts'
import { Logins } from '../../packages/access/src/identity/oauth/logins.ts'
import { openDatabase } from '../../packages/ledger/src/store/sqlite/open.ts'
import { GATE, serveAuthorisation } from '../servers/authorisation.ts'
import { serveGuarded } from '../servers/guarded.ts'
import { browse } from '../support/browse.ts'
import { serveFixture } from '../support/fixture-server.ts'
import { endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, type Reply } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { forms, rounds } from '../support/runs.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, fixture, type RunningGate, startGate, until } from '../support/start-gate.ts'
import { postStateless } from '../support/stateless-client.ts'
import { TcpRelay } from '../support/tcp-relay.ts'

const postgres = findPostgres()
/** At once, at all gates: several at each. */
const CALLERS = rounds(32)
const NAMES = forms(['a', 'b', 'c', 'd'], 2)
const OPEN = 'version: 1\ndefault: allow\n'
const LABELLED = `version: 1
default: allow
labels: { count/read: [private] }
guardrails: [{ name: stays in, match: { tools: [count/write] }, when: session.saw.private, action: deny, reason: private }]
tools:
  count/slow: { action: allow, rate_limit: { max: 2, window: 1h, per: session } }
`

type Caller = { call(name: string): Promise<Reply> }

describe.skipIf(postgres === undefined)(namePostgresSuite('shared sessions', postgres), () => {
  let server: RunningPostgres
  let relay: TcpRelay
  let databases = 0

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
    relay = await TcpRelay.start(server.port)
  })
  afterEach(async () => {
    relay.mode = 'pass'
    await endOwnGates()
  })
  afterAll(async () => {
    await relay?.end()
    await server?.end()
  })

  async function startCluster(
    names: readonly string[],
    policy = LABELLED,
    more: { servers?: object; sessions?: object; auth?: object; views?: object } = {},
  ) {
    const database = `sessions_${++databases}`
    await server.createDatabase(database)
    const log = join(scratchDirectory(), 'calls')
    const gates: (OwnGate & RunningGate)[] = []
    for (const name of names) {
      const port = name === 'cut' ? relay.port : server.port
      const store = `postgres://sluice@127.0.0.1:${port}/${database}`
      const { servers: others = {}, ...settings } = more
      const config = { store, cluster: { name, key: CLUSTER_KEY }, ...settings }
      const servers = { count: fixture('counter', log), ...others }
      const gate = await ownGate({ servers, policy, config })
      gates.push({ ...gate, store } as unknown as OwnGate & RunningGate)
    }
    const calls = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
    return { gates, calls }
  }

  const stateless = async (gate: RunningGate) => {
    await postStateless(gate, 'count', 'tools/list')
    return {
      call: (name: string) => postStateless(gate, 'count', 'tools/call', { name, arguments: {} }),
    }
  }

  test('a label that came in at one gate counts at the next call at another', async () => {
    const { gates, calls } = await startCluster(['a', 'b'])
    const [a, b] = (await Promise.all(gates.map(stateless))) as [Caller, Caller]
    expect((await b.call('write')).answer.result).toBeDefined()
    expect((await a.call('read')).answer.result).toBeDefined()
    expect(JSON.stringify((await b.call('write')).answer)).toContain('DENIED')
    expect(JSON.stringify((await a.call('write')).answer)).toContain('DENIED')
    const slow = await Promise.all([a, b, a, b].map((client) => client.call('slow')))
    const passed = slow.filter(({ answer }) => !JSON.stringify(answer).includes('RATE_LIMITED'))
    expect(passed).toHaveLength(2)
    expect(calls()).toHaveLength(4)
    // A person ends it at one gate: it has forgotten its labels there, and at the other with its next call.
    const { data } = gates[0] as RunningGate
    const { sessions } = await sluiceJson(['sessions', 'list', '--data', data])
    await atTerminal(data)
    for (const { id } of sessions)
      expect(await sluice(['sessions', 'end', id, '--data', data])).toMatchObject({ code: 0 })
    expect(JSON.stringify((await b.call('slow')).answer)).not.toContain('RATE_LIMITED')
    for (const client of [b, a])
      expect(JSON.stringify((await client.call('write')).answer)).not.toContain('DENIED')
  })

  test('nothing that brings a new label is sent before every gate can know of it', async () => {
    const policy = LABELLED.replace('count/read:', 'count/slow:')
    const { gates, calls } = await startCluster(['cut', 'b'], policy)
    const [cut, b] = (await Promise.all(gates.map(stateless))) as [Caller, Caller]
    let isAnswered = false
    const answer = cut.call('slow').finally(() => {
      isAnswered = true
    })
    await until(() => calls().length === 1)
    relay.cut()
    await new Promise((resolve) => setTimeout(resolve, 800))
    expect(isAnswered).toBe(false)
    expect((await b.call('write')).answer.result.isError).not.toBe(true)
    relay.mode = 'pass'
    expect((await answer).answer.result).toBeDefined()
    expect(JSON.stringify((await b.call('write')).answer)).toContain('DENIED')
  })

  test('a principal has as many sessions as it may have, at all gates together', async () => {
    const more = { sessions: { max: 2, window: '1h' } }
    const { gates, calls } = await startCluster(forms(['a', 'b', 'c'], 2), LABELLED, more)
    const clients = await Promise.all(
      [...gates, ...gates].map((gate) => PlainClient.open(gate, 'count')),
    )
    for (const client of clients) await client.ask('tools/list')
    await Promise.all([...clients, ...clients].map((client) => client.call('slow')))
    expect(calls()).toHaveLength(2 * 2)
    const ids: string[] = []
    for (const { data } of gates) {
      const { sessions } = await sluiceJson(['sessions', 'list', '--data', data])
      ids.push(...sessions.map(({ id }: { id: string }) => id))
    }
    expect(new Set(ids).size).toBe(2)
    // A token of one gate selects one session at all of them, past the quota the newest.
    const { token } = await sluiceJson(['sessions', 'token', '--data', gates[0]?.data ?? ''])
    const named = await postStateless(
      gates[1] as RunningGate,
      'count',
      'tools/call',
      { name: 'slow', arguments: {} },
      { 'sluice-session': token },
    )
    expect(JSON.stringify(named.answer)).toContain('RATE_LIMITED')
  })

  test('a session with a view comes to any gate, and its calls count as those of their tools', async () => {
    const views = {
      desk: { tools: ['count/*'], as: { 'count/read': 'look', 'count/write': 'put' } },
    }
    const { gates } = await startCluster(['a', 'b'], LABELLED, { views })
    const [a, b] = gates as unknown as [RunningGate, RunningGate]
    const first = await PlainClient.open(a, '@desk')
    const elsewhere = Object.assign(new PlainClient(b, '@desk'), { session: first.session })
    const { tools } = (await elsewhere.ask('tools/list')).answer.result
    expect(tools.map(({ name }: { name: string }) => name)).toContain('look')
    expect((await elsewhere.call('look')).answer.result.isError).not.toBe(true)
    expect(JSON.stringify((await first.call('put')).answer)).toContain('DENIED')
  })

  test('S4: requests of one session come to any gate; if its gate dies, it goes on', async () => {
    const upstream = await serveFixture('session')
    const web = { servers: { web: { url: upstream.url } } }
    const { gates, calls } = await startCluster(
      ['a', 'b', 'c'],
      'version: 1\ndefault: allow\n',
      web,
    )
    const [a, b, c] = gates as unknown as [RunningGate, RunningGate, RunningGate]
    const at = (gate: RunningGate, of: PlainClient, server: string) =>
      Object.assign(new PlainClient(gate, server), { session: of.session })
    const first = await PlainClient.open(a, 'count')
    for (const gate of [b, c]) {
      const client = at(gate, first, 'count')
      expect((await client.ask('tools/list')).answer.result.tools).toHaveLength(4)
      expect((await client.call('read')).answer.result).toBeDefined()
    }
    expect(calls()).toHaveLength(2)
    const web1 = await PlainClient.open(a, 'web')
    const tools = (await at(b, web1, 'web').ask('tools/list')).answer.result.tools
    expect(tools.length).toBeGreaterThan(0)
    // The stream of the session, through another gate.
    const aborter = new AbortController()
    const stream = await fetch(at(c, first, 'count').url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': first.session ?? '' },
      signal: aborter.signal,
    })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    aborter.abort()
    // Somebody else's session is none.
    const forged = at(b, first, 'count')
    forged.session = `${forged.session?.slice(0, -6)}AAAAAA`
    expect((await forged.call('read')).status).toBe(404)
    await gates[0]?.stop()
    expect((await at(b, web1, 'web').ask('tools/list')).answer.result.tools).toEqual(tools)
    expect((await at(c, web1, 'web').ask('tools/list')).answer.result.tools).toEqual(tools)
    expect((await at(b, first, 'count').call('read')).status).toBe(404)
    upstream.process.kill()
  })

  test('S7: a rotating refresh token is used once, and what it gives serves every gate', async () => {
    const authorisation = await serveAuthorisation()
    const guarded = await serveGuarded(authorisation.issuer)
    const desk = { desk: { url: guarded.url, auth: 'login' } }
    const { gates } = await startCluster(NAMES, OPEN, { servers: desk })
    const redirect = 'http://127.0.0.1:1/callback'
    const flow = await LoginFlow.begin(await discoverLogin(guarded.url, undefined), {
      url: guarded.url,
      redirect,
      scopes: [],
    })
    const { url } = await browse(flow.address, redirect)
    const login = await flow.finish(new URL(url).searchParams, Date.now())
    const logins = Logins.open(gates[0]?.data ?? '')
    logins.put({ server: 'desk', principal: '' }, login, Date.now())
    logins.close()
    const clients: PlainClient[] = []
    for (const gate of gates)
      await until(async () => {
        const client = new PlainClient(gate, 'desk')
        const { answer } = await client.initialize()
        if (answer.result !== undefined) clients.push(client)
        return answer.result !== undefined
      })
    const refreshes = () => authorisation.seen.filter((path) => path === 'POST /token').length
    const before = refreshes()
    // A gate that does not know the login yet shows none.
    const [token, ...others] = new Set(guarded.shown.filter((each) => each !== undefined))
    expect(others).toEqual([])
    guarded.refused.add(token ?? '')
    const replies = await Promise.all(clients.map((client) => client.call('get_note')))
    for (const { answer } of replies) expect(answer.result?.content[0].text).toBe('a note')
    expect(refreshes()).toBe(before + 1)
    // A login from before a directory belonged to the cluster is shared, too.
    const folder = scratchDirectory()
    const early = Logins.open(join(folder, 'data'))
    early.put({ server: 'desk', principal: 'early' }, login, Date.now())
    early.close()
    const { store } = gates[0] as unknown as { store: string }
    await ownGate({
      folder,
      servers: {},
      config: { store, cluster: { name: 'e', key: CLUSTER_KEY } },
    })
    const database = openDatabase(identityFile(gates[1]?.data ?? ''))
    await until(
      () => database.prepare("SELECT 1 FROM logins WHERE principal = 'early'").get() !== undefined,
    )
    database.close()
    await guarded.close()
    await authorisation.close()
  })

  test('a token of a caller is exchanged once for all gates, and again after a gate died with it', async () => {
    const corp = await serveAuthorisation()
    const guarded = await serveGuarded(corp.issuer)
    const audience = 'https://gate.example/mcp'
    const client = { client_id: GATE.id, client_secret: GATE.secret }
    const auth = { issuers: { corp: { issuer: corp.issuer, policy: 'policy', audience, client } } }
    const servers = { crm: { url: guarded.url, auth: { login: 'exchange', via: 'corp' } } }
    const { gates } = await startCluster(NAMES, OPEN, { servers, auth })
    const exchanges = () => corp.asked.filter(({ status }) => status === 200).length
    const tokenOf = (sub: string) => corp.sign({ sub, aud: audience })
    const call = async (at: number, sub: string) => {
      const gate = gates[at % gates.length] as RunningGate
      const session = await PlainClient.open(gate, 'crm', '2025-11-25', await tokenOf(sub))
      const { answer } = await session.call('get_note')
      expect(answer.result?.content[0].text).toBe('a note')
    }
    await Promise.all(Array.from({ length: CALLERS }, (_, at) => call(at, 'ann')))
    expect(exchanges()).toBe(1)
    // Stored tokens are shared state that no call is decided by: none of these calls is decided again.
    await Promise.all(Array.from({ length: CALLERS }, (_, at) => call(at, `p${at}`)))
    expect(exchanges()).toBe(1 + CALLERS)
    const { store } = gates[0] as unknown as { store: string }
    const doomed = await startGate({
      servers,
      config: { store, cluster: { name: 'e', key: CLUSTER_KEY }, auth },
    })
    let isAsked = false
    corp.outage = () => {
      isAsked = true
    }
    const session = new PlainClient(doomed, 'crm')
    session.token = await tokenOf('zoe')
    void session.initialize().catch(() => {})
    await until(() => isAsked)
    corp.outage = undefined
    const other = call(0, 'zoe')
    await doomed.kill()
    await other
    expect(exchanges()).toBe(1 + CALLERS + 1)
    await endGates()
    await guarded.close()
    await corp.close()
  })
})
