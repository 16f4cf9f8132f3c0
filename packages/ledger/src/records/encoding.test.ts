// The encoding is injective: different records never encode the same, and everything round-trips.

import { ACTIONS } from '@sluice/policy/calls/actions'
import type { LimitCharge } from '@sluice/policy/calls/counters'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import { formatDecimal } from '@sluice/policy/values/decimal'
import { ExactNumber } from '@sluice/policy/values/json'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { decisionEntry } from '../decision-entries.test-support.ts'
import { ANSWER_CHANGES } from './answer-changes.ts'
import { decode, decodeCall, decodeCharges } from './decoding.ts'
import { encode, encodeDecision, encodeShared, toRecordText } from './encoding.ts'
import { TEXT_LENGTH_MAX } from './limits.ts'
import { type DecisionEntry, type LedgerEntry, STATUSES } from './record.ts'
import { RememberedDecisions } from './remembered-decisions.ts'

type CallEntry = DecisionEntry & { readonly kind: 'intent' | 'refusal' }

const text = fc.oneof(
  fc.constantFrom('', 'a', '","', '[', ']', '1', 'null', '\\', '"', '\ud800', '\u2028', '{}'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const count = fc.nat({ max: 1_000 })
const decimal = fc.record({ units: fc.bigInt(0n, 10n ** 80n), scale: fc.constantFrom(0, 3, 40) })
const take = fc.record({
  key: text,
  kind: fc.constantFrom('rate', 'spend'),
  windowMs: count,
  max: decimal,
  amount: decimal,
})
const guardrail = fc.record(
  { name: text, rule: text, action: fc.constantFrom(...ACTIONS), undecided: fc.boolean() },
  { requiredKeys: ['name', 'rule', 'undecided'] },
)
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom('9007199254740993', '1').map((digits) => new ExactNumber(digits)),
)
const few = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 2 })
const verdict = { rule: text, action: fc.constantFrom(...ACTIONS), code: text, reason: text }
const callEntry = fc.record({
  kind: fc.constantFrom('intent', 'refusal'),
  atMs: count,
  callId: text,
  principal: fc.record({ id: text, kind: text }),
  agent: fc.option(text),
  session: text,
  server: text,
  method: text,
  name: text,
  policy: text,
  argsDigest: fc.option(text),
  category: fc.option(fc.constantFrom(...CATEGORIES)),
  decision: fc.record({
    ...verdict,
    guardrails: few(guardrail),
    limits: few(take),
    shadow: few(fc.record({ ...verdict, limits: few(take) })),
  }),
  judged: fc.dictionary(text, value, { maxKeys: 3, noNullPrototype: true }),
  unknown: fc.constantFrom(true, undefined),
  parent: fc.option(text, { nil: undefined }),
  approval: fc.option(text, { nil: undefined }),
}) as unknown as fc.Arbitrary<CallEntry>
const entry = fc.oneof(
  callEntry,
  fc.record({
    kind: fc.constant('outcome'),
    intent: count,
    atMs: count,
    bytes: count,
    attempts: count,
    status: fc.constantFrom(...STATUSES),
    errorCode: fc.option(fc.integer()),
    durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    digest: fc.option(text),
    labels: few(text),
    givenBack: fc.boolean(),
    changes: few(fc.record({ change: fc.constantFrom(...ANSWER_CHANGES), kind: text, count })),
  }),
  fc.record({
    kind: fc.constant('event'),
    atMs: count,
    name: text,
    detail: fc.jsonValue({ maxDepth: 2 }),
  }),
) as unknown as fc.Arbitrary<LedgerEntry>

/** Calls of one session: one call again and again, each time with one value of another call. */
const mixed = fc
  .tuple(callEntry, callEntry, fc.array(fc.nat({ max: 40 }), { minLength: 4, maxLength: 12 }))
  .map(([one, other, places]) =>
    places.map((place) => ({ ...mix(one, other, { left: place }), session: 'one' }) as CallEntry),
  )

/** The first with the value of the second after `left` others. */
function mix<Value>(one: Value, other: Value, place: { left: number }): Value {
  const isPlain = typeof one === 'object' && one !== null && !(one instanceof ExactNumber)
  const listKeys = (value: unknown) => JSON.stringify(Object.keys(value as object))
  const isAlike = isPlain && other !== null && listKeys(one) === listKeys(other)
  if (!isAlike) return place.left-- === 0 ? other : one
  const members = Object.entries(one).map(([key, mine]) => [
    key,
    mix(mine, (other as Record<string, unknown>)[key], place),
  ])
  return (
    Array.isArray(one) ? members.map(([, member]) => member) : Object.fromEntries(members)
  ) as Value
}

