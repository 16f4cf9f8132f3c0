// Roots of a client on their way to its server, in both generations of the protocol.

import { afterEach, expect, test } from 'vitest'
import { playing } from '../relay/relay.test-support.ts'
import { settled } from '../upstream/scripted-link.test-support.ts'
import { CLIENT_ROOTS_MAX } from './limits.ts'

const { play, endPlays } = playing()
afterEach(endPlays)

const rootsOf = (...uris: string[]) => ({ roots: uris.map((uri) => ({ uri })) })
const MANY = rootsOf(...Array.from({ length: CLIENT_ROOTS_MAX + 1 }, (_, at) => `file:///${at}`))

test('F4: the roots of a session count before the server gets them, or it gets an error', async () => {
  const made = play({ generation: 'session' })
  const named: (readonly string[])[] = []
  made.nameRoots = (roots) => {
    named.push(roots)
    return roots.includes('file:///own') ? 'not that one' : undefined
  }
  const begin = { protocolVersion: '2025-11-25', capabilities: { roots: {} } }
  await made.ask('initialize', begin)
  await made.answer('initialize', { protocolVersion: '2025-11-25', capabilities: {} })
  const answers: unknown[] = []
  const counted: number[] = []
  for (const result of [rootsOf('file:///a'), rootsOf('file:///own'), MANY, { roots: [5] }, {}]) {
    made.server.say({ id: 9, method: 'roots/list' })
    await settled()
    const asked = made.received.findLast(({ method }) => method === 'roots/list')
    const before = named.length
    made.tell({ id: asked?.id, result })
    // A call may follow in the same read: the roots count for it.
    counted.push(named.length - before)
    await settled()
    answers.push(made.server.sent.at(-1))
  }
  expect(named).toEqual([['file:///a'], ['file:///own'], [], []])
  expect(counted).toEqual([1, 1, 0, 1, 1])
  expect(answers).toMatchObject([
    { id: 9, result: rootsOf('file:///a') },
    { id: 9, error: { message: 'not that one' } },
    { id: 9, error: { message: expect.stringContaining(`at most ${CLIENT_ROOTS_MAX} pass`) } },
    { id: 9, result: { roots: [5] } },
    { id: 9, result: {} },
  ])
})

test('F4: the roots of the stateless generation count for the very call that brings them', async () => {
  const made = play()
  const named: (readonly string[])[] = []
  made.nameRoots = (roots) => void named.push(roots)
  const wants = { resultType: 'input_required', inputRequests: { where: { method: 'roots/list' } } }
  const bring = async (roots: object) => {
    const first = await made.ask('tools/call', { name: 'ask' })
    await made.answer('tools/call', { ...wants, requestState: 'theirs' })
    const { requestState } = made.to(first).result
    const inputResponses = { where: roots }
    return made.ask('tools/call', { name: 'ask', requestState, inputResponses })
  }
  await bring(rootsOf('file:///a'))
  await bring(rootsOf('file:///a'))
  await bring(rootsOf('file:///b'))
  expect(named).toEqual([['file:///a'], ['file:///a', 'file:///b']])
  const refused = await bring(MANY)
  expect(made.to(refused)).toMatchObject({ error: { code: -32602 } })
})
