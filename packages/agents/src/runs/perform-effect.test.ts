// Effects with a shared store that does not respond in between.

import { expect, test } from 'vitest'
import { AgentError } from '../shared/errors.ts'
import { EffectPerformer } from './perform-effect.ts'

/** The steps of an agent; the first of each name is done, and its answer is lost. */
function losingSteps() {
  const asked: string[] = []
  const lose = <Value>(name: string, value: Value): Value => {
    asked.push(name)
    if (asked.filter((each) => each === name).length === 1)
      throw new AgentError('AGENT_UNAVAILABLE', 'the store did not respond')
    return value
  }
  const steps = {
    beginEffect: async () => lose('beginEffect', true),
    standing: async () => ({ family: { labels: [] } }),
    addLabels: async () => lose('addLabels', undefined),
  }
  return { asked, steps }
}

test('a call is sent once, and its result is kept, if the store loses its answers before and after', async () => {
  const { asked, steps } = losingSteps()
  const gate = {
    call: async () => {
      asked.push('call')
      return { kind: 'result', text: 'done', isError: false, saw: ['private'] }
    },
  }
  const performer = new EffectPerformer({ steps, gate, now: () => 1, models: {} } as never)
  const agent = { id: 'a', owner: 'me', grants: ['count/write'], summary: { turnCount: 1 } }
  const effect = { kind: 'tool', id: 'e', server: 'count', tool: 'write', input: {} }
  const options = { before: undefined, signal: new AbortController().signal }
  const { event } = await performer.perform(agent as never, effect as never, options as never)
  expect(event).toMatchObject({ kind: 'tool', content: 'done', isError: false })
  expect(asked).toEqual(['beginEffect', 'beginEffect', 'call', 'addLabels', 'addLabels'])
})
