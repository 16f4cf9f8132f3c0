// Admission of a call: in which order things happen to it, and what is left if one of them fails. Also
// with a store that is slow and knows nothing of the limits before it is asked.

import { randomUUID } from 'node:crypto'
import { EngineBench, person } from '@sluice/access/approvals/engine.test-support'
import type { DecisionEntry } from '@sluice/ledger/records/record'
import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import { EmbeddedAdmissionStore } from '@sluice/ledger/store/memory/admission'
import { SlowAdmissionStore } from '@sluice/ledger/store/slow-admission.test-support'
import type { Facts } from '@sluice/policy/calls/call'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import type { JsonObject } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import { admitCall } from './admit-call.ts'
import type { CallPipeline, CallRequest } from './call-request.ts'

const CALL = { server: 's', method: 'tools/call', name: 'get_x', args: {} }
const DEFINITION = { server: 's', name: 'get_x', inputSchema: { type: 'object' } }
const FACTS: Facts = {
  tool: { definition: DEFINITION, category: 'Read', risk: 'low' },
  transport: 'stdio',
  principal: { id: 'local', kind: 'local', groups: [], claims: {} },
  agent: null,
  session: { id: 'local#0@1', startedAtMs: 1, calls: 0, saw: [] },
}

interface Made {
  readonly isSlow?: boolean
  readonly write?: () => Promise<number>
}

function admit(pipeline: CallPipeline, request: CallRequest) {
  return admitCall({ pipeline, request, lookUp: () => request })
}

function pipelineOf(rules: string, { isSlow = false, write = async () => 7 }: Made = {}) {
  const intents: DecisionEntry[] = []
  const refusals: DecisionEntry[] = []
  const logged: string[] = []
  const canaries: string[] = []
  const { policy, problems } = compile({ file: 'p', text: `version: 1\n${rules}` }, {})
  expect(problems).toEqual([])
  const { engine } = new EngineBench()
  const counters = new MemoryCounters()
  const intent = async (entry: DecisionEntry): Promise<number> => {
    intents.push(entry)
    return write()
  }
  const embedded = new EmbeddedAdmissionStore({ counters, approvals: engine, log: { intent } })
  const slow = new SlowAdmissionStore(embedded)
  const pipeline: CallPipeline = {
    policy: () => ({ policy: policy as CompiledPolicy, id: 'policy digest' }),
    frozen: () => undefined,
    onCanary: (_session, canary) => void canaries.push(canary),
    admission: isSlow ? slow : embedded,
    record: {
      refusal: (entry) => void refusals.push(entry),
      unrecorded: (_callId, why) => void logged.push(why),
    },
    now: () => ({ wallMs: 1_000, monotonicMs: 1_000 }),
    newId: () => 'id',
    keepsTexts: false,
    watch: new CallInstrumentation(new Meter(), undefined),
    approvals: {
      engine,
      pinOf: () => 'pin',
      urlOf: () => undefined,
      command: 'sluice approvals watch',
    },
  }
  const ask = (more: Partial<CallRequest> = {}) =>
    admit(pipeline, { call: CALL, facts: FACTS, argsText: '{}', ...more })
  return { ask, canaries, counters, engine, intents, logged, refusals, pipeline, slow }
}

/** Temporary, and no decision of the policy. */
const OUTAGE = { code: 'GATE_UNAVAILABLE', retryAfterMs: UNAVAILABLE_RETRY_MS }
const ONE = 'default: allow\nguardrails: [{ name: one, rate_limit: { max: 1, window: 60 } }]'
const SHADOW = `default: allow
guardrails: [{ name: one, mode: shadow, rate_limit: { max: 1, window: 60 } }]`

