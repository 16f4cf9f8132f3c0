// Three gates share one PostgreSQL, behind HAProxy: a limit counts over all of them, an approval is asked for at one
// gate and decided at another, an agent goes on when its gate is killed, and a freeze holds at every one. Both are
// started on loopback, PostgreSQL in a temporary folder, and stopped at the end.

import { deepStrictEqual, match } from 'node:assert'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { People } from '../../packages/sluice/src/identity/people/people.ts'
import { findHaproxy, startHaproxy } from '../../test/support/haproxy.ts'
import { findPostgres, freePort, startPostgres } from '../../test/support/postgres.ts'
import { type Gate, runSluice, withGate } from '../support/gate.ts'

const policy = `
version: 1
default: deny
tools:
  shop/list_orders: allow
  agents/*: allow
  shop/send_mail: { action: require_approval, approval: { wait: 30s } }
  shop/create_refund:
    action: allow
    spend_limit: { amount: args.amount, max: 12000, window: 1d, per: everyone }
`

/** What the model of the example answers, turn by turn: a real one needs a key. */
const TURNS = [
  { toolCalls: [{ name: 'write_file', input: { path: 'notes.txt', content: 'ann asked' } }] },
  { text: 'noted' },
  { toolCalls: [{ name: 'read_file', input: { path: 'notes.txt' } }] },
  { toolCalls: [{ name: 'shop__list_orders', input: { customer: 'ann' } }] },
  { text: 'ann has orders' },
]

const CALLER = { token: `sluice_${'7'.repeat(64)}` }
let approver = ''

const postgres = findPostgres()
const haproxy = findHaproxy()
if (postgres === undefined)
  console.log('not run: PostgreSQL is not installed, and cannot be installed or fetched here')
else {
  const database = await startPostgres(postgres)
  const key = 'the same secret at every gate, by a variable'
  const port = await freePort()
  const hash = `sha256:${createHash('sha256').update(CALLER.token).digest('hex')}`
  const grants = { ci: { hash, policy: 'policy' } }
  const public_url = `http://127.0.0.1:${port}`
  const gate = (name: string) => ({
    policy,
    config: { store: database.url(), cluster: { name, key }, public_url, grants },
    servers: { agents: { builtin: 'agents' } },
    prepare: async (data: string) => {
      // The first gate gives the others what it has.
      if (name === 'one') await addSystem(data)
      mkdirSync(join(data, 'scripts'), { recursive: true })
      writeFileSync(join(data, 'scripts', 'notes.json'), JSON.stringify({ turns: TURNS }))
    },
  })
  try {
    await withGate(gate('one'), (one) =>
      withGate(gate('two'), async (two) => {
        await withGate(gate('three'), async (three) => {
          await tour([one, two, three])
          await approve(one, two)
          if (haproxy === undefined)
            console.log('left out: the load balancer (HAProxy is not installed)')
          else await balance(haproxy, port, [one, two, three])
          await outlive(three, one)
        })
        await afterwards(one, two)
      }),
    )
  } finally {
    await database.end()
  }
}

async function tour(gates: readonly Gate[]): Promise<void> {
  const shops = await Promise.all(gates.map((gate) => gate.connect('shop', CALLER)))
  const refunds = shops.flatMap((shop) =>
    [5_000, 5_000].map((amount) => shop.call('create_refund', { amount })),
  )
  const codes = (await Promise.all(refunds)).map(({ code }) => code)
  deepStrictEqual(codes.filter((code) => code === undefined).length, 2)
  deepStrictEqual(codes.filter((code) => code === 'SPEND_LIMITED').length, 4)
  const list = () => runSluice('.', 'gates', '--data', gates[0]?.data ?? '')
  let { output, status } = list()
  // It fails while a gate has not applied what another one has just changed, which takes half a second.
  for (let tries = 0; status !== 0 && tries < 10; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    ;({ output, status } = list())
  }
  deepStrictEqual(status, 0, output)
  for (const name of ['one', 'two', 'three']) match(output, new RegExp(`^${name}\\b.*ready`, 'm'))
}

/** What `sluice approvers add bot --token` does, which asks a person for a PIN. */
async function addSystem(data: string): Promise<void> {
  const people = People.open(data)
  const system = { name: 'bot', kind: 'system', roles: ['approver'] } as const
  const added = await people.add({ ...system, groups: [], owns: [] }, { token: true }, Date.now())
  approver = added.token ?? ''
  people.close()
}

/** Asked for at one gate, decided at another. */
async function approve(first: Gate, decided: Gate): Promise<void> {
  const answer = (await first.connect('shop', CALLER)).call('send_mail', { to: 'ann@example.com' })
  const headers = { authorization: `Bearer ${approver}`, 'content-type': 'application/json' }
  let id: string | undefined
  while (id === undefined) {
    const pending = await fetch(`${decided.url}/api/approvals`, { headers })
    id = ((await pending.json()) as { requests: { id: string }[] }).requests[0]?.id
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const body = JSON.stringify({ verdict: 'approve' })
  await fetch(`${decided.url}/api/approvals/${id}/verdict`, { method: 'POST', headers, body })
  deepStrictEqual((await answer).code, undefined)
}

/** Clients behind a load balancer: each has a session at one of the gates. */
async function balance(file: string, port: number, gates: readonly Gate[]): Promise<void> {
  const [first] = gates as [Gate]
  const hosts = gates.map(({ url }) => new URL(url).host) as [string, string, string]
  const balancer = await startHaproxy(file, port, hosts)
  try {
    const by = { ...CALLER, url: balancer.url }
    const shops = await Promise.all([1, 2, 3, 4].map(() => first.connect('shop', by)))
    for (const shop of [...shops, ...shops])
      deepStrictEqual((await shop.call('list_orders', { customer: 'ann' })).code, undefined)
  } finally {
    await balancer.end()
  }
}

/** An agent of one gate goes on at another one, which takes it over after ten seconds. */
async function outlive(gate: Gate, other: Gate): Promise<void> {
  const agents = await gate.connect('agents', CALLER)
  const config = { model: 'script:notes', tools: ['shop/list_orders'] }
  const made = JSON.parse((await agents.call('wasm_agent_create', config)).text)
  const agentId: string = made.agent.id
  const first = await agents.call('wasm_agent_prompt', { agentId, input: 'note it' })
  deepStrictEqual(JSON.parse(first.text).response, 'noted')
  await gate.kill()
  const elsewhere = await other.connect('agents', CALLER)
  const second = await elsewhere.call('wasm_agent_prompt', { agentId, input: 'go on' })
  deepStrictEqual(JSON.parse(second.text).response, 'ann has orders')
  const { text } = await elsewhere.call('wasm_agent_state', { agentId })
  match(text, /ann asked/)
}

/** The third gate is gone. */
async function afterwards(one: Gate, two: Gate): Promise<void> {
  const [shop, other] = [await one.connect('shop', CALLER), await two.connect('shop', CALLER)]
  deepStrictEqual((await shop.call('list_orders', { customer: 'ann' })).code, undefined)
  const frozen = runSluice('.', 'freeze', '--data', two.data, '--why', 'the example')
  deepStrictEqual(frozen.status, 0, frozen.output)
  for (const each of [shop, other]) {
    const answer = await each.call('list_orders', { customer: 'ann' }).catch(String)
    match(JSON.stringify(answer), /the gate is frozen/)
  }
  match(runSluice('.', 'gates', '--data', one.data).output, /^three\b.*gone/m)
}
