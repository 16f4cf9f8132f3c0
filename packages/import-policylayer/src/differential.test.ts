// The importer against the original's own semantics, on random documents and calls: what we let
// through the original lets through too, and where arguments have the types that conditions speak
// of, denials agree as well (limits aside, where ours may only be tighter).

import type { Facts } from '@sluice/policy/calls/call'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { IS_FULL, runs } from '../../../test/support/runs.ts'
import { ALIKE } from './alike-values.test-support.ts'
import { importPolicy } from './import-policy.ts'
import {
  type Condition,
  type HostedDoc,
  type InterceptDoc,
  OriginalHosted,
  OriginalIntercept,
  resolve,
} from './original-semantics.test-support.ts'

const SERVER = 'shop'
const TOOLS = ['charge', 'refund', 'search', 'purge']
const PATHS = ['args.amount', 'args.currency', 'args.force', 'args.note.text', 'args.tags']
const RUNS = runs(600)

const text = fc.constantFrom('usd', 'eur', 'a b', '', '5', 'true', '<nil>', '[x]', 'x"\\y', '1e+06')
const number = fc.constantFrom(0, 1, 5, 10, 100, 2.5, -3, 1_000_000)
const scalar = fc.oneof(text, number, fc.boolean())
const argument: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  fc.constant(null),
  fc.array(scalar, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom('text', 'usd', '5'), scalar, { maxKeys: 2 }),
)

const sameKind = fc.oneof(
  fc.array(text, { minLength: 1, maxLength: 3 }),
  fc.array(number, { minLength: 1, maxLength: 3 }),
  fc.array(fc.boolean(), { minLength: 1, maxLength: 2 }),
)
const path = fc.constantFrom(...PATHS)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ path, op: fc.constantFrom('eq', 'neq'), value: scalar }),
  fc.record({ path, op: fc.constantFrom('in', 'not_in'), value: sameKind }),
  fc.record({ path, op: fc.constantFrom('in', 'not_in'), value: fc.constant([]) }),
  fc.record({ path, op: fc.constantFrom('lt', 'lte', 'gt', 'gte'), value: number }),
  fc.record({
    path,
    op: fc.constant('regex'),
    value: fc.constantFrom('^u', 'd$', '[0-9]+', '^$', 'e.r'),
  }),
  fc.record({ path, op: fc.constant('contains'), value: text }),
  fc.record({ path, op: fc.constant('exists'), value: fc.boolean() }),
)

const window = fc.constantFrom('minute', 'hour')
const rules = (tool: string) => {
  const scope = tool === '*' ? '_global' : tool
  const counted = fc
    .record({
      counter: fc.constantFrom('a', 'b', 'c'),
      window,
      op: fc.constantFrom('lt', 'lte'),
      max: fc.integer({ min: 0, max: 6 }),
      increment: fc.integer({ min: 0, max: 3 }),
      spends: fc.boolean(),
      conditions: fc.array(condition, { maxLength: 1 }),
    })
    .map(({ counter, window, op, max, increment, spends, conditions }) => ({
      conditions: [{ path: `state.${scope}.${counter}`, op, value: max }, ...conditions],
      state: { counter, window, increment, ...(spends ? { increment_from: 'args.amount' } : {}) },
    }))
  const rule = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ conditions: fc.array(condition, { minLength: 1, maxLength: 3 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ rate_limit: fc.constantFrom('1/minute', '3/minute', '5/hour') }),
    },
    { weight: 2, arbitrary: counted },
    { weight: 1, arbitrary: fc.constant({ action: 'deny' }) },
    {
      weight: 1,
      arbitrary: fc.record({
        action: fc.constant('require_approval'),
        conditions: fc.array(condition, { maxLength: 2 }),
      }),
    },
  )
  return fc.array(rule, { maxLength: 3 }).map((list) => {
    const seen = new Set<string>()
    return list
      .map((one, index) => ({ name: `rule ${index}`, ...one }))
      .filter((one) => {
        const counter =
          'state' in one
            ? one.state.counter
            : 'rate_limit' in one
              ? one.rate_limit.split('/')[1]
              : undefined
        if (counter === undefined) return true
        return !seen.has(counter) && seen.add(counter)
      })
  })
}

const interceptDoc: fc.Arbitrary<InterceptDoc> = fc
  .record({
    version: fc.constant('1'),
    default: fc.constantFrom('allow', 'deny', undefined),
    hide: fc.constantFrom(undefined, ['purge'], ['charge', 'search'], ['*']),
    charge: rules('charge'),
    refund: fc.option(rules('refund'), { nil: undefined }),
    every: fc.option(rules('*'), { nil: undefined }),
  })
  .map(({ version, default: otherwise, hide, charge, refund, every }) => ({
    version,
    ...(otherwise && { default: otherwise }),
    ...(hide && { hide }),
    tools: {
      charge: { rules: charge },
      ...(refund && { refund: { rules: refund } }),
      ...(every && { '*': { rules: every } }),
    } as InterceptDoc['tools'],
  }))

