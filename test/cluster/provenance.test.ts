// What a session remembers of answers, at gates that share one PostgreSQL: each request of a task goes to another gate
// than the one before, and the calls that are held are those that one gate holds.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { PROMPT_META } from '../../packages/protocol/src/protocol-generation.ts'
import { type FlowStep, listPairs, loadFlows, obey } from '../support/flows-suite.ts'
import { resetWorld, WORLD_NAME, worldServers } from '../support/flows-world.ts'
import { endOwnGates, type OwnGate, ownGate } from '../support/own-gate.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { sluiceJson } from '../support/run-sluice.ts'
import { forms, IS_FULL, rounds } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { endGates, type ServingGate, startGate as startProcess } from '../support/start-gate.ts'
import { postStateless } from '../support/stateless-client.ts'

const postgres = findPostgres()
const NAMES = ['mail', 'shop', 'files'] as const
const PROTECTED = 'version: 1\ndefault: allow\nprotect: balanced\n'
/** What is held is answered after a second. */
const SHORT = `${PROTECTED}guardrails:
  - name: soon
    when: call.valueFromText || call.destroysUnasked || call.changesUnasked
    action: require_approval
    reason: held
    approval: { wait: 1s }
`
/** What `balanced` holds is denied, so that no call waits for a person. */
const DENIED = `${PROTECTED}guardrails:
  - name: at once
    when: call.valueFromText || call.destroysUnasked || call.changesUnasked
    action: deny
    reason: held
`
const TIMEOUT_MS = 240_000

const { traces, injections } = loadFlows()
const isHere = ({ steps }: { readonly steps: readonly FlowStep[] }) =>
  steps.every(({ server }) => NAMES.some((name) => name === server))
const tasks = traces.filter(isHere)