describe.each([false, true])('a call, with a slow store: %s', (isSlow) => {
  test('goes on with its intent on record', async () => {
    const { ask, intents, refusals } = pipelineOf(ONE, { isSlow })
    expect(await ask()).toMatchObject({ admission: { intent: 7 } })
    expect(intents).toMatchObject([{ callId: 'id', decision: { action: 'allow' } }])
    expect(refusals).toEqual([])
  })

  test('that cannot be recorded is refused and has used nothing', async () => {
    let fails = true
    const write = () => (fails ? Promise.reject(new Error('disk')) : Promise.resolve(8))
    const { ask, logged } = pipelineOf(ONE, { isSlow, write })
    const verdict = await ask()
    expect(verdict).toMatchObject({ decision: { action: 'deny', ...OUTAGE } })
    expect([JSON.stringify(verdict), logged]).toEqual([
      expect.not.stringContaining('disk'),
      ['disk'],
    ])
    fails = false
    expect(await ask()).toMatchObject({ admission: { intent: 8 } })
  })

  test('is refused by the limit that another used up, and given back makes room', async () => {
    const { ask, pipeline } = pipelineOf(ONE, { isSlow })
    const first = await ask()
    expect(await ask()).toMatchObject({ decision: { code: 'RATE_LIMITED', retryAfterMs: 60_000 } })
    if (first.admission) await pipeline.admission.refund(first.admission.receipt)
    expect((await ask()).admission).toBeDefined()
  })

  test('of many at the same moment, no more pass than may', async () => {
    const { ask } = pipelineOf(ONE, { isSlow })
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(verdicts.filter(({ admission }) => admission !== undefined)).toHaveLength(1)
    const denied = verdicts.filter(({ admission }) => admission === undefined)
    for (const verdict of denied)
      expect(verdict).toMatchObject({ decision: { code: 'RATE_LIMITED', retryAfterMs: 60_000 } })
  })

  test('that is refused for another reason says nothing of a limit', async () => {
    const { ask } = pipelineOf(ONE, { isSlow })
    await ask()
    const refused = await ask({ objection: 'odd' })
    expect(refused).toMatchObject({ decision: { code: 'DENIED', retryAfterMs: 0 } })
    expect(refused).not.toHaveProperty('decision.remaining')
  })

  test('with an objection is refused whatever the policy says', async () => {
    const { ask, intents, refusals } = pipelineOf('default: allow', { isSlow })
    expect(await ask({ objection: 'odd' })).toMatchObject({
      decision: { action: 'deny', reason: 'odd' },
    })
    expect([intents.length, refusals.length]).toEqual([0, 1])
    const hidden = pipelineOf('default: hide', { isSlow })
    expect(await hidden.ask({ objection: 'odd' })).toMatchObject({ decision: { action: 'hide' } })
  })

  test('is refused before anything is looked at where it is frozen, and counts nothing', async () => {
    const { intents, refusals, pipeline } = pipelineOf('default: hide', { isSlow })
    const frozen = { scope: 'agent', id: 'a', atMs: 0, why: '' } as const
    const admission = {
      usage: { look: () => expect.unreachable() },
      admit: () => expect.unreachable(),
      refund: () => expect.unreachable(),
    }
    const verdict = await admit(
      { ...pipeline, admission, frozen: () => frozen },
      { call: CALL, facts: FACTS, argsText: '{}' },
    )
    expect(verdict).toMatchObject({ decision: { action: 'deny', code: 'FROZEN' } })
    expect([intents.length, refusals.length]).toEqual([0, 1])
  })

  test('that would need a person where nobody can be asked is denied, and says so', async () => {
    const { ask } = pipelineOf('default: require_approval', { isSlow })
    const reason = expect.stringContaining('nobody can be asked here')
    expect(await ask()).toMatchObject({
      decision: { action: 'deny', code: 'APPROVAL_REQUIRED', reason },
    })
  })
})

test.each([false, true])(
  'a rule in shadow counts on its own, and stops nothing, with a slow store: %s',
  async (isSlow) => {
    const { ask, intents } = pipelineOf(SHADOW, { isSlow })
    for (let time = 0; time < 3; time++) expect((await ask()).admission).toBeDefined()
    const taken = intents.map(({ decision }) => decision.shadow.map(({ limits }) => limits.length))
    expect(taken).toEqual([[1], [0], [0]])
  },
)

test('a rule in shadow stops nothing, whatever the store says of its limit', async () => {
  const { pipeline, ask } = pipelineOf(SHADOW)
  const { admission } = pipeline
  const fickle: typeof admission = {
    usage: admission.usage,
    refund: (receipt) => admission.refund(receipt),
    admit: async (request) => {
      if (request.charges.length === 0) return admission.admit(request)
      const room = request.charges.map(({ max }) => ({
        passes: true,
        remaining: max,
        retryAfterMs: 0,
      }))
      return { status: 'full', refused: 0, room }
    },
  }
  Object.assign(pipeline, { admission: fickle })
  expect((await ask()).admission).toBeDefined()
  const strict = pipelineOf(ONE)
  Object.assign(strict.pipeline, { admission: fickle })
  expect(await strict.ask()).toMatchObject({ decision: { action: 'deny', code: 'RATE_LIMITED' } })
})

