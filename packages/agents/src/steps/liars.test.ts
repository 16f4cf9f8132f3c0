// Images that lie: cores that are not ours, in a store of their own. The host believes its own count
// and its own record.

import { describe, expect, test } from 'vitest'
import { scratchDirectory } from '../../../../test/support/scratch.ts'
import { Bench, configOf } from '../agents.test-support.ts'
import { bakeImage } from '../sandbox/bake-image.ts'
import { openImage } from '../sandbox/image.ts'

const SUMMARY = `{
  state: 'running', turnCount: 0, toolCallCount: 0, fileCount: 0, fileBytes: 0,
  todos: { pending: 0, in_progress: 0, completed: 0, cancelled: 0 },
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, costMicros: null },
  stop: null, waitingFor: null, wakeAt: null, runId: 'r1', queued: 0 }`

/** Never stops, never counts, and always wants another turn. */
const NEVER_STOPS = `
  let next = 1
  globalThis.__guest = (operation, text) => {
    const { kind } = JSON.parse(text)
    const effects = ['prompt', 'model', 'stop'].includes(kind)
      ? [{ kind: 'model', id: 'e' + next++, epoch: 0, from: 0, messages: [] }] : []
    return JSON.stringify({ ok: { effects, dropped: [], ended: [], output: null, summary: ${SUMMARY} } })
  }`

function liar(core: string): Bench {
  return new Bench(scratchDirectory(), openImage(bakeImage(core)))
}

describe('an image that lies', () => {
  test.each([
    [{ maxTurns: 3 }, 3],
    [{ maxTokens: 40 }, 3],
    [{ expiresAt: 1_005_000 }, 3],
    [{ runMs: 2_500 }, 3],
  ])('about its stop is stopped by the host: %j', async (limits, turns) => {
    const b = liar(NEVER_STOPS)
    await b.create('a', configOf(limits))
    let step = await b.prompt('a', 'go', 'r1')
    for (let turn = 1; turn <= turns; turn += 1) {
      expect(step.effects).toHaveLength(1)
      step = await b.model('a', step, 'more')
    }
    expect(step.effects).toEqual([])
    const { agent, held } = b.operations.standing(null, 'a', 0)
    expect(held).toMatchObject({ reason: 'host_limit' })
    expect(agent.state).toBe('stopped')
    expect(b.operations.openEffects()).toEqual([])
    await expect(b.prompt('a', 'again', 'r2')).rejects.toThrow(/stopped/)
    await expect(b.tool('a', 'list_files', {})).rejects.toThrow(/stopped/)
    b.operations.close()
  })

  test.each([
    ['nothing', `'{}'`],
    ['no JSON', `'so?'`],
    ['a list', `'[]'`],
    ['no object', `undefined`],
    [
      'a state nobody knows',
      `JSON.stringify({ ok: { effects: [], dropped: [], ended: [], output: null, summary: { ...(${SUMMARY}), state: 'root' } } })`,
    ],
    [
      'a count that is none',
      `JSON.stringify({ ok: { effects: [], dropped: [], ended: [], output: null, summary: { ...(${SUMMARY}), turnCount: -1 } } })`,
    ],
    ['a flood', `'"' + 'x'.repeat(4e7) + '"'`],
    [
      'an effect nobody knows',
      `JSON.stringify({ ok: { effects: [{ kind: 'shell', id: 'e1' }], dropped: [], ended: [], output: null, summary: ${SUMMARY} } })`,
    ],
  ])('answers with %s: an error, and nothing is there after it', async (_, answer) => {
    const b = liar(`globalThis.__guest = () => (${answer})`)
    await expect(b.create('a')).rejects.toThrow()
    expect(b.operations.list('me', null, 0, 10)).toEqual([])
    b.operations.close()
  })
})
