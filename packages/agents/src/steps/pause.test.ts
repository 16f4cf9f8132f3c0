// Pause and resume: a run is held between two steps, and goes on where it stood, also when a limit
// had stopped it and was raised.

import { expect, test } from 'vitest'
import { bench, call, configOf } from '../agents.test-support.ts'
import type { ChatMessage, GrantedTool } from '../guest/protocol.ts'

const COUNT: GrantedTool = {
  name: 'count__add',
  server: 'count',
  tool: 'add',
  description: '',
  inputSchema: {},
}

function messagesOf(made: Awaited<ReturnType<typeof bench>>, id: string): readonly ChatMessage[] {
  const asked = { ask: 'messages', from: 0, bytesMax: 1e6 }
  return made.ask<{ messages: ChatMessage[] }>(id, asked).messages
}

test('a run that a limit stopped goes on where it stood when the limit is raised', async () => {
  const made = await bench()
  await made.create('a', configOf({ maxTurns: 1 }, { tools: [COUNT] }))
  const asked = await made.prompt('a', 'begin', 'r1')
  const calls = [call('count__add', { n: 1 }, 'c1'), call('write_todos', { todos: ['x'] }, 'c2')]
  const stopped = await made.model('a', asked, 'I begin', calls)
  expect(stopped.ended).toMatchObject([{ runId: 'r1', stop: { reason: 'max_turns' } }])
  expect(stopped.effects).toEqual([])
  // Complete for an export in the meantime.
  const closed = messagesOf(made, 'a')
  expect(closed.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
  await expect(made.send('a', { kind: 'resume', limits: {}, runId: 'r2' })).rejects.toThrow(
    /raise the/,
  )

  const resumed = await made.send('a', { kind: 'resume', limits: { maxTurns: 5 }, runId: 'r2' })
  expect(resumed.effects).toMatchObject([{ kind: 'tool', tool: 'add', input: { n: 1 } }])
  expect(resumed.summary).toMatchObject({ state: 'running', runId: 'r2', stop: null })
  expect(made.operations.run('me', 'a', null)).toMatchObject({ runId: 'r2', result: null })
  const [effect] = resumed.effects
  const result = await made.send('a', {
    kind: 'tool',
    effectId: effect?.id,
    content: 'added',
    isError: false,
  })
  expect(messagesOf(made, 'a').filter(({ role }) => role === 'tool')).toMatchObject([
    { callId: 'c1', content: 'added' },
    { callId: 'c2', isError: false },
  ])
  expect(made.ask('a', { ask: 'todos' })).toHaveLength(1)
  expect((await made.model('a', result, 'done')).ended).toMatchObject([
    { runId: 'r2', response: 'done', turns: 2, toolCalls: 2, stop: { reason: 'answered' } },
  ])
})

test('what was sent when a limit fell is not sent again, what was not asked yet is asked', async () => {
  const made = await bench()
  await made.create('a', configOf({ runMs: 1_500 }, { tools: [COUNT] }))
  const asked = await made.prompt('a', 'begin', 'r1')
  await made.model('a', asked, '', [call('count__add', { n: 1 }, 'c1')])
  const stopped = await made.send('a', { kind: 'tick' })
  expect(stopped.ended).toMatchObject([{ stop: { reason: 'run_time' } }])
  const resumed = await made.send('a', { kind: 'resume', limits: { runMs: 60_000 }, runId: 'r2' })
  expect(resumed.effects).toMatchObject([{ kind: 'model' }])
  expect(messagesOf(made, 'a').at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining('OUTCOME_UNKNOWN'),
  })

  // Before the first answer: the prompt is there again.
  await made.create('b', configOf({ runMs: 500 }))
  await made.prompt('b', 'only this', 'r3')
  await made.send('b', { kind: 'tick' })
  expect(messagesOf(made, 'b')).toEqual([])
  const again = await made.send('b', { kind: 'resume', limits: { runMs: 60_000 }, runId: 'r4' })
  expect(again.effects).toMatchObject([{ kind: 'model' }])
  expect(messagesOf(made, 'b')).toEqual([{ role: 'user', content: 'only this' }])
})

test('a stop by a person ends the run; a fork of a stopped agent can go on by itself', async () => {
  const made = await bench()
  await made.create('a', configOf({ maxTurns: 1 }))
  const stopped = await made.model('a', await made.prompt('a'), '', [
    call('write_todos', { todos: ['x'] }),
  ])
  expect(stopped.summary.state).toBe('stopped')
  made.operations.fork('me', 'a', { ids: ['copy'], turn: null, nowMs: made.now })
  await made.send('a', { kind: 'stop', reason: 'stopped', detail: 'enough' })
  const limits = { maxTurns: 9 }
  expect((await made.send('a', { kind: 'resume', limits, runId: 'r2' })).summary).toMatchObject({
    state: 'idle',
    runId: null,
  })
  expect((await made.send('copy', { kind: 'resume', limits, runId: 'r3' })).effects).toMatchObject([
    { kind: 'model' },
  ])
  expect(made.ask('copy', { ask: 'todos' })).toHaveLength(1)
})

test('the time of a run does not count while it is paused', async () => {
  const made = await bench()
  await made.create('a', configOf({ runMs: 10_000 }))
  await made.prompt('a', 'begin', 'r1')
  const paused = await made.send('a', { kind: 'pause', reason: 'lunch' })
  expect(paused.summary.wakeAt).toBeNull()
  expect(made.operations.standing('me', 'a', made.now)).toMatchObject({
    agent: { state: 'paused' },
    runStartedAt: null,
    held: null,
  })
  for (let at = 0; at < 30; at++) await made.send('a', { kind: 'tick' })
  const resumed = await made.send('a', { kind: 'resume', limits: {}, runId: 'r2' })
  expect(resumed.summary).toMatchObject({ state: 'running', runId: 'r1', stop: null })
  const { agent, runStartedAt } = made.operations.standing('me', 'a', made.now)
  expect(agent.pausedAt).toBeNull()
  expect((agent.summary.wakeAt ?? 0) - (runStartedAt ?? 0)).toBe(10_000)
  // A prompt that is paused before it begins has all of its time.
  await made.create('b', configOf({ runMs: 10_000 }))
  await made.send('b', { kind: 'pause', reason: '' })
  await made.prompt('b', 'begin', 'r5')
  for (let at = 0; at < 30; at++) await made.send('b', { kind: 'tick' })
  const later = await made.send('b', { kind: 'resume', limits: {}, runId: 'r6' })
  expect(later.summary).toMatchObject({ state: 'running', runId: 'r5' })
})
