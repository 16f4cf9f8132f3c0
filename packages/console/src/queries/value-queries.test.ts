// The audit question: calls by the values that rules read, in their order, summed, and as lines of a file.

import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { decisionEntry } from '@sluice/ledger/decision-entries.test-support'
import { Ledger } from '@sluice/ledger/ledger'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import { parseConditions } from '@sluice/ledger/records/recorded-values'
import { freshDirectoryForAll } from '@sluice/ledger/samples.test-support'
import { runSteps } from '@sluice/policy/structures/steps'
import { ExactNumber } from '@sluice/policy/values/json'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LedgerQueries } from './ledger-queries.ts'
import { readByValue } from './value-queries.ts'

const CALLS = 60
let directory: string
let reading: LedgerQueries

/** Every third has no amount; amounts are not in the order of time. */
const amountOf = (n: number): number | undefined =>
  n % 3 === 0 ? undefined : ((n * 37) % 61) + 0.5

beforeAll(async () => {
  directory = freshDirectoryForAll()
  const ledger = Ledger.open({ directory })
  for (let n = 0; n < CALLS; n++) {
    const amount = amountOf(n)
    const judged = {
      'args.to': n % 2 === 0 ? 'ann' : '=ben',
      undeclared: false,
      ...(amount !== undefined && { 'args.amount': new ExactNumber(String(amount)) }),
    }
    const call = decisionEntry(n, { atMs: 1_000_000 + n, name: `refund_${n % 2}`, judged })
    const seq = await ledger.intent(call)
    ledger.outcome(seq, { atMs: call.atMs + 5, status: 'answered', bytes: 1 })
  }
  ledger.close()
  reading = new LedgerQueries(directory)
})
afterAll(() => reading.close())

const amounts = (from: number) =>
  Array.from({ length: CALLS }, (_, n) => amountOf(n) ?? -1).filter((amount) => amount > from)

test('H2: calls above an amount are found, and it is shown', () => {
  const { calls } = reading.page({ where: 'args.amount > 40; args.to = ann', limit: 100 })
  const found = calls.map(({ values }) => values['args.amount'])
  const wanted = Array.from({ length: CALLS }, (_, n) => (n % 2 === 0 ? (amountOf(n) ?? 0) : 0))
  expect(found).toEqual(wanted.filter((amount) => amount > 40).reverse())
  expect(reading.page({ where: 'args.nothing > 1' }).calls).toEqual([])
  expect(reading.names({ of: 'value', text: '' }).names).toEqual(['args.amount', 'args.to'])
})

