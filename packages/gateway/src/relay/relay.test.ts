// A relay in the stateless generation, and between the generations, attacked from both sides: what policy denies
// reaches nobody, what was not asked for is not taken, and one bad answer ends nothing but itself.

import type { RequestId } from '@sluice/protocol/message'
import { afterEach, describe, expect, test } from 'vitest'
import { Continuations } from '../session/continuations.ts'
import { INPUT_ROUNDS_MAX, SERVER_REQUESTS_MAX } from '../shared/limits.ts'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { ELICIT, type Play, playing } from './relay.test-support.ts'

const NO_QUESTIONS = 'default: allow\nmethods: { elicitation/create: deny }'
const ONCE =
  'default: allow\ntools: { s/ask: { action: allow, rate_limit: { max: 1, window: 1h } } }'
const WANTS = { resultType: 'input_required', inputRequests: { name: ELICIT } }
const ANSWERS = { name: { action: 'accept', content: {} } }

const { play, endPlays } = playing()
afterEach(endPlays)

async function called(options: ConstructorParameters<typeof Play>[0] = {}) {
  const made = play(options)
  const id = await made.ask('tools/call', { name: 'ask', arguments: {} })
  return { made, id }
}

describe('a question that policy denies', () => {
  const asking = [
    ['spelt plainly', JSON.stringify(WANTS)],
    [
      'with its type in escapes',
      `{"resultType":"input\\u005frequired","inputRequests":${JSON.stringify({ a: ELICIT })}}`,
    ],
    [
      'with its name in escapes',
      `{"resultType":"complete","content":[],"input\\u0052equests":${JSON.stringify({ a: ELICIT })}}`,
    ],
    ['in a complete result', JSON.stringify({ ...WANTS, resultType: 'complete', content: [] })],
    ['in a task', JSON.stringify({ ...WANTS, resultType: 'task', taskId: 't' })],
    ['inside the result of a task', JSON.stringify({ resultType: 'complete', result: WANTS })],
  ]

  test.each(asking)('reaches no client, and the server is told: %s', async (_, result) => {
    const { made, id } = await called({ rules: NO_QUESTIONS })
    await made.answer('tools/call', result)
    expect(JSON.stringify(made.received)).not.toContain('who?')
    const { result: answer, error } = made.to(id)
    expect(answer?.isError === true || error !== undefined).toBe(true)
    expect(made.server.aborted).toContain(made.server.last('tools/call').id)
  })

  test.each(['tools/list', 'completion/complete', 'server/discover', 'prompts/list'])(
    'does not come with the answer to another method: %s',
    async (method) => {
      const made = play({ rules: NO_QUESTIONS })
      made.server.answers = () => undefined
      const id = await made.ask(method, { ref: { type: 'ref/prompt', name: 'x' } })
      await made.answer(method, { ...WANTS, tools: [] })
      expect(JSON.stringify(made.received)).not.toContain('who?')
      expect(made.to(id).error).toBeDefined()
    },
  )

  test('does not come with what is said of a task', async () => {
    const { made, id } = await called({ rules: NO_QUESTIONS })
    await made.answer('tools/call', { resultType: 'task', taskId: 'raw', status: 'working' })
    const { taskId } = made.to(id).result
    expect(taskId).not.toBe('raw')
    const asked = await made.ask('tasks/get', { taskId })
    expect(made.server.last('tasks/get').params.taskId).toBe('raw')
    const questions = { inputRequests: { a: ELICIT }, status: 'input_required', taskId: 'raw' }
    await made.answer('tasks/get', { resultType: 'complete', ...questions })
    expect(JSON.stringify(made.received)).not.toContain('who?')
    expect(made.to(asked).error).toBeDefined()
  })

  test('does not come as a page to open in the error of 2025-11-25', async () => {
    for (const rules of [NO_QUESTIONS, 'default: allow']) {
      const made = play({ generation: 'session', rules })
      const id = await made.ask('tools/call', { name: 'ask', arguments: {} })
      const page = { mode: 'url', url: 'https://evil.example', message: 'who?', elicitationId: 'e' }
      const error = { code: -32042, message: 'open this', data: { elicitations: [page] } }
      made.server.say({ id: made.server.last('tools/call').id, error })
      await settled()
      const isDelivered = JSON.stringify(made.received).includes('evil.example')
      expect(isDelivered).toBe(rules !== NO_QUESTIONS)
      expect(made.to(id)).toBeDefined()
    }
  })

  test('lets the others with it count for nothing', async () => {
    const rules = `default: allow
methods:
  roots/list: { action: allow, rate_limit: { max: 1, window: 1h } }
  elicitation/create: deny`
    const made = play({ rules })
    for (let time = 0; time < 3; time++) {
      await made.ask('tools/call', { name: 'ask', arguments: {} })
      await made.answer('tools/call', {
        resultType: 'input_required',
        inputRequests: { roots: { method: 'roots/list' }, name: ELICIT },
      })
      expect(made.received.at(-1)?.result._meta['sluice/decision'].code).toBe('DENIED')
    }
    expect(made.outcomes.filter(({ givenBack }) => givenBack)).toHaveLength(3)
  })
})

