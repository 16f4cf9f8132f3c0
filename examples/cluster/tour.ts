// The tour of a cluster, wherever its gates run: as processes (run.ts), or in containers (test/soak/compose.ts). Each step
// prints what it does and what came of it, and throws if that is not what it should be.

import { deepStrictEqual, match, ok } from 'node:assert'
import { createHash } from 'node:crypto'
import type { Connection } from '../support/gate.ts'

export interface TourGate {
  readonly name: string
  /** Opens a session at this gate. */
  connect(server: string): Promise<Connection>
  /** Sends a request to the HTTP API of this gate. */
  ask(path: string, init: RequestInit): Promise<Response>
  /** Runs a command of `sluice` at this gate. */
  run(...args: string[]): { readonly status: number; readonly output: string }
  /** Ends it as a crash of its machine would. */
  kill(): Promise<void>
}

export interface TourCluster {
  readonly gates: readonly [TourGate, TourGate, TourGate]
  /** The token of the approver that answers in the place of a person. */
  readonly approver: string
  /** Opens a session through the load balancer; undefined if there is none. */
  readonly balance: ((server: string) => Promise<Connection>) | undefined
}

export const POLICY = `
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

/** What the model of the example answers, turn by turn, as `scripts/notes.json` of a data directory: a real one needs a key. */
export const TURNS = [
  { toolCalls: [{ name: 'write_file', input: { path: 'notes.txt', content: 'ann asked' } }] },
  { text: 'noted' },
  { toolCalls: [{ name: 'read_file', input: { path: 'notes.txt' } }] },
  { toolCalls: [{ name: 'shop__list_orders', input: { customer: 'ann' } }] },
  { text: 'ann has orders' },
]

export const TOKEN = `sluice_${'7'.repeat(64)}`
export const GRANTS = {
  ci: { hash: `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`, policy: 'policy' },
}

const PAUSE_MS = 500
const TRIES_MAX = 60

export async function runTour(cluster: TourCluster): Promise<void> {
  const [one, two, three] = cluster.gates
  const names = cluster.gates.map(({ name }) => name)
  say(`three gates share one PostgreSQL: ${names.join(', ')}`)
  await listGates(cluster.gates)
  await spend(cluster.gates)
  await approve(one, two, cluster.approver)
  if (cluster.balance === undefined) say('left out: the load balancer (HAProxy is not installed)')
  else await balance(cluster.balance)
  await outlive(three, one)
  await freeze(one, two, three)
  say('done')
}

function say(text: string): void {
  console.log(text)
}

async function retry(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    ok(tries < TRIES_MAX, 'it did not come true in time')
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function listGates(gates: readonly TourGate[]): Promise<void> {
  const list = () => gates[0]?.run('gates') ?? { status: 1, output: '' }
  // It fails while a gate has not applied what another one has just changed, which takes half a second.
  await retry(() => list().status === 0)
  const { output } = list()
  for (const { name } of gates) match(output, new RegExp(`^${name}\\b.*ready`, 'm'))
  say(`\n$ sluice gates\n${output.trim()}`)
}

async function spend(gates: readonly TourGate[]): Promise<void> {
  say('\na budget of 12,000 a day for all: six refunds of 5,000 at once, two at each gate')
  const shops = await Promise.all(gates.map((gate) => gate.connect('shop')))
  const refunds = shops.flatMap((shop) =>
    [5_000, 5_000].map((amount) => shop.call('create_refund', { amount })),
  )
  const answers = await Promise.all(refunds)
  const passed = answers.filter(({ code }) => code === undefined)
  const refused = answers.filter(({ code }) => code === 'SPEND_LIMITED')
  deepStrictEqual([passed.length, refused.length], [2, 4], JSON.stringify(answers))
  say('  2 passed, 4 were refused with SPEND_LIMITED')
}

async function approve(first: TourGate, decided: TourGate, approver: string): Promise<void> {
  say(`\na mail needs approval: asked for at ${first.name}, decided at ${decided.name}`)
  const answer = (await first.connect('shop')).call('send_mail', { to: 'ann@example.com' })
  const headers = { authorization: `Bearer ${approver}`, 'content-type': 'application/json' }
  let id: string | undefined
  await retry(async () => {
    const pending = await decided.ask('/api/approvals', { headers })
    id = ((await pending.json()) as { requests: { id: string }[] }).requests[0]?.id
    return id !== undefined
  })
  const body = JSON.stringify({ verdict: 'approve' })
  await decided.ask(`/api/approvals/${id}/verdict`, { method: 'POST', headers, body })
  deepStrictEqual((await answer).code, undefined)
  say(`  request ${id} was approved, and the call that waited went through`)
}

async function balance(open: (server: string) => Promise<Connection>): Promise<void> {
  say('\nfour clients behind the load balancer, each with a session at one of the gates')
  const shops = await Promise.all([1, 2, 3, 4].map(() => open('shop')))
  for (const shop of [...shops, ...shops])
    deepStrictEqual((await shop.call('list_orders', { customer: 'ann' })).code, undefined)
  say('  8 calls, 8 answers')
}

/** An agent of one gate goes on at another one, which takes it over after ten seconds. */
async function outlive(gate: TourGate, other: TourGate): Promise<void> {
  say(`\nan agent at ${gate.name} writes a note; ${gate.name} is killed`)
  const agents = await gate.connect('agents')
  const config = { model: 'script:notes', tools: ['shop/list_orders'] }
  const made = JSON.parse((await agents.call('wasm_agent_create', config)).text)
  const agentId: string = made.agent.id
  const first = await agents.call('wasm_agent_prompt', { agentId, input: 'note it' })
  deepStrictEqual(JSON.parse(first.text).response, 'noted')
  await gate.kill()
  const began = performance.now()
  const elsewhere = await other.connect('agents')
  const second = await elsewhere.call('wasm_agent_prompt', { agentId, input: 'go on' })
  deepStrictEqual(JSON.parse(second.text).response, 'ann has orders')
  const { text } = await elsewhere.call('wasm_agent_state', { agentId })
  match(text, /ann asked/)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  say(`  it went on at ${other.name} after ${seconds} s, with its note (a lease lasts 10 s)`)
}

async function freeze(one: TourGate, two: TourGate, killed: TourGate): Promise<void> {
  say(`\nafter the kill ${one.name} serves as before; then a freeze at ${two.name}`)
  const [shop, other] = [await one.connect('shop'), await two.connect('shop')]
  deepStrictEqual((await shop.call('list_orders', { customer: 'ann' })).code, undefined)
  const frozen = two.run('freeze', '--why', 'the example')
  deepStrictEqual(frozen.status, 0, frozen.output)
  for (const each of [shop, other]) {
    const answer = await each.call('list_orders', { customer: 'ann' }).catch(String)
    match(JSON.stringify(answer), /the gate is frozen/)
  }
  say(`  calls at ${one.name} and ${two.name} are refused: the gate is frozen`)
  await retry(() => new RegExp(`^${killed.name}\\b.*gone`, 'm').test(one.run('gates').output))
  say(`\n$ sluice gates\n${one.run('gates').output.trim()}\n`)
}
