// A call through a relay whose store takes its time: nothing reaches the server before the intent is
// durable, and nothing at all if the call is cancelled, or the store fails, in the meantime.

import { afterEach, expect, test } from 'vitest'
import { type Play, playing } from './relay.test-support.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const ONE = 'default: allow\nguardrails: [{ name: one, rate_limit: { max: 1, window: 60 } }]'
const CALL = { name: 'ask', arguments: {} }

function calls({ server }: Play): number {
  return server.sent.filter(({ method }) => method === 'tools/call').length
}

/** Some turns more than the slow store takes for its request and its reply. */
async function pass(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A call that the store does not admit before `open` is called. */
async function heldBack(rules = ONE) {
  const made = play({ generation: 'session', rules, isSlow: true })
  let open = (): void => {}
  made.admission.gate = new Promise((resolve) => {
    open = resolve
  })
  const id = await made.ask('tools/call', CALL)
  await pass()
  expect([made.admission.open, made.intents.length, calls(made)]).toEqual([1, 0, 0])
  return { made, id, open }
}

test('is sent after its intent, and no other passes its limit', async () => {
  const { made, open } = await heldBack()
  const second = await made.ask('tools/call', CALL)
  const third = await made.ask('tools/call', CALL)
  await pass()
  expect(calls(made)).toBe(0)
  open()
  await pass()
  expect([made.intents.length, calls(made)]).toEqual([1, 1])
  for (const id of [second, third]) expect(JSON.stringify(made.to(id))).toContain('RATE_LIMITED')
})

test('is not sent if it was cancelled meanwhile', async () => {
  const { made, id, open } = await heldBack()
  made.tell({ method: 'notifications/cancelled', params: { requestId: id } })
  open()
  await pass()
  expect([made.intents.length, calls(made)]).toEqual([1, 0])
  expect(made.outcomes).toMatchObject([{ status: 'cancelled', givenBack: true }])
  // Its charge was undone.
  await made.ask('tools/call', CALL)
  await pass()
  expect(calls(made)).toBe(1)
})

test('is not sent if the session was frozen or ended meanwhile', async () => {
  for (const end of ['freeze', 'close'] as const) {
    const { made, id, open } = await heldBack()
    if (end === 'close') made.relay.close('over')
    else made.relay.interrupt({ scope: 'all', id: '', atMs: 0, why: '' })
    expect(made.to(id).error).toBeDefined()
    open()
    await pass()
    expect(calls(made)).toBe(0)
    expect(made.outcomes).toMatchObject([{ givenBack: true }])
  }
})

test.each(['before', 'after'] as const)('is not sent if the store fails: %s', async (fails) => {
  const { made, id, open } = await heldBack()
  made.admission.fails = fails
  open()
  await pass()
  expect(calls(made)).toBe(0)
  expect(JSON.stringify(made.to(id))).toContain('GATE_UNAVAILABLE')
})