test('H2: in the order of the amount, page after page, each once', () => {
  const ledger = openLedgerReadOnly(directory)
  const index = new RecordIndex(directory, ledger)
  for (const [order, sign] of [
    ['largest', -1],
    ['smallest', 1],
  ] as const) {
    const seen: number[] = []
    let after: number | undefined
    do {
      const query = { sort: 'args.amount', order, where: 'args.amount >= 10', limit: 7 }
      const page = runSteps(readByValue(ledger, index, { ...query, ...(after && { after }) }, 4))
      seen.push(
        ...page.calls.map(({ record }) =>
          Number((record.judged['args.amount'] as ExactNumber).text),
        ),
      )
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(seen).toEqual(amounts(9.9).sort((one, other) => sign * (one - other)))
  }
  index.close()
  ledger.close()
})

test('H2: sum, smallest and largest are of the calls that match', () => {
  const wanted = amounts(20)
  expect(
    runSteps(reading.sum({ query: { sort: 'args.amount', where: 'args.amount > 20' } })),
  ).toEqual({
    currencies: [
      {
        currency: '',
        calls: wanted.length,
        sum: wanted.reduce((sum, amount) => sum + amount, 0),
        min: Math.min(...wanted),
        max: Math.max(...wanted),
        allowed: wanted.length,
        allowedSum: wanted.reduce((sum, amount) => sum + amount, 0),
      },
    ],
  })
  expect(runSteps(reading.sum({ query: { sort: 'args.to' } })).currencies).toEqual([])
})

test('amounts of different currencies are never added, also not those of one caller', async () => {
  const place = freshDirectoryForAll()
  const ledger = Ledger.open({ directory: place })
  const amounts = [
    { path: 'args.currency', amount: 10, currency: 'EUR' },
    { path: 'args.currency', amount: 20, currency: 'eur' },
    { path: 'args.payment.currency', amount: 40, currency: 'USD' },
    { path: 'args.other', amount: 80, currency: 'CHF' },
  ]
  for (const [n, { path, amount, currency }] of amounts.entries()) {
    const judged = { 'args.payment.amount': new ExactNumber(String(amount)), [path]: currency }
    await ledger.intent(decisionEntry(n, { judged }))
  }
  ledger.close()
  const queries = new LedgerQueries(place)
  const { currencies, groups } = runSteps(
    queries.sum({ query: { sort: 'args.payment.amount' }, by: 'caller' }),
  )
  const sums = currencies.map(({ currency, sum }) => [currency, sum])
  expect(sums).toEqual([
    ['EUR', 30],
    ['', 80],
    ['USD', 40],
  ])
  expect(groups?.map(({ currency, allowedSum }) => [currency, allowedSum]).sort()).toEqual(
    sums.sort(),
  )
  queries.close()
})

test('a held call counts in the sum of all calls, and not in that of those that were allowed', async () => {
  const place = freshDirectoryForAll()
  const ledger = Ledger.open({ directory: place })
  const judged = { 'args.amount': new ExactNumber('7500') }
  const held = decisionEntry(0, { judged })
  await ledger.refuse({ ...held, decision: { ...held.decision, action: 'require_approval' } })
  await ledger.intent(decisionEntry(1, { judged }))
  ledger.close()
  const queries = new LedgerQueries(place)
  expect(runSteps(queries.sum({ query: { sort: 'args.amount' } }))).toMatchObject({
    currencies: [{ calls: 2, sum: 15_000, allowed: 1, allowedSum: 7_500 }],
  })
  queries.close()
})

test('H2: an export has one line for each call, with its outcome and a column for each argument', () => {
  const query = { where: 'args.amount > 58' }
  const { text, next } = reading.stretch({ query, format: 'calls', from: { seq: 1, open: [] } })
  const [head, ...lines] = text.trim().split('\r\n')
  expect(head).toMatch(/,status,duration_ms,args\.amount,args\.to$/)
  expect([lines.length, next]).toEqual([amounts(58).length, null])
  expect(lines[0]).toMatch(/,answered,\d+,\d+\.5,(ann|"'=ben")$/)
})

test.each(['amount > 5', 'args.amount > many', 'args.amount', 'args.a = \0'])(
  'a condition that cannot be read is refused by name: %j',
  (text) => expect(() => parseConditions(text)).toThrow('is no condition on a recorded value'),
)

test('what is on record of the arguments of requests: of some, or of those that have a text', async () => {
  const place = freshDirectoryForAll()
  const ledger = Ledger.open({ directory: place })
  const amount = new ExactNumber('180.5')
  const judged = [{ 'args.amount': amount, 'args.to': 'Ann' }, { 'args.to': 'ben' }, {}]
  for (const [n, one] of judged.entries()) {
    const call = decisionEntry(n, { atMs: 1_000 + n, judged: one, approval: `request-${n}` })
    const decision = { ...call.decision, action: 'require_approval' as const }
    await ledger.refuse({ ...call, principal: { id: `caller-${n}`, kind: 'grant' }, decision })
  }
  ledger.close()
  const queries = new LedgerQueries(place)
  const first = ['request-0', '{"amount":180.5,"to":"Ann"}']
  expect([...queries.recordedArguments(['request-0', 'request-2', 'other'])]).toEqual([first])
  expect([...queries.recordedArguments('ANN')]).toEqual([first])
  expect([...queries.recordedArguments('180.5').keys()]).toEqual(['request-0'])
  expect([...queries.lastCalls(['caller-1', 'nobody'])]).toEqual([['caller-1', 1_001]])
  queries.close()
})