/** A call as docs/reference/ledger-records.md lists it. */
function positionsOf(of: CallEntry): unknown[] {
  const { approval, decision, judged, parent, unknown = false } = of
  const charge = ({ amount, key, kind, max, windowMs }: LimitCharge) => [
    key,
    kind,
    windowMs,
    formatDecimal(max),
    formatDecimal(amount),
  ]
  const value = (input: unknown) => (input instanceof ExactNumber ? [input.text] : input)
  const values = Object.entries(judged).map(([name, input]) => [name, value(input)])
  const last = [unknown, parent ?? null, approval ?? null]
  const lastLength = approval !== undefined ? 3 : parent !== undefined ? 2 : unknown ? 1 : 0
  return [
    1,
    7,
    of.kind === 'intent' ? 1 : 2,
    of.atMs,
    decision.limits.map(charge),
    decision.shadow.map((one) => [
      one.rule,
      one.action,
      one.code,
      one.reason,
      one.limits.map(charge),
    ]),
    of.callId,
    of.principal.id,
    of.principal.kind,
    of.agent,
    of.session,
    of.server,
    of.method,
    of.name,
    of.category,
    of.policy,
    decision.action,
    decision.code,
    decision.rule,
    decision.reason,
    decision.guardrails.map((one) => [one.name, one.rule, one.action ?? null, one.undecided]),
    values.length === 0 ? 0 : values,
    of.argsDigest,
    ...last.slice(0, lastLength),
  ]
}

describe('encoding', () => {
  test('everything round-trips', () => {
    fc.assert(
      fc.property(entry, fc.nat(), (given, seq) => {
        const back = decode(encode(given, seq))
        expect(back.seq).toBe(seq)
        expect(keysOf(back)).toEqual(keysOf({ ...given, seq }))
      }),
      runs(2_000),
    )
  })

  test('the bytes are those of JSON.stringify, also of calls that share the text of the one before', () => {
    const remembered = new RememberedDecisions()
    fc.assert(
      fc.property(mixed, (calls) => {
        for (const call of calls) {
          const shared = remembered.find(call) ?? encodeShared(call)
          remembered.remember(call, shared)
          const text = toRecordText(7, encodeDecision(call, shared))
          expect(text).toBe(JSON.stringify(positionsOf(call)))
          expect(encode(call, 7)).toBe(text)
        }
      }),
      runs(2_000),
    )
  })

  test('two records that differ never encode equal', () => {
    fc.assert(
      fc.property(entry, entry, (one, two) => {
        fc.pre(JSON.stringify(keysOf(one)) !== JSON.stringify(keysOf(two)))
        expect(encode(one, 1)).not.toBe(encode(two, 1))
      }),
      runs(5_000),
    )
  })

  test('nor do two positions, nor an intent and its refusal', () => {
    const one = { ...decisionEntry(1), kind: 'intent' } as const
    expect(encode(one, 1)).not.toBe(encode(one, 2))
    expect(encode(one, 1)).not.toBe(encode({ ...one, kind: 'refusal' }, 1))
  })

  test.each(['5', 'null', '{"cut":5}'])('%s in the place of a text is damage', (damage) => {
    const good = encode({ ...decisionEntry(1, { name: 'the-name' }), kind: 'intent' }, 1)
    const damaged = good.replace('"the-name"', damage)
    for (const read of [decode, decodeCall])
      expect(() => read(damaged)).toThrow(`a record has \`${damage}\` in the place of a text`)
  })

  test('a long text is stored as its start and a digest, and differs by its end', () => {
    const long = 'x'.repeat(TEXT_LENGTH_MAX)
    const of = (name: string) => encode({ ...decisionEntry(1, { name }), kind: 'intent' }, 1)
    expect(of(`${long}a`)).not.toBe(of(`${long}b`))
    expect(of(`${long}\ud800`)).not.toBe(of(`${long}\ud801`))
    expect(of(`${long}a`).length).toBeLessThan(3_000)
    const shown = decode(of(`${long}a`))
    expect(shown).toMatchObject({ name: expect.stringMatching(/^x+… \(4097 characters, sha256 /) })
    expect(of((shown as { name: string }).name)).not.toBe(of(`${long}a`))
  })

  test.each([Number.NaN, Number.NEGATIVE_INFINITY, 1e300, -5])(
    'a clock that says %d does not stop the record',
    (atMs) => {
      expect(decode(encode({ kind: 'event', atMs, name: 'a', detail: null }, 1)).atMs).toBe(0)
    },
  )

  test.each(['', '{}', '[2,1,1,1]', '[1,1,9,1]', 'null'])('`%s` is not a record', (written) => {
    expect(() => decode(written)).toThrow(expect.objectContaining({ code: 'LEDGER_BROKEN' }))
  })
})

test.each(['[[', '["', '["\\\\', '[],["a', '', 'x'])('`%s` has no charges, and ends', (written) => {
  expect(() => decodeCharges(Buffer.from(written), 0)).toThrow(/not readable/)
})

/** Objects as sorted pairs, so that two of them can be compared by content. */
function keysOf(value: unknown): unknown {
  if (value instanceof ExactNumber) return { exact: value.text }
  if (Array.isArray(value)) return value.map(keysOf)
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  if ('units' in value) return formatDecimal(value as never)
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, keysOf(inner)])
}
