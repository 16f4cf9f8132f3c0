// Three gates share one PostgreSQL: a limit counts over all of them, an agent goes on at another gate when its own
// is killed, and a freeze at one gate holds at every one. PostgreSQL is started in a temporary folder and stopped
// at the end.

import { deepStrictEqual, match } from 'node:assert'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPostgres, startPostgres } from '../../test/support/postgres.ts'
import { type Gate, runSluice, withGate } from '../support/gate.ts'

const policy = `
version: 1
default: deny
tools:
  shop/list_orders: allow
  agents/*: allow
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

const postgres = findPostgres()
if (postgres === undefined) console.log('not run: PostgreSQL is not installed')
else {
  const database = await startPostgres(postgres)
  const key = 'the same secret at every gate, by a variable'
  const gate = (name: string) => ({
    policy,
    config: { store: database.url(), cluster: { name, key } },
    servers: { agents: { builtin: 'agents' } },
    prepare: (data: string) => {
      mkdirSync(join(data, 'scripts'), { recursive: true })
      writeFileSync(join(data, 'scripts', 'notes.json'), JSON.stringify({ turns: TURNS }))
    },
  })
  try {
    await withGate(gate('one'), (one) =>
      withGate(gate('two'), async (two) => {
        await withGate(gate('three'), async (three) => {
          await tour([one, two, three])
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
  const shops = await Promise.all(gates.map((gate) => gate.connect('shop')))
  const refunds = shops.flatMap((shop) =>
    [5_000, 5_000].map((amount) => shop.call('create_refund', { amount })),
  )
  const codes = (await Promise.all(refunds)).map(({ code }) => code)
  deepStrictEqual(codes.filter((code) => code === undefined).length, 2)
  deepStrictEqual(codes.filter((code) => code === 'SPEND_LIMITED').length, 4)
  const { output, status } = runSluice('.', 'gates', '--data', gates[0]?.data ?? '')
  deepStrictEqual(status, 0, output)
  for (const name of ['one', 'two', 'three']) match(output, new RegExp(`^${name}\\b.*ready`, 'm'))
}

/** An agent of one gate goes on at another one, which takes it over after ten seconds. */
async function outlive(gate: Gate, other: Gate): Promise<void> {
  const agents = await gate.connect('agents')
  const given = { model: 'script:notes', tools: ['shop/list_orders'] }
  const made = JSON.parse((await agents.call('wasm_agent_create', given)).text)
  const agentId: string = made.agent.id
  const first = await agents.call('wasm_agent_prompt', { agentId, input: 'note it' })
  deepStrictEqual(JSON.parse(first.text).response, 'noted')
  await gate.kill()
  const elsewhere = await other.connect('agents')
  const second = await elsewhere.call('wasm_agent_prompt', { agentId, input: 'go on' })
  deepStrictEqual(JSON.parse(second.text).response, 'ann has orders')
  const { text } = await elsewhere.call('wasm_agent_state', { agentId })
  match(text, /ann asked/)
}

/** The third gate is gone. */
async function afterwards(one: Gate, two: Gate): Promise<void> {
  const [shop, other] = [await one.connect('shop'), await two.connect('shop')]
  deepStrictEqual((await shop.call('list_orders', { customer: 'ann' })).code, undefined)
  const frozen = runSluice('.', 'freeze', '--data', two.data, '--why', 'the example')
  deepStrictEqual(frozen.status, 0, frozen.output)
  for (const each of [shop, other]) {
    const answer = await each.call('list_orders', { customer: 'ann' }).catch(String)
    match(JSON.stringify(answer), /the gate is frozen/)
  }
  match(runSluice('.', 'gates', '--data', one.data).output, /^three\b.*gone/m)
}