test.each([
  [15, { admission: { callId: 'id' } }],
  [16, { decision: { code: 'GATE_UNAVAILABLE', retryAfterMs: UNAVAILABLE_RETRY_MS } }],
])('a call that changes at other gates overtake %i times', async (times, expected) => {
  const { ask, pipeline } = pipelineOf('default: allow')
  const { admission } = pipeline
  let left = times
  const changing: typeof admission = {
    usage: admission.usage,
    refund: (receipt) => admission.refund(receipt),
    admit: async (request) => (left-- > 0 ? { status: 'changed' } : admission.admit(request)),
  }
  Object.assign(pipeline, { admission: changing })
  expect(await ask()).toMatchObject(expected)
})

describe('with a slow store', () => {
  test.each(['before', 'after'] as const)(
    'a request that is lost on the way admits nothing: %s',
    async (fails) => {
      const { ask, logged, slow } = pipelineOf(ONE, { isSlow: true })
      slow.fails = fails
      expect(await ask()).toMatchObject({ decision: { action: 'deny', ...OUTAGE } })
      expect(logged).toEqual([expect.stringContaining('lost')])
      slow.fails = 'never'
      // If the store has charged it, it stays charged: whether it was is not known here.
      expect((await ask()).admission === undefined).toBe(fails === 'after')
    },
  )

  test('a store that rejects, or gives no reply, admits nothing', async () => {
    const { ask, pipeline } = pipelineOf(ONE)
    const { admission } = pipeline
    Object.assign(pipeline, {
      admission: { ...admission, usage: admission.usage, admit: async () => [] },
    })
    expect(await ask()).toMatchObject({ decision: OUTAGE })
    const admit = () => Promise.reject(new Error('down'))
    Object.assign(pipeline, { admission: { ...admission, usage: admission.usage, admit } })
    await expect(ask()).rejects.toThrow('down')
  })

  test('one approval lets one of two calls pass, and a full limit is told before a person is asked', async () => {
    const rules = `default: require_approval
guardrails: [{ name: one, rate_limit: { max: 1, window: 60 } }]`
    const { ask, engine, pipeline } = pipelineOf(rules, { isSlow: true })
    Object.assign(pipeline, { newId: randomUUID })
    const waitOptions = () => ({
      params: undefined,
      waitMsMax: () => 0,
      isWanted: () => true,
      withArgs: undefined,
    })
    const pending = await ask({ waitOptions })
    expect(pending).toMatchObject({ decision: { code: 'APPROVAL_PENDING' } })
    const [request] = await engine.list({ limit: 10 })
    await engine.decide(request?.id ?? '', { verdict: 'approve' }, person('ada'), 'terminal')
    const verdicts = await Promise.all([ask({ waitOptions }), ask({ waitOptions })])
    expect(verdicts.filter(({ admission }) => admission !== undefined)).toHaveLength(1)
    expect(verdicts.find(({ admission }) => admission === undefined)).toMatchObject({
      decision: { code: expect.stringMatching(/^(APPROVAL_USED|RATE_LIMITED)$/) },
    })
    // Another call of the same kind: its limit is full, so nobody is asked.
    const other = await ask({ waitOptions, argsText: '{"other":1}' })
    expect(other).toMatchObject({ decision: { code: 'RATE_LIMITED' } })
    expect(await engine.list({ limit: 10 })).toHaveLength(1)
  })
})

test('a planted value in any form is refused as frozen, recorded and told', async () => {
  const planted = 'ab12-cd34-ef56'
  const { canaries, pipeline, refusals } = pipelineOf(
    `default: allow\ncanaries: { key: ${planted} }`,
  )
  const call = (args: JsonObject) => ({ server: 's', method: 'tools/call', name: 'put', args })
  const tool = { definition: { server: 's', name: 'put' }, category: 'Write', risk: 'low' } as const
  const ask = (args: JsonObject) =>
    admit(pipeline, { call: call(args), facts: { ...FACTS, tool }, argsText: '{}' })
  const passed = await ask({ a: 'ab12', b: 'ef56' })
  expect(passed.admission).toBeDefined()
  const forms: JsonObject[] = [
    { a: `x ${planted.toUpperCase()} y` },
    { a: Buffer.from(`..${planted}`).toString('base64') },
    { a: { [Buffer.from(planted).toString('hex')]: 1 } },
    { a: [...planted].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('') },
    { a: 'ab12-c', b: ['d34-ef56'] },
  ]
  for (const form of forms) {
    const verdict = await ask(form)
    expect([form, verdict.admission]).toEqual([form, undefined])
  }
  expect(canaries).toEqual(forms.map(() => 'key'))
  expect(refusals.map(({ decision }) => [decision.code, decision.rule])).toEqual(
    forms.map(() => ['FROZEN', '/canaries/key']),
  )
})