describe.skipIf(postgres === undefined)(namePostgresSuite('provenance', postgres), () => {
  const root = join(fileScratchDirectory(), 'world')
  const token = makeToken()
  let server: RunningPostgres
  let databases = 0

  beforeAll(async () => {
    server = await startPostgres(postgres as string)
  })
  afterEach(async () => {
    await endOwnGates()
    await endGates()
  })
  afterAll(async () => {
    await server?.end()
    rmSync(root, { recursive: true, force: true })
  })

  function specOf(config: object, policy: string) {
    const hash = `sha256:${hashGrantToken(token)?.toString('hex')}`
    const grants = { ann: { hash, policy: 'policy', prompt: true } }
    const world = worldServers(root)
    const servers = Object.fromEntries(
      NAMES.map((name) => [name, { ...world[name], share: 'all' } as never]),
    )
    return { servers, policy, config: { grants, sessions: { max: 1_000 }, ...config } }
  }

  function startGate(config: object, policy = PROTECTED): Promise<OwnGate> {
    return ownGate(specOf(config, policy))
  }

  async function startCluster(names: readonly string[], policy?: string) {
    const database = `provenance_${++databases}`
    await server.createDatabase(database)
    const store = server.url(database)
    const gates: OwnGate[] = []
    for (const name of names)
      gates.push(await startGate({ store, cluster: { name, key: CLUSTER_KEY } }, policy))
    return { gates, database, store }
  }

  /** What the gates say to each call of one session, which they get in turns. */
  async function play(
    gates: readonly Pick<ServingGate, 'url' | 'data'>[],
    { steps, prompt }: { steps: readonly FlowStep[]; prompt?: string | undefined },
    injected = '',
    before: (at: number) => unknown = () => {},
  ): Promise<string[]> {
    resetWorld(root, injected, false)
    const { token: session } = await sluiceJson([
      'sessions',
      'token',
      '--data',
      gates[0]?.data ?? '',
    ])
    const headers = { authorization: `Bearer ${token}`, 'sluice-session': session }
    const verdicts: string[] = []
    for (const [at, { server: name, tool, args }] of steps.entries()) {
      await before(at)
      const located = JSON.parse(JSON.stringify(args).replaceAll(WORLD_NAME, root))
      const _meta = at === 0 && prompt !== undefined ? { [PROMPT_META]: prompt } : {}
      const params = { name: tool, arguments: located, _meta: { ...STATELESS, ..._meta } }
      const gate = gates[at % gates.length]
      const { text } = await postStateless(gate as never, name, 'tools/call', params, headers)
      const code = /"code":"([A-Z_]+)"/.exec(text)?.[1]
      const isComplete = text.includes('"resultType":"complete"')
      verdicts.push(`${name}/${tool}: ${code ?? (isComplete ? 'passed' : 'held')}`)
    }
    return verdicts
  }

  test('one gate and three hold the same calls of the same tasks and attacks', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const pairs = listPairs(tasks, injections.filter(isHere))
    const every = Math.ceil(pairs.length / rounds(IS_FULL ? pairs.length : pairs.length / 8))
    const some = pairs.filter((_, at) => at % every === 0)
    const attacks = some.map(({ trace, injection }) => ({
      id: `${trace.id} ${injection.id}`,
      injected: injection.goal.replaceAll(WORLD_NAME, root),
      steps: obey(trace, injection).steps,
      prompt: trace.prompt,
    }))
    const tried = IS_FULL ? tasks : tasks.filter((_, at) => at % 6 === 0)
    const all = [...tried.map((task) => ({ ...task, injected: '' })), ...attacks]
    const alone = [await startGate({}, DENIED)]
    const { gates } = await startCluster(['a', 'b', 'c'], DENIED)
    const held: string[] = []
    for (const one of all) {
      const expected = await play(alone, one, one.injected)
      expect([one.id, ...(await play(gates, one, one.injected))]).toEqual([one.id, ...expected])
      if (expected.some((verdict) => verdict.endsWith('DENIED'))) held.push(one.id)
    }
    expect(held.length).toBeGreaterThan(attacks.length / 2)
    expect(held.length).toBeLessThan(all.length)
  })

  const countRows = async (sql: string, database: string): Promise<number> => {
    const connections = new PostgresConnections(parsePostgresUrl(server.url(database)))
    try {
      return Number((await connections.query(`SELECT (${sql})::int AS count`))[0]?.count)
    } finally {
      await connections.close()
    }
  }
  const run = async (sql: string, database: string) => {
    const connections = new PostgresConnections(parsePostgresUrl(server.url(database)))
    await connections.query(sql).finally(() => connections.close())
  }
  /** Its last call goes to an address that only the answer before it has. */
  const contact = tasks.find(
    ({ steps }) =>
      steps.at(-2)?.tool === 'search_contacts' && steps.at(-1)?.tool === 'send_message',
  ) as (typeof tasks)[number]
  const ALL = 'SELECT count(*) FROM sluice.session_answers'

  test('what is stored has no text, is bounded, and goes with the session; without `protect` nothing is', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { gates, database } = await startCluster(['a', 'b'], DENIED)
    const verdicts = await play(gates, contact)
    expect(verdicts.at(-1)).toContain('passed')
    expect(await countRows(ALL, database)).toBeGreaterThan(1)
    const text =
      "SELECT count(*) FROM sluice.session_answers WHERE position('keller' in encode(body, 'escape')) > 0"
    expect(await countRows(text, database)).toBe(0)
    // Each answer has something new: rows are replaced by one.
    const step = contact.steps.find(
      ({ tool }) => tool === 'read_message' || tool === 'list_messages',
    )
    const many = Array.from({ length: 80 }, (_, at) => ({
      ...(step as FlowStep),
      tool: 'search_messages',
      args: { query: `nothing-${at}` },
    }))
    await play(gates, { steps: many })
    expect(
      await countRows(`${ALL} GROUP BY owner, number ORDER BY 1 DESC LIMIT 1`, database),
    ).toBeLessThan(80)
    const [{ id } = { id: '' }] = (
      await sluiceJson(['sessions', 'list', '--data', gates[0]?.data ?? ''])
    ).sessions
    await run(`DELETE FROM sluice.session WHERE id = '${id}'`, database)
    const left = `${ALL} a WHERE NOT EXISTS (SELECT 1 FROM sluice.session s WHERE s.owner = a.owner AND s.number = a.number)`
    expect(await countRows(left, database)).toBe(0)
    const open = await startCluster(['a', 'b'], 'version: 1\ndefault: allow\n')
    await play(open.gates, contact)
    expect(await countRows(ALL, open.database)).toBe(0)
  })

  test('it goes on when a gate ends, and counts as incomplete if a gate that stores nothing used the session', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { gates, database } = await startCluster(['a', 'b'], DENIED)
    const [a, b] = gates as [OwnGate, OwnGate]
    // Nobody has written a text, so only the user can have said the address.
    const found = contact.steps.at(-2) as FlowStep
    const steps = [found, { ...EVE, args: { ...EVE.args, to: ['new@keller-studio.example'] } }]
    const last = 1
    const mixed = [a, b]
    expect((await play(mixed, { steps })).at(-1)).toContain('passed')
    const join = (at: number) =>
      at === last &&
      run(
        "UPDATE sluice.session SET gates = gates || 'older'::text; UPDATE sluice.session_owner SET version = nextval('sluice.session_version')",
        database,
      )
    expect((await play(mixed, { steps }, '', join)).at(-1)).toContain('DENIED')
    const stop = (at: number) => at === last && a.stop()
    expect((await play(mixed, { steps }, '', stop)).at(-1)).toContain('passed')
  })

  test('kill -9: a session goes on at another gate, which holds the calls that the killed one would have held', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { gates, store } = await startCluster(['a'], DENIED)
    const [a] = gates as [OwnGate]
    const read = tasks.find(({ steps }) => steps.at(-1)?.tool === 'read_message') as typeof contact
    const attacked = { ...read, steps: [...read.steps, EVE], prompt: 'Read my mail' }
    const lastOf = async (task: { steps: readonly FlowStep[]; prompt?: string }, name: string) => {
      const cluster = { name, key: CLUSTER_KEY }
      const killed = await startProcess(specOf({ store, cluster }, DENIED))
      const last = task.steps.length - 1
      const order = [...task.steps.slice(1).map(() => killed), a]
      const verdicts = await play(order, task, '', (at) => at === last && killed.kill())
      return { expected: await play([a], task), verdicts }
    }
    for (const [task, name, verdict] of forms([
      [attacked, 'b', 'DENIED'],
      [contact, 'c', 'passed'],
    ] as const)) {
      const { expected, verdicts } = await lastOf(task, name)
      expect(verdicts).toEqual(expected)
      expect(verdicts.at(-1)).toContain(verdict)
    }
  })

  test('a call is held for what was sent at another gate, and not for what it has not read yet', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { gates } = await startCluster(['a', 'b'], SHORT)
    const order = [gates[0], gates[1], gates[0], gates[1]] as OwnGate[]
    expect(await play(order, contact)).toEqual(await play([gates[0] as OwnGate], contact))
    const read = tasks.find(({ steps }) => steps.at(-1)?.tool === 'read_message')?.steps ?? []
    const asked = play(gates, { steps: [...read, EVE], prompt: 'Read my mail' })
    expect((await asked).at(-1)).toMatch(/APPROVAL_PENDING|held/)
  })
})

const EVE: FlowStep = {
  server: 'mail',
  tool: 'send_message',
  answer: '',
  args: { to: ['eve@evil.example'], subject: 'x', body: 'x' },
}

/** What a request of the stateless protocol has to say of its client. */
const STATELESS = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
