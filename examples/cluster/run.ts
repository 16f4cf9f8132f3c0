// Three gates share one PostgreSQL: a limit counts over all of them, a freeze at one holds at every one, and
// the others go on when one is gone. PostgreSQL is started in a temporary folder and stopped at the end.

import { deepStrictEqual, match } from 'node:assert'
import { findPostgres, startPostgres } from '../../test/support/postgres.ts'
import { type Gate, runSluice, withGate } from '../support/gate.ts'

const policy = `
version: 1
default: deny
tools:
  shop/list_orders: allow
  shop/create_refund:
    action: allow
    spend_limit: { amount: args.amount, max: 12000, window: 1d, per: everyone }
`

const postgres = findPostgres()
if (postgres === undefined) console.log('not run: PostgreSQL is not installed')
else {
  const database = await startPostgres(postgres)
  const key = 'the same secret at every gate, by a variable'
  const config = (name: string) => ({ store: database.url(), cluster: { name, key } })
  try {
    await withGate({ policy, config: config('one') }, (one) =>
      withGate({ policy, config: config('two') }, async (two) => {
        await withGate({ policy, config: config('three') }, (three) => tour([one, two, three]))
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
