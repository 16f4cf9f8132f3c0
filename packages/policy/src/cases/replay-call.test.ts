// What the ledger stores of a call, and what replay concludes from it: never a decision that the
// call itself would not have got.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asked, compiled, document, usage } from '../../../../test/support/arbitrary-policies.ts'
import { runs } from '../../../../test/support/runs.ts'
import type { Call, Facts } from '../calls/call.ts'
import type { KnownTool } from '../calls/tools.ts'
import { collectInputs } from '../decide/collect-inputs.ts'
import { decide } from '../decide/decide.ts'
import type { CompiledPolicy } from '../model/policy.ts'
import { ExactNumber, type JsonObject } from '../values/json.ts'
import { replayCall } from './replay-call.ts'
import { sampleFacts } from './sample-facts.ts'

const LOCAL_USER = { id: 'local', kind: 'local', groups: [], claims: {} }
const ELSEWHERE = { id: 'ci', kind: 'oauth', groups: [], claims: {} }
const usageOfNothing = { look: () => expect.unreachable() }
const NOW = { wallMs: 1_770_000_000_000, monotonicMs: 5 }

const inputSchema = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    to: { type: 'string' },
    currency: { type: 'string', enum: ['EUR', 'USD'] },
    deep: { type: 'object', properties: { ok: { type: 'boolean' } } },
    list: { type: 'array' },
  },
}
const tool: KnownTool = {
  definition: { server: 'bank', name: 'pay', inputSchema },
  category: 'Financial',
  risk: 'high',
}
const when =
  'args.amount < 5.0 && args.to != "x" && args.currency == "EUR" && args.deep.ok && has(args.list)'
const POLICY = compiled({
  version: 1,
  default: 'deny',
  tools: {
    'bank/pay': {
      action: 'allow',
      when,
      spend_limit: { amount: 'args.amount', max: 9, window: 60 },
    },
  },
})

function callOf(args: JsonObject): Call {
  return { server: 'bank', method: 'tools/call', name: 'pay', args }
}

describe('recorded are', () => {
  const keep = (args: JsonObject, texts = false) =>
    collectInputs(POLICY, callOf(args), sampleFacts(tool), { texts, now: NOW })

  test('numbers, booleans and words of an enum; of other values, that they were sent', () => {
    const args = { amount: 2.5, to: 'secret', currency: 'EUR', deep: { ok: true }, list: [1] }
    expect(keep(args)).toEqual({
      'args.amount': 2.5,
      'args.to': { is: 'withheld' },
      'args.currency': 'EUR',
      'args.deep.ok': true,
      'args.list': { is: 'withheld' },
      undeclared: false,
    })
    expect(keep(args, true)).toMatchObject({ 'args.to': 'secret' })
  })

  test("a text instead of an enum's word is withheld, and so is a long one", () => {
    expect(keep({ currency: 'a password' })).toMatchObject({ 'args.currency': { is: 'withheld' } })
    expect(keep({ to: 'x'.repeat(2_000) }, true)).toMatchObject({ 'args.to': { is: 'withheld' } })
  })

  test('missing values, and values that could not exist', () => {
    const exact = new ExactNumber('9007199254740993')
    expect(keep({ amount: exact, deep: 'no object', odd: 1 })).toEqual({
      'args.amount': exact,
      'args.to': { is: 'missing' },
      'args.currency': { is: 'missing' },
      'args.deep.ok': { is: 'withheld' },
      'args.list': { is: 'missing' },
      undeclared: true,
    })
    expect(keep({})).toMatchObject({ 'args.deep.ok': { is: 'parentless' } })
  })

  test('nothing if no rule reads an argument', () => {
    const policy = compiled({ version: 1, default: 'allow' })
    expect(
      collectInputs(policy, callOf({ amount: 1 }), sampleFacts(tool), { texts: true, now: NOW }),
    ).toEqual({})
  })
})