const limit = fc.record(
  { window, max: fc.integer({ min: 0, max: 6 }), increment_from: fc.constantFrom('args.amount') },
  { requiredKeys: ['window', 'max'] },
)
const hostedTool = fc.record(
  {
    require: fc.array(condition, { maxLength: 2 }),
    deny_if: fc.array(condition, { maxLength: 2 }),
    limits: fc.array(limit, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const hostedDoc: fc.Arbitrary<HostedDoc> = fc.record(
  {
    version: fc.constant('1'),
    default: fc.constantFrom('allow', 'deny'),
    hide: fc.constantFrom(['purge'], ['*']),
    all_tools: fc.record({
      limits: fc.array(
        limit.map(({ increment_from: _, ...rest }) => rest),
        { maxLength: 1 },
      ),
    }),
    tools: fc.record({ charge: hostedTool, refund: hostedTool }, { requiredKeys: ['charge'] }),
  },
  { requiredKeys: ['version', 'default', 'tools'] },
) as fc.Arbitrary<HostedDoc>

interface OneCall {
  readonly tool: string
  readonly args: JsonObject
  readonly afterMs: number
}
const args = fc.record(
  {
    amount: fc.oneof({ weight: 3, arbitrary: number }, argument),
    currency: fc.oneof({ weight: 2, arbitrary: text }, argument),
    force: argument,
    note: argument,
    tags: argument,
    extra: argument,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>
const calls: fc.Arbitrary<OneCall[]> = fc.array(
  fc.record({
    tool: fc.constantFrom('charge', 'charge', ...TOOLS),
    args,
    afterMs: fc.constantFrom(0, 1, 7_000, 31_000, 60_000, 1_900_000),
  }),
  { minLength: 1, maxLength: 12 },
)

/** `charge` and `search` declare nothing; the others declare what conditions mostly speak of. */
const DECLARED = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    currency: { type: 'string' },
    force: { type: 'boolean' },
    note: { type: 'object', properties: { text: { type: 'string' } } },
    tags: { type: 'array', items: { type: 'string' } },
  },
}
const OPEN = new Set(['charge', 'search'])
const known = new Map<string, KnownTool>(
  TOOLS.map((name) => {
    const definition = {
      server: SERVER,
      name,
      ...(OPEN.has(name) ? {} : { inputSchema: DECLARED }),
    }
    return [name, { definition, category: 'Write', risk: 'medium' }]
  }),
)

function factsFor(tool: string): Facts {
  return {
    tool: known.get(tool) as KnownTool,
    transport: 'stdio',
    principal: { id: 'p', kind: 'user', groups: [], claims: {} },
    agent: null,
    session: { id: 's', startedAtMs: 0, calls: 0, saw: [] },
  }
}

interface Seen {
  allowed: number
  denied: number
  held: number
  limited: number
  tighter: number
}

function run(
  source: string,
  original: OriginalIntercept | OriginalHosted,
  conditions: readonly Condition[],
  sequence: readonly OneCall[],
  seen: Seen,
): void {
  const imported = importPolicy(source, { file: 'policy.yaml', server: SERVER })
  const compiled = compile({ file: 'imported.yaml', text: imported.yaml })
  expect(
    compiled.problems.filter((problem) => problem.severity === 'error'),
    imported.yaml,
  ).toEqual([])
  const policy = compiled.policy
  if (policy === undefined) throw new Error('no policy')
  const counters = new MemoryCounters()
  let nowMs = 59_990
  for (const { tool, args, afterMs } of sequence) {
    nowMs += afterMs
    const now = { wallMs: nowMs, monotonicMs: nowMs }
    const ours = decide(
      policy,
      { server: SERVER, method: 'tools/call', name: tool, args },
      factsFor(tool),
      counters,
      now,
    )
    const theirs = original.judge(tool, args, nowMs)
    const hold = (fine: boolean) => {
      if (fine) return
      const { action, code, rule } = ours
      throw new Error(
        `${source}\n${imported.yaml}\n${JSON.stringify({ tool, args, action, code, rule, theirs: theirs.verdict })}`,
      )
    }
    hold(ours.code !== 'POLICY_FAULT')
    if (ours.action === 'allow') {
      seen.allowed++
      hold(theirs.verdict === 'allow')
      counters.consume(ours.limits, now)
      original.commit(theirs, nowMs)
    } else if (ours.code === 'RATE_LIMITED' || ours.code === 'SPEND_LIMITED') seen.limited++
    else {
      const verdict = ours.action === 'hide' ? 'deny' : ours.action
      if (verdict === 'deny') seen.denied++
      else seen.held++
      if (verdict !== theirs.verdict) seen.tighter++
      const fair = imported.errors.length === 0 && isWellTyped(conditions, args) && OPEN.has(tool)
      hold(verdict === 'deny' || theirs.verdict !== 'deny')
      if (fair) hold(verdict === theirs.verdict)
    }
  }
}

/** Every argument that a condition reads is missing, or of the kind the condition speaks of. */
function isWellTyped(conditions: readonly Condition[], args: JsonObject): boolean {
  return conditions.every(({ path, op, value }) => {
    if (path.startsWith('state.')) return true
    if (
      path === 'args.note.text' &&
      'note' in args &&
      (typeof args.note !== 'object' || args.note === null || Array.isArray(args.note))
    )
      return false
    const found = resolve(path, args)
    if (!found.there || op === 'exists') return true
    if (op === 'amount') return typeof found.value === 'number' && found.value >= 1
    const kind = Array.isArray(value)
      ? value.length === 0
        ? typeof found.value
        : typeof value[0]
      : typeof value
    return typeof found.value === kind && found.value !== null
  })
}

/** A negative amount passes the original, and gives budget back; below 1 it counts nothing. */
function amounts(spends: boolean): readonly Condition[] {
  return spends ? [{ path: 'args.amount', op: 'amount', value: 0 }] : []
}

it(`Intercept YAML: never looser, and equal on well-typed calls (${RUNS.numRuns} documents)`, () => {
  const seen: Seen = { allowed: 0, denied: 0, held: 0, limited: 0, tighter: 0 }
  fc.assert(
    fc.property(interceptDoc, calls, (doc, sequence) => {
      const all = Object.values(doc.tools).flatMap(({ rules }) => rules)
      const conditions = all.flatMap((rule) => rule.conditions ?? [])
      const spends = all.some((rule) => rule.state?.increment_from !== undefined)
      run(
        stringify(doc),
        new OriginalIntercept(doc),
        [...conditions, ...amounts(spends)],
        sequence,
        seen,
      )
    }),
    RUNS,
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
}, 300_000)

it(`hosted JSON: never looser, and equal on well-typed calls (${RUNS.numRuns} documents)`, () => {
  const seen: Seen = { allowed: 0, denied: 0, held: 1_000_000, limited: 0, tighter: 0 }
  fc.assert(
    fc.property(hostedDoc, calls, (doc, sequence) => {
      const tools = Object.values(doc.tools)
      const conditions = tools.flatMap((tool) => [...(tool.require ?? []), ...(tool.deny_if ?? [])])
      const spends = tools.some((tool) =>
        tool.limits?.some((one) => one.increment_from !== undefined),
      )
      run(
        JSON.stringify(doc),
        new OriginalHosted(doc),
        [...conditions, ...amounts(spends)],
        sequence,
        seen,
      )
    }),
    RUNS,
  )
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
}, 300_000)

const SCALARS = ALIKE.filter((value) => value !== null && typeof value !== 'object')

it('another type never slips through: every operator, value and argument in every sense', () => {
  const ofValues: Condition[] = [
    ...SCALARS.flatMap((value) =>
      ['eq', 'neq', 'contains'].map((op) => ({ path: 'args.x', op, value })),
    ),
    ...SCALARS.flatMap((value) =>
      ['in', 'not_in'].flatMap((op) =>
        [[value], [value, 'other'], [value, 7]].map((list) => ({
          path: 'args.x',
          op,
          value: list,
        })),
      ),
    ),
  ]
  const conditions: Condition[] = [
    // A step that shares no factor with the number of operators: each of them, and each value, is tried.
    ...ofValues.filter((_, at) => IS_FULL || at % 5 === 0),
    ...['lt', 'lte', 'gt', 'gte'].map((op) => ({ path: 'args.x', op, value: 5 })),
    ...['5', 'x', '^$'].map((value) => ({ path: 'args.x', op: 'regex', value })),
    ...[true, false].map((value) => ({ path: 'args.x', op: 'exists', value })),
  ]
  const sequence: OneCall[] = [
    { tool: 'charge', args: {}, afterMs: 0 },
    ...ALIKE.map((x) => ({ tool: 'charge', args: { x } as JsonObject, afterMs: 0 })),
  ]
  const seen: Seen = { allowed: 0, denied: 0, held: 0, limited: 0, tighter: 0 }
  for (const one of conditions) {
    for (const action of ['evaluate', 'require_approval']) {
      const charge = { rules: [{ name: 'a', action, conditions: [one] }] }
      const doc: InterceptDoc = { version: '1', default: 'deny', tools: { charge } }
      run(stringify(doc), new OriginalIntercept(doc), [one], sequence, seen)
    }
    for (const charge of [{ require: [one] }, { deny_if: [one] }]) {
      const doc: HostedDoc = { version: '1', default: 'deny', tools: { charge } }
      run(JSON.stringify(doc), new OriginalHosted(doc), [one], sequence, seen)
    }
  }
  expect(seen.allowed).toBeGreaterThan(6 * conditions.length)
  expect(seen.tighter).toBeGreaterThan(conditions.length)
})