describe('a server that asks too much', () => {
  test('of what no server may ask: an error, and nothing passes', async () => {
    const { made, id } = await called()
    const evil = { method: 'tools/call', params: { name: 'other' } }
    await made.answer('tools/call', { ...WANTS, inputRequests: { evil } })
    expect(made.to(id).error?.message).toContain('tools/call')
  })

  test('at once: bounded', async () => {
    const { made, id } = await called()
    const many = Array.from({ length: SERVER_REQUESTS_MAX + 1 }, (_, at) => [`q${at}`, ELICIT])
    await made.answer('tools/call', { ...WANTS, inputRequests: Object.fromEntries(many) })
    expect(made.to(id).error?.message).toContain(`more than ${SERVER_REQUESTS_MAX}`)
    expect(made.intents).toHaveLength(1)
  })

  test('again and again: as many rounds as the bound says, then no more', async () => {
    const made = play({ rules: ONCE })
    let state: string | undefined
    for (let round = 0; round <= INPUT_ROUNDS_MAX; round++) {
      const back = state === undefined ? {} : { requestState: state, inputResponses: ANSWERS }
      const id = await made.ask('tools/call', { name: 'ask', arguments: {}, ...back })
      await made.answer('tools/call', { ...WANTS, requestState: `round ${round}` })
      const { result, error } = made.to(id)
      state = result?.requestState
      if (round < INPUT_ROUNDS_MAX) expect(state).toBeDefined()
      else expect(error?.message).toContain(`more than ${INPUT_ROUNDS_MAX} times`)
    }
  })

  test('by itself, in the stateless generation: nobody is asked', async () => {
    const { made } = await called()
    made.server.say({ id: 9, method: 'sampling/createMessage', params: { messages: [] } })
    await settled()
    expect(made.received).toEqual([])
  })

  test('with a state too long to seal: that call ends, and no other', async () => {
    const { made, id } = await called()
    const other = await made.ask('tools/call', { name: 'other', arguments: {} })
    const first = made.server.all('tools/call')[0]
    made.server.say({ id: first?.id, result: { ...WANTS, requestState: 'x'.repeat(100_000) } })
    await settled()
    expect(made.to(id).error?.message).toContain('cannot be passed on')
    await made.answer('tools/call', { content: [] })
    expect(made.to(other).result).toBeDefined()
    expect(made.closed).toBeUndefined()
  })

  test('of a client that has gone away: the server need not wait', async () => {
    const { made, id } = await called()
    made.gone.add(id)
    await made.answer('tools/call', WANTS)
    expect(made.server.aborted).toEqual([made.server.last('tools/call').id])
  })
})