describe('replay', () => {
  function again(
    judgedBy: CompiledPolicy,
    policy: CompiledPolicy,
    { call, facts }: { call: Call; facts: Facts },
    texts = true,
  ) {
    const judged = collectInputs(judgedBy, call, facts, { texts, now: NOW })
    const { args: _, ...bare } = call
    const { principal, agent } = facts
    const known: Facts = {
      ...facts,
      transport: '',
      principal: { ...principal, groups: [], claims: {} },
      agent: agent && { ...agent, owner: '', template: '', depth: 0, turn: 0 },
    }
    return { call: bare, facts: known, judged, sawKnown: true, schemaKnown: true, policy }
  }

  test('a decision is the one the call would have got, or unknown', () => {
    let decided = 0
    const property = fc.property(
      document,
      document,
      asked,
      usage,
      fc.boolean(),
      (one, other, ask, used, texts) => {
        const [old, now] = [compiled(one), compiled(other)]
        for (const policy of [old, now]) {
          const past = again(old, policy, ask, texts)
          const result = replayCall(policy, past, used, NOW)
          if (result.unknown !== undefined) continue
          decided++
          const { action, code } = decide(policy, ask.call, ask.facts, used, NOW)
          expect([result.decision.action, result.decision.code]).toEqual([action, code])
        }
      },
    )
    fc.assert(property, runs(300))
    expect(decided).toBeGreaterThan(100)
  })

  test('the mode of the client is recorded if a rule reads it', () => {
    const document = (when: string) =>
      compiled({ version: 1, default: 'deny', tools: { 'bank/pay': { action: 'allow', when } } })
    const policy = document('session.mode == "plan"')
    const call = callOf({})
    const facts = sampleFacts(tool, { session: { mode: 'plan' } })
    const replayed = (past: ReturnType<typeof again>) =>
      replayCall(policy, past, usageOfNothing, NOW)
    expect(replayed(again(policy, policy, { call, facts }))).toMatchObject({
      decision: { action: 'allow' },
    })
    const other = again(document('session.calls == 0'), policy, { call, facts })
    expect(replayed(other)).toMatchObject({
      unknown: expect.stringContaining('`session.mode` is not recorded'),
    })
  })

  test('groups are recorded with every call, and claims that a rule reads', () => {
    const ofGroups = compiled({
      version: 1,
      default: 'deny',
      tools: { 'bank/pay': { action: 'allow', when: '"staff" in principal.groups' } },
    })
    const when = 'principal.claims.level > 3 && principal.claims.staff && has(principal.claims.x)'
    const ofClaims = compiled({
      version: 1,
      default: 'deny',
      tools: { 'bank/pay': { action: 'allow', when } },
    })
    const silent = compiled({ version: 1, default: 'allow' })
    const word = (by: CompiledPolicy, now: CompiledPolicy, principal: object) => {
      const facts = { ...sampleFacts(tool), principal: { ...ELSEWHERE, ...principal } }
      const past = again(by, now, { call: callOf({}), facts }, false)
      const result = replayCall(now, past, usageOfNothing, NOW)
      return result.unknown ?? result.decision.action
    }
    expect(word(silent, ofGroups, { groups: ['staff'] })).toBe('allow')
    expect(word(silent, ofGroups, { groups: [] })).toBe('deny')
    expect(word(silent, ofGroups, LOCAL_USER)).toBe('deny')
    const many = Array.from({ length: 64 }, (_, at) => `a-group-of-many-words-${at}`)
    expect(word(silent, ofGroups, { groups: many })).toBe('`principal.groups` is not recorded')
    const claims = { level: 4, staff: true, x: 'a secret' }
    expect(word(ofClaims, ofClaims, { claims })).toBe('allow')
    expect(word(ofClaims, ofClaims, { claims: { ...claims, level: 3 } })).toBe('deny')
    expect(word(ofClaims, ofClaims, { claims: { level: 4 } })).toBe('deny')
    expect(word(silent, ofClaims, { claims })).toBe('`principal.claims.level` is not recorded')
    expect(word(silent, ofClaims, LOCAL_USER)).toBe('deny')
    expect(word(silent, ofClaims, { kind: 'grant' })).toBe('deny')
  })

  test('H5: whether a call holds a secret, a card or an account is recorded if a rule asks, and replayed', () => {
    const guarded = (when: string) =>
      compiled({
        version: 1,
        default: 'allow',
        guardrails: [{ name: 'keys stay here', when, action: 'deny' }],
      })
    const both = guarded('call.secret || call.card')
    const facts = { ...sampleFacts(tool), holdsSecret: () => true, holds: () => false }
    const asks = { call: callOf({ amount: 1 }), facts }
    expect(collectInputs(both, asks.call, facts, { texts: false, now: NOW })).toEqual({
      'call.secret': true,
      'call.card': false,
    })
    const action = (now: CompiledPolicy) => {
      const result = replayCall(now, again(both, now, asks), usageOfNothing, NOW)
      return result.unknown ?? result.decision.action
    }
    expect(action(guarded('call.secret'))).toBe('deny')
    expect(action(guarded('call.card'))).toBe('allow')
    expect(action(guarded('call.iban'))).toBe('`call.iban` is not recorded')
  })

  test('unrecorded values make it unknown only if they matter', () => {
    const silent = compiled({ version: 1, default: 'allow' })
    const facts = sampleFacts(tool)
    const call = callOf({ amount: 2 })
    const past = { ...again(silent, POLICY, { call, facts }) }
    const used = { look: () => expect.unreachable() }
    expect(replayCall(POLICY, past, used, NOW)).toEqual({
      unknown: 'which arguments were sent is not recorded',
    })
    const denied = compiled({
      version: 1,
      default: 'deny',
      tools: { 'bank/pay': 'deny' },
      guardrails: [{ name: 'g', when: 'args.amount > 1.0', action: 'require_approval' }],
    })
    expect(replayCall(denied, past, used, NOW)).toMatchObject({ decision: { action: 'deny' } })
  })
})

