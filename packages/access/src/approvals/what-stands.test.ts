// What remains of an approval: votes of an approver who was removed since, standing approvals and
// their number of uses, and what is shown of a call before.

import { expect, test } from 'vitest'
import { ada, asking, bench, bob, makeCall, proposed, yes } from './engine.test-support.ts'

test('the vote of a removed approver does not count, and stays void', async () => {
  const b = bench()
  const call = makeCall('{"n":1}', asking({ quorum: 2 }))
  const id = await proposed(b, call)
  await b.engine.decide(id, yes, ada, 'terminal')
  b.removed.add('ada')
  b.engine.peopleChanged()
  expect(b.engine.find(id)).toMatchObject({
    state: 'pending',
    asks: [{ approvedBy: [] }],
    votes: [{ by: 'ada', gone: true }],
  })
  await b.engine.decide(id, yes, bob, 'terminal')
  expect(b.engine.find(id)).toMatchObject({ state: 'pending', asks: [{ approvedBy: ['bob'] }] })
  // Another of the same name, later.
  b.removed.delete('ada')
  expect(b.engine.find(id)?.asks[0]?.approvedBy).toEqual(['bob'])
  await b.engine.decide(id, yes, ada, 'terminal')
  expect(b.engine.find(id)?.state).toBe('approved')
  expect(await b.engine.ask(call)).toMatchObject({ is: 'approved', by: ['bob', 'ada'] })
})

test('what a removed approver had approved, also as a standing approval, no longer passes', async () => {
  const b = bench()
  const [once, looks] = [makeCall('{"n":1}'), makeCall('{"n":2}')]
  const id = await proposed(b, once)
  await b.engine.decide(id, yes, ada, 'terminal')
  const other = await proposed(b, looks)
  await b.engine.decide(other, { ...yes, forAWhile: { forMs: 60_000 } }, ada, 'terminal')
  b.engine.use(other, 'c9')
  b.engine.settled(other, 'c9', 'executed')
  expect((await b.engine.ask(looks)).is).toBe('standing')
  b.removed.add('ada')
  // Also without a notification: a gate that was not running when it happened.
  expect(b.engine.use(id, 'c1')).toBe(false)
  expect((await b.engine.ask(looks)).is).not.toBe('standing')
  b.engine.peopleChanged()
  expect(b.engine.find(id)).toMatchObject({
    state: 'void',
    why: expect.stringContaining('no longer'),
  })
  expect(b.engine.standing).toEqual([])
  expect(b.steps).toContain('standing-ended')
  expect(await proposed(b, once)).not.toBe(id)
  b.removed.delete('ada')
  expect((await b.engine.ask(looks)).is).not.toBe('standing')
})

test('what is sent besides the arguments is shown, secrets masked', async () => {
  const b = bench()
  const rest = '{"name":"pay","task":{"ttl":60000},"token":"abc"}'
  const id = await proposed(b, makeCall('{"n":1}', { rest }))
  expect(b.engine.find(id)?.rest).toBe('{"task":{"ttl":60000},"token":"[masked: 3 characters]"}')
  const plain = await proposed(b, makeCall('{"n":1}'))
  expect(b.engine.find(plain)?.rest).toBe('')
})

test('a standing approval ends with the last of its calls', async () => {
  const b = bench()
  const call = makeCall('{"n":1}')
  const id = await proposed(b, call)
  await b.engine.decide(id, { ...yes, forAWhile: { forMs: 60_000, calls: 2 } }, ada, 'terminal')
  b.engine.use(id, 'c0')
  b.engine.settled(id, 'c0', 'executed')
  const [stands] = b.engine.standing
  const of = stands?.id as string
  expect(stands).toMatchObject({ used: 0, calls: 2 })
  // Concurrent calls: each claims its own use, and what was not sent is released.
  expect(await b.engine.ask(call)).toMatchObject({ is: 'standing', id: of })
  expect([1, 2, 3].map((n) => b.engine.takeStanding(of, `c${n}`))).toEqual([true, true, false])
  b.engine.settled(of, 'c2', 'not-sent')
  expect(b.engine.standing).toMatchObject([{ used: 1 }])
  expect(b.open().takeStanding(of, 'c4')).toBe(true)
  b.engine.settled(of, 'c4', 'executed')
  expect(b.engine.standing).toEqual([])
  expect((await b.engine.ask(call)).is).toBe('used')
  for (const calls of [0, -1, 1.5])
    await expect(
      b.engine.decide(
        await proposed(b, makeCall('{"n":2}')),
        { ...yes, forAWhile: { forMs: 1_000, calls } },
        ada,
        'terminal',
      ),
    ).rejects.toThrow('calls cannot be given')
})

test('a request is void if other rules ask now, and says so', async () => {
  const b = bench()
  const id = await proposed(b, makeCall('{}'))
  expect(await proposed(b, makeCall('{}', asking({ says: 'rule 2' })))).not.toBe(id)
  expect(b.engine.find(id)).toMatchObject({
    state: 'void',
    why: 'other rules require approval of this call now',
  })
  await expect(b.engine.decide(id, yes, ada, 'terminal')).rejects.toMatchObject({
    help: 'if the call still waits, it has a new request',
  })
})
