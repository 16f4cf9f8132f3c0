// Attacks on the approvals that once worked, each by the name of its finding.

import { expect, onTestFinished, test, vi } from 'vitest'
import type { ApprovalAsk } from '../core/decision.ts'
import { EngineBench, person } from './engine.test-support.ts'
import type { HeldCall } from './held-call.ts'
import { maskedText } from './json-text.ts'
import { EXPIRY_AGAIN_MS } from './limits.ts'

const ASK: ApprovalAsk = {
  ...{ rule: '/tools/s~1pay', reason: 'money', timeoutMs: 60_000, waitMs: 1_000, approvers: [] },
  ...{ quorum: 1, channels: ['console', 'terminal'], separateDuties: false },
  ...{ editArgs: false, says: 'rule' },
}

function callOf(ask: Partial<ApprovalAsk>, args: string): HeldCall {
  return {
    ...{ callId: 'c1', principal: { id: 'local', kind: 'local' }, agent: null, session: 'x' },
    ...{ server: 's', method: 'tools/call', name: 'pay', category: 'Write', risk: 'low' },
    ...{ pin: 'pin', rest: '{"name":"pay"}', args, asks: [{ ...ASK, ...ask }] },
  }
}

async function proposed(
  ask: Partial<ApprovalAsk>,
  args = '{"amount":1}',
): Promise<{ bench: EngineBench; id: string }> {
  const bench = new EngineBench()
  onTestFinished(() => bench.engine.close())
  const hold = await bench.engine.ask(callOf(ask, args))
  return { bench, id: (hold as { id: string }).id }
}

const ada = person('ada')
const bob = person('bob')

test('finding: where duties are separate, the form of the caller decides nothing', async () => {
  const client = person('the client of local', { kind: 'system', roles: [], proof: 'client' })
  const { bench, id } = await proposed({ separateDuties: true, channels: ['client'] })
  const said = bench.engine.decide(id, { verdict: 'approve' }, client, 'client')
  await expect(said).rejects.toThrow('duties are separate')
  expect(bench.engine.find(id)).toMatchObject({ state: 'pending' })
})

test('finding: a yes to the old arguments does not count for what another wrote since', async () => {
  const { bench, id } = await proposed({ quorum: 2, editArgs: true })
  const { engine } = bench
  // Bob looks at 1; Ada, of the two, changes it.
  const seen = engine.find(id)
  await engine.decide(id, { verdict: 'approve', args: '{"amount":1000}' }, ada, 'terminal')
  for (const edits of [undefined, seen?.edits, 2])
    await expect(
      engine.decide(
        id,
        { verdict: 'approve', ...(edits === undefined ? {} : { edits }) },
        bob,
        'terminal',
      ),
    ).rejects.toThrow('changed')
  expect(engine.find(id)).toMatchObject({ state: 'pending', edits: 1, args: '{"amount":1000}' })
  await engine.decide(id, { verdict: 'approve', edits: 1 }, bob, 'terminal')
  expect(engine.find(id)).toMatchObject({ state: 'approved' })
})

test('finding: an approval for a while of no arguments does not hold for a list of them', async () => {
  const { bench, id } = await proposed({}, '{}')
  const forAWhile = { forMs: 60_000 }
  await bench.engine.decide(id, { verdict: 'approve', forAWhile }, ada, 'terminal')
  bench.engine.use(id, 'c1')
  const is = async (args: string) => (await bench.engine.ask(callOf({}, args))).is
  expect([await is('{}'), await is(''), await is('["rm"]'), await is('"rm"')]).toEqual([
    ...['standing', 'standing', 'pending', 'pending'],
  ])
})

test.each(['-eyJ', '-----BEGIN PRIVATE KEY-----', '://a:', '-sk-'])(
  'finding: arguments made of `%s` do not keep the gate busy with masking them',
  (part) => {
    // More than the approvals take; what stood here before took half a minute for it.
    const text = JSON.stringify({ x: part.repeat(8_000_000 / part.length) })
    expect(maskedText(text).length).toBeGreaterThan(0)
  },
  15_000,
)

test('keys and tokens are masked where they stand', () => {
  const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`
  const key = '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----'
  expect(maskedText(JSON.stringify({ x: `a ${jwt} b, ${key} c` }))).toBe(
    '{"x":"a [masked] b, [masked] c"}',
  )
})

test('finding: a disk that is full when a request runs out makes nobody forget it', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { bench, id } = await proposed({ timeoutMs: 10_000 })
  bench.database.exec('PRAGMA query_only = 1')
  bench.nowMs += 20_000
  await vi.advanceTimersByTimeAsync(11_000)
  expect(bench.warned.join()).toContain('could not be ended')
  expect(bench.engine.find(id)?.state).toBe('pending')
  bench.database.exec('PRAGMA query_only = 0')
  await vi.advanceTimersByTimeAsync(EXPIRY_AGAIN_MS + 1)
  expect(bench.engine.find(id)?.state).toBe('expired')
})
