// The spine: in which order things happen to a call, and what is left where one of them fails.

import { compile } from '@sluice/policy/compile/compile'
import type { Facts } from '@sluice/policy/core/call'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { describe, expect, test } from 'vitest'
import { EngineBench } from '../../approvals/engine.test-support.ts'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import { admit, type CallPipeline, type CallRecorder, type DecidedCall } from './admit.ts'

const CALL = { server: 's', method: 'tools/call', name: 'get_x', args: {} }
const DEFINITION = { server: 's', name: 'get_x', inputSchema: { type: 'object' } }
const FACTS: Facts = {
  tool: { definition: DEFINITION, category: 'Read', risk: 'low' },
  transport: 'stdio',
  principal: { id: 'local', kind: 'local', groups: [], claims: {} },
  agent: null,
  session: { id: 'local#0@1', startedAtMs: 1, calls: 0, saw: [] },
}

function spineOf(rules: string, write: () => Promise<number> = async () => 7) {
  const intents: DecidedCall[] = []
  const refusals: DecidedCall[] = []
  const { policy, problems } = compile({ file: 'p', text: `version: 1\n${rules}` }, {})
  expect(problems).toEqual([])
  const counters = new MemoryCounters()
  const intent: CallRecorder['intent'] = (judged, written, failed) => {
    intents.push(judged)
    write().then(written, failed)
  }
  const record = { intent, refusal: (judged: DecidedCall) => void refusals.push(judged) }
  const spine: CallPipeline = {
    policy: () => ({ policy: policy as CompiledPolicy, id: 'policy digest' }),
    frozen: () => undefined,
    counters,
    record,
    now: () => ({ wallMs: 1_000, monotonicMs: 1_000 }),
    newId: () => 'id',
    keepsTexts: false,
    watch: new CallInstrumentation(new Meter(), undefined),
    approvals: {
      engine: new EngineBench().engine,
      pinOf: () => 'pin',
      urlOf: () => undefined,
      command: 'sluice approvals watch',
    },
  }
  const ask = (objection?: string) =>
    admit(spine, { call: CALL, facts: FACTS, argsText: '{}', objection })
  return { ask, intents, refusals, spine }
}

const ONE = 'default: allow\nguardrails: [{ name: one, rate_limit: { max: 1, window: 60 } }]'
const SHADOW = `default: allow
guardrails: [{ name: one, mode: shadow, rate_limit: { max: 1, window: 60 } }]`

describe('a call', () => {
  test('goes on with its intent on record', async () => {
    const { ask, intents, refusals } = spineOf(ONE)
    const verdict = await ask()
    expect(verdict.admission?.intent).toBe(7)
    expect(intents).toMatchObject([{ callId: 'id', argsText: '{}', decision: { action: 'allow' } }])
    expect(refusals).toEqual([])
  })

  test('that cannot be recorded is refused and has used nothing', async () => {
    let fails = true
    const write = () => (fails ? Promise.reject(new Error('disk')) : Promise.resolve(8))
    const { ask } = spineOf(ONE, write)
    expect(await ask()).toMatchObject({
      decision: { action: 'deny', code: 'POLICY_FAULT', reason: expect.stringContaining('disk') },
    })
    fails = false
    expect((await ask()).admission?.intent).toBe(8)
  })

  test('is refused by the limit that another used up, and given back makes room', async () => {
    const { ask } = spineOf(ONE)
    const first = await ask()
    expect(await ask()).toMatchObject({ decision: { code: 'RATE_LIMITED', retryAfterMs: 60_000 } })
    await first.admission?.giveBack()
    expect((await ask()).admission).toBeDefined()
  })

  test('of many at the same moment, no more pass than may', async () => {
    const { ask } = spineOf(ONE)
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(verdicts.filter(({ admission }) => admission !== undefined)).toHaveLength(1)
  })

  test('with an objection is refused whatever the policy says', async () => {
    const { ask, intents, refusals } = spineOf('default: allow')
    expect(await ask('odd')).toMatchObject({ decision: { action: 'deny', reason: 'odd' } })
    expect([intents.length, refusals.length]).toEqual([0, 1])
    const hidden = spineOf('default: hide')
    expect(await hidden.ask('odd')).toMatchObject({ decision: { action: 'hide' } })
  })

  test('is refused before anything is looked at where it is frozen, and counts nothing', async () => {
    const { intents, refusals, spine } = spineOf('default: hide')
    const asked = { call: CALL, facts: FACTS, argsText: '{}' }
    const frozen = { scope: 'agent', id: 'a', atMs: 0, why: '' } as const
    const counters = {
      ...spine.counters,
      consume: () => expect.unreachable(),
      look: () => expect.unreachable(),
    }
    const verdict = await admit({ ...spine, counters, frozen: () => frozen }, asked)
    expect(verdict).toMatchObject({ decision: { action: 'deny', code: 'FROZEN' } })
    expect([intents.length, refusals.length]).toEqual([0, 1])
  })

  test('that would need a person where nobody can be asked is denied, and says so', async () => {
    const { ask } = spineOf('default: require_approval')
    const reason = expect.stringContaining('nobody can be asked here')
    expect(await ask()).toMatchObject({
      decision: { action: 'deny', code: 'APPROVAL_REQUIRED', reason },
    })
  })
})

test('a rule in shadow counts on its own, and stops nothing', async () => {
  const { ask, intents } = spineOf(SHADOW)
  for (let time = 0; time < 3; time++) expect((await ask()).admission).toBeDefined()
  const taken = intents.map(({ decision }) => decision.shadow.map(({ limits }) => limits.length))
  expect(taken).toEqual([[1], [0], [0]])
})
