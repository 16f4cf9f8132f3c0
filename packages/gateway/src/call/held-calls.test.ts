// Held calls in a relay whose both sides the test plays: the rounds of an approved call, a client that
// is asked to come again, and one that goes away or comes with a state of its own.

import { person } from '@sluice/access/approvals/engine.test-support'
import { ARGS_LENGTH_MAX, HELD_MARKS_MAX } from '@sluice/access/approvals/limits'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ELICIT, Play } from '../relay/relay.test-support.ts'
import { INPUT_ROUNDS_MAX } from '../shared/limits.ts'

const RULES = `default: allow
tools: { s/ask: { action: require_approval, reason: r, approval: { wait: 5s } } }`
const CALL = { name: 'ask', arguments: { n: 1 } }
const WANTS = { resultType: 'input_required', inputRequests: { who: ELICIT } }
const ANSWERS = { who: { action: 'accept', content: {} } }

const plays: Play[] = []
function play(options: ConstructorParameters<typeof Play>[0] = {}): Play {
  const made = new Play({ rules: RULES, ...options })
  plays.push(made)
  return made
}
afterEach(async () => {
  for (const made of plays.splice(0)) {
    made.approvals.engine.close()
    await made.end()
  }
})

const requests = (made: Play) => made.approvals.engine.list()
const arrived = (made: Play) => made.server.sent.filter(({ method }) => method === 'tools/call')

async function approved(made: Play): Promise<void> {
  const [request] = await requests(made)
  await made.approvals.engine.decide(
    request?.id as string,
    { verdict: 'approve' },
    person('ada'),
    'terminal',
  )
}

test('the rounds of an approved call are that call: nobody is asked twice', async () => {
  // A client that opens pages is asked at once, in place of waiting.
  const made = play({ capabilities: { elicitation: { form: {} } } })
  const id = await made.ask('tools/call', CALL)
  expect(arrived(made)).toEqual([])
  await approved(made)
  await vi.waitFor(() => expect(arrived(made)).toHaveLength(1), 60_000)
  await made.answer('tools/call', { ...WANTS, requestState: 'theirs' })
  const { requestState } = made.to(id).result
  const back = { ...CALL, requestState, inputResponses: ANSWERS }
  await made.ask('tools/call', back)
  expect([arrived(made).length, (await requests(made)).length]).toEqual([2, 1])
  // A state is good for one return: a second return is a call of its own, and is held.
  await made.ask('tools/call', back)
  expect([arrived(made).length, (await requests(made)).length]).toEqual([2, 2])
})

describe('a client of the stateless generation', () => {
  test('is asked to come again so often, and then told that it is pending', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const made = play()
      let state = {}
      let result: Record<string, unknown> = {}
      for (let leg = 0; leg <= INPUT_ROUNDS_MAX; leg++) {
        const id = await made.ask('tools/call', { ...CALL, ...state })
        await vi.advanceTimersByTimeAsync(5_000)
        result = made.to(id).result as never
        state = { requestState: result.requestState }
        if (leg < INPUT_ROUNDS_MAX) expect(result.resultType).toBe('input_required')
      }
      expect(result).toMatchObject({ isError: true, resultType: 'complete' })
      expect(JSON.stringify(result)).toContain('APPROVAL_PENDING')
      expect(await requests(made)).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  test('cannot come with a state that was given for another call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const made = play()
      const id = await made.ask('tools/call', CALL)
      await vi.advanceTimersByTimeAsync(5_000)
      const { requestState } = made.to(id).result
      const other = await made.ask('tools/call', { ...CALL, arguments: { n: 2 }, requestState })
      expect(made.to(other)).toMatchObject({
        error: { message: expect.stringContaining('not one that was given') },
      })
    } finally {
      vi.useRealTimers()
    }
  })
})

test('a client that cancels while its call waits leaves the approval unused', async () => {
  const made = play({ generation: 'session' })
  await made.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  await made.answer('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  const id = await made.ask('tools/call', CALL)
  made.tell({ method: 'notifications/cancelled', params: { requestId: id } })
  await approved(made)
  await vi.waitFor(async () => expect((await requests(made))[0]?.state).toBe('approved'), 60_000)
  expect([arrived(made).length, (await requests(made))[0]?.usedBy]).toEqual([0, null])
})

test('what a server asks of the client is held too, and shown as a whole', async () => {
  const rules = 'default: allow\nmethods: { elicitation/create: require_approval }'
  const made = play({ generation: 'session', rules })
  await made.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
  })
  await made.answer('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  made.server.say({ id: 9, ...ELICIT })
  await vi.waitFor(async () => expect(await requests(made)).toHaveLength(1), 60_000)
  const [request] = await requests(made)
  expect(request?.args).toContain('"message":"who?"')
  expect(made.received.some(({ method }) => method === ELICIT.method)).toBe(false)
  await made.approvals.engine.decide(
    request?.id as string,
    { verdict: 'approve' },
    person('bob'),
    'terminal',
  )
  const isAsked = () => made.received.some(({ method }) => method === ELICIT.method)
  await expect.poll(isAsked).toBe(true)
})

test.each([
  ['characters', { text: 'x'.repeat(ARGS_LENGTH_MAX) }, `at most ${ARGS_LENGTH_MAX} can be shown`],
  ['values', { list: Array(HELD_MARKS_MAX + 1).fill(1) }, `more than ${HELD_MARKS_MAX} values`],
])('a call with more %s than a person can be shown is refused, not held', async (_, args, why) => {
  const made = play()
  const id = await made.ask('tools/call', { name: 'ask', arguments: args })
  const { result } = made.to(id)
  expect(result).toMatchObject({ isError: true })
  expect(JSON.stringify(result)).toContain('APPROVAL_LIMITED')
  expect(JSON.stringify(result)).toContain(why)
  expect([await requests(made), arrived(made)]).toEqual([[], []])
})