describe('answers that nobody asked for', () => {
  test.each([['stateless'], ['session']] as const)(
    'do not reach a server: %s',
    async (generation) => {
      const made = play({ generation })
      const params = { name: 'ask', arguments: {}, inputResponses: ANSWERS }
      const id = await made.ask('tools/call', params)
      expect(made.to(id).error?.code).toBe(-32602)
      expect(made.server.all('tools/call')).toEqual([])
    },
  )

  test('a state that a client of a session made up does not reach a server', async () => {
    const made = play({ generation: 'session' })
    const id = await made.ask('tools/call', { name: 'ask', arguments: {}, requestState: 'mine' })
    expect(made.to(id).error?.code).toBe(-32602)
    expect(made.server.all('tools/call')).toEqual([])
  })

  test('beside those that were asked are left out', async () => {
    const { made, id } = await called()
    await made.answer('tools/call', WANTS)
    const { requestState } = made.to(id).result
    const inputResponses = { ...ANSWERS, sudo: { action: 'accept' } }
    await made.ask('tools/call', { name: 'ask', arguments: {}, requestState, inputResponses })
    const { params } = made.server.last('tools/call')
    expect(params.inputResponses).toEqual(ANSWERS)
    expect(params.requestState).toBeUndefined()
  })
})

describe('a call that goes on', () => {
  test("is this principal's, this server's, this call's, and counted anew the second time", async () => {
    const continuations = new Continuations(() => 1_000)
    const made = play({ rules: ONCE, continuations })
    const id = await made.ask('tools/call', { name: 'ask', arguments: { a: 1 } })
    await made.answer('tools/call', { ...WANTS, requestState: 'theirs' })
    const { requestState } = made.to(id).result
    const back = { name: 'ask', arguments: { a: 1 }, requestState, inputResponses: ANSWERS }
    const bob = play({ principal: 'bob', continuations })
    for (const [who, params] of [
      [bob, back],
      [made, { ...back, arguments: { a: 2 } }],
      [made, { ...back, name: 'other' }],
      [made, { ...back, requestState: `${requestState}A` }],
    ] as const) {
      const refused = await who.ask('tools/call', params)
      expect(who.to(refused).error?.code).toBe(-32602)
    }
    await made.ask('tools/call', back)
    expect(made.server.last('tools/call').params.requestState).toBe('theirs')
    expect(made.server.all('tools/call')).toHaveLength(2)
    const again = await made.ask('tools/call', back)
    expect(made.to(again).result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
    expect(made.server.all('tools/call')).toHaveLength(2)
  })

  test('is counted anew after a restart of the gate', async () => {
    const before = play({ rules: ONCE })
    const id = await before.ask('tools/call', { name: 'ask', arguments: {} })
    await before.answer('tools/call', WANTS)
    const { requestState } = before.to(id).result
    const after = play({ rules: ONCE })
    const back = { name: 'ask', arguments: {}, requestState, inputResponses: ANSWERS }
    await after.ask('tools/call', back)
    const third = await after.ask('tools/call', back)
    expect(after.to(third).result._meta['sluice/decision'].code).toBe('RATE_LIMITED')
  })

  test('brings what its question says into the session', async () => {
    const { made } = await called({ rules: 'default: allow\nlabels: { s/ask: [private] }' })
    await made.answer('tools/call', WANTS)
    expect(made.saw).toEqual(['private'])
  })

  test("a cursor is the list's that gave it", async () => {
    const made = play()
    const id = await made.ask('prompts/list')
    await made.answer('prompts/list', '{"prompts":[],"next\\u0043ursor":"raw"}')
    const cursor = made.to(id).result.nextCursor
    expect(cursor).not.toBe('raw')
    const other = await made.ask('resources/list', { cursor })
    expect(made.to(other).error?.code).toBe(-32602)
    await made.ask('prompts/list', { cursor })
    expect(made.server.last('prompts/list').params.cursor).toBe('raw')
  })
})

test("a list of tasks is this session's, and goes on by a sealed cursor", async () => {
  const made = play({ generation: 'session' })
  await made.ask('tools/call', { name: 'ask', arguments: {}, task: {} })
  await made.answer('tools/call', { task: { taskId: 'mine', status: 'working' } })
  const id = await made.ask('tasks/list')
  const tasks = [{ taskId: 'mine' }, { taskId: 'theirs' }]
  await made.answer('tasks/list', { tasks, nextCursor: 'raw' })
  expect(made.to(id).result.tasks).toEqual([{ taskId: 'mine' }])
  await made.ask('tasks/list', { cursor: made.to(id).result.nextCursor })
  expect(made.server.last('tasks/list').params.cursor).toBe('raw')
})

describe('a tool', () => {
  const rules = 'default: allow\ntools: { s/hidden: hide }'

  test('that is hidden is told from an unknown one by no header', async () => {
    const made = play({ rules })
    const variants: (Record<string, string> | undefined)[] = [
      undefined,
      {},
      { 'mcp-param-region': 'eu' },
      { 'mcp-param-region': 'us' },
      { 'mcp-param-other': 'x' },
    ]
    for (const headers of variants) {
      const received: string[] = []
      for (const name of ['hidden', 'unheard']) {
        const params = { name, arguments: { region: 'eu' } }
        const id = await made.ask('tools/call', params, headers === undefined ? {} : { headers })
        received.push(JSON.stringify(made.to(id).error).replaceAll(name, 'NAME'))
      }
      expect(received[0]).toBe(received[1])
    }
  })

  test('is called by headers that say what the body says', async () => {
    const made = play({ rules })
    const params = { name: 'ask', arguments: { region: 'eu' } }
    const wrong = await made.ask('tools/call', params, { headers: { 'mcp-param-region': 'us' } })
    expect(made.to(wrong).error?.code).toBe(-32020)
    await made.ask('tools/call', params, { headers: { 'mcp-param-region': 'eu' } })
    expect(made.server.all('tools/call')).toHaveLength(1)
  })

  test('whose definition is old is looked at again, and at once where the server says so', async () => {
    const made = play({ freshMs: 1_000 })
    const call = () => made.ask('tools/call', { name: 'ask', arguments: {} })
    await call()
    await call()
    expect(made.server.all('tools/list')).toHaveLength(1)
    made.nowMs += 1_001
    await call()
    expect(made.server.all('tools/list')).toHaveLength(2)
    made.server.say({ method: 'notifications/tools/list_changed' })
    await call()
    expect(made.server.all('tools/list')).toHaveLength(3)
  })
})

describe('a client that does not read', () => {
  const press = (made: Play, isFull: boolean, ...requests: (RequestId | undefined)[]): void => {
    for (const request of requests) made.relay.events.onPressure(isFull, request)
  }

  test('has the stream of its request paused, and no other', async () => {
    const { made, id } = await called()
    const { id: ours } = made.server.last('tools/call')
    press(made, true, id, 'unknown')
    press(made, false, id, id, 'unknown')
    expect(made.server.paused).toEqual([
      ['pause', ours],
      ['resume', ours],
    ])
  })

  test('has its process paused until all of it is read, unless others use that too', async () => {
    const { made, id } = await called({ generation: 'session' })
    made.server.pausesApart = false
    press(made, true, undefined, id)
    press(made, false, id)
    expect(made.server.paused.map(([what]) => what)).toEqual(['pause', 'pause'])
    press(made, false, undefined)
    expect(made.server.paused.at(-1)).toEqual(['resume', undefined])
    const { made: shared, id: other } = await called()
    shared.server.pausesApart = false
    press(shared, true, other)
    expect(shared.server.paused).toEqual([])
  })
})

test('F7: a notification that cannot be handled is dropped, and a request is answered', async () => {
  const made = play({ generation: 'session' })
  const send = made.client.send
  made.client.send = (text, on) => {
    if (text.includes('bad')) throw new RangeError('too deep')
    return send(text, on)
  }
  const log = (data: string) => ({
    method: 'notifications/message',
    params: { level: 'info', data },
  })
  made.server.say(log('bad'))
  made.server.say({
    id: 1,
    method: 'elicitation/create',
    params: { ...ELICIT.params, message: 'bad' },
  })
  await settled()
  made.server.say(log('good'))
  expect(made.closed).toBeUndefined()
  expect(made.received.map(({ params }) => params?.data)).toEqual(['good'])
  expect(made.log.join()).toContain('notifications/message')
  expect(made.server.sent.find(({ id }) => id === 1)?.error?.message).toContain('too deep')
})