test('where hosts count, a call that nothing else stops is unknown', () => {
  const policy = compiled({ version: 1, default: 'allow', egress: { 'bank/*': ['a.example'] } })
  const past = { call: callOf({}), judged: {}, facts: sampleFacts(tool), schemaKnown: true }
  const replayed = replayCall(policy, { ...past, sawKnown: true }, usageOfNothing, NOW)
  expect(replayed).toEqual({ unknown: 'the hosts in its arguments are not recorded' })
})

test('what was decided by where values came from is unknown, unless it makes no difference', () => {
  const past = { call: callOf({}), judged: {}, facts: sampleFacts(tool), schemaKnown: true }
  const replay = (document: object) =>
    replayCall(
      compiled({ version: 1, ...document }),
      { ...past, sawKnown: true },
      usageOfNothing,
      NOW,
    )
  const why = 'is not recorded'
  for (const protect of ['balanced', 'strict'])
    expect(replay({ default: 'allow', protect }).unknown).toContain(why)
  const rule = { name: 'g', when: 'origin.to == "prose"', action: 'deny' }
  expect(replay({ default: 'allow', guardrails: [rule] }).unknown).toContain(why)
  const before = { name: 'g', when: 'called("bank/pay")', action: 'deny' }
  expect(replay({ default: 'allow', guardrails: [before] }).unknown).toContain(why)
  expect(replay({ default: 'deny', protect: 'strict' })).toMatchObject({
    decision: { action: 'deny' },
  })
})

test('what `protect` found then decides, unless a guessed category may have hidden it', () => {
  const policy = compiled({ version: 1, default: 'allow', protect: 'balanced' })
  const match = { name: 'p', rule: '/protect/valueFromText', undecided: false }
  const replay = (guardrails: (typeof match)[] | undefined, unknown = false) => {
    const facts = sampleFacts({ ...tool, unknown })
    const past = { call: callOf({}), judged: {}, facts, schemaKnown: true, sawKnown: true }
    const result = replayCall(policy, { ...past, guardrails }, usageOfNothing, NOW)
    return result.unknown === undefined ? result.decision.action : 'unknown'
  }
  expect(replay([])).toBe('allow')
  expect(replay([match])).toBe('require_approval')
  expect(replay(undefined)).toBe('unknown')
  expect(replay([match], true)).toBe('unknown')
})
