// No name, no value of an argument, and no digest that could be found by trying reaches a record; readers see what was
// written.

import fc from 'fast-check'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { allowed, decisionEntry, take } from '../decision-entries.test-support.ts'
import { freshDirectory } from '../samples.test-support.ts'
import { decode } from './decoding.ts'
import { encode, toRecordText } from './encoding.ts'
import { EntryHider } from './hide-entry.ts'
import { Names, showNames } from './names.ts'
import { type DecisionEntry, digestText, type LedgerEntry } from './record.ts'

const KEY = 'tools.crm/refund|rate|3600000|args.customer|22:"dora.berg@example.org'
const ANN = 'ann.smith@example.com'
let names: Names
let hider: EntryHider

beforeEach(() => {
  names = new Names(freshDirectory())
  const own = names
  onTestFinished(() => own.close())
  hider = new EntryHider(Buffer.alloc(32, 1), names)
})

const openName = (token: string) => {
  const row = names.database.prepare('SELECT name FROM names WHERE token = ?').get(token)
  return row === undefined ? undefined : String(row.name)
}
const read = (body: string) => decode(showNames(toRecordText(1, body), openName))

test('the value of a counter is a digest, limit and scope stay readable', () => {
  const charge = { ...take, key: KEY }
  const shadow = { rule: 'r', action: 'deny', code: 'LIMIT', reason: '', limits: [charge] } as const
  const decision = { ...allowed, limits: [charge], shadow: [shadow] }
  const text = hider.encode({ ...decisionEntry(1), decision, kind: 'intent' })
  expect(text).not.toContain('dora')
  const name = hider.nameCounter(KEY)
  expect(name).toMatch(/^tools\.crm\/refund\|rate\|3600000\|args\.customer\|~[\w-]{22}$/)
  expect(text.split(JSON.stringify(name))).toHaveLength(3)
  expect(hider.nameCounter('a|rate|1|everyone|0:')).toBe('a|rate|1|everyone|0:')
})

test('digests of arguments are keyed, in calls and in events of approvals', () => {
  const argsDigest = digestText('{"customer":"dora"}')
  const call = read(hider.encode({ ...decisionEntry(1, { argsDigest }), kind: 'refusal' }))
  expect(call).toMatchObject({ argsDigest: hider.keyDigest(argsDigest) })
  expect(hider.keyDigest(argsDigest)).toMatch(/^hmac:[\w-]{43}$/)
  const detail = { request: 'a', argsDigest, editedArgsDigest: argsDigest }
  const event = hider.encode({ kind: 'event', atMs: 1, name: 'approval-executed', detail })
  expect(event).not.toContain(argsDigest)
})

test('callers and people are tokens, in calls, sessions, events and sentences of alerts', () => {
  const principal = { id: ANN, kind: 'grant' }
  const details: Record<string, LedgerEntry & { readonly kind: 'event' }> = {}
  const event = (name: string, detail: object) => {
    details[name] = { kind: 'event', atMs: 1, name, detail: detail as never }
  }
  event('session', { session: `${ANN}#0@17`, principal: ANN, kind: 'grant' })
  event('approval-approved', { request: 'a', by: 'bob@example.com', comment: 'fine' })
  event('freeze', { scope: 'principal', id: ANN, by: { name: 'bob@example.com', kind: 'person' } })
  event('approver', { how: 'added', name: 'eve@example.com' })
  event('alert', { facts: [{ value: `\`${ANN}\`, ${ANN} (2 of 3)` }] })
  const call = decisionEntry(1, { principal, session: `${ANN}#0@17` })
  const entries: LedgerEntry[] = [...Object.values(details), { ...call, kind: 'intent' }]
  for (const entry of entries) {
    const text = hider.encode(entry)
    expect(text).not.toContain('@example.com')
    expect(read(text)).toMatchObject(entry.kind === 'event' ? entry : { principal })
  }
  const local = { ...decisionEntry(1, { principal: { id: 'local', kind: 'local' } }) }
  expect(hider.encode({ ...local, kind: 'intent' })).toContain('"local","local"')
})

test('who approved or denied is a token in the reason of the call; a comment stays', () => {
  const bob = 'https://id.example.com:Jones, Bob'
  names.know(ANN)
  names.know(bob)
  const denied = 'the request for approval was denied: denied by '
  for (const [code, before, people, after] of [
    ['APPROVED', 'approved by ', [bob], ' (k7)'],
    // Who voted before names became tokens is nobody yet.
    ['APPROVED', 'approved by ', [ANN, 'eve@example.com'], ' (k7), who changed the arguments'],
    ['APPROVAL_DENIED', denied, [ANN], ''],
    // A name that is a word of the sentence as well.
    ['APPROVED', 'approved by ', ['by', bob], ' (k7)'],
  ] as const) {
    const reason = `${before}${people.join(', ')}${after}`
    const approvers = { names: people, at: before.length }
    const decision = { ...allowed, limits: [], code, reason, approvers }
    const text = hider.encode({ ...decisionEntry(1, { decision }), kind: 'refusal' })
    expect(text).not.toMatch(/example\.com/)
    expect(read(text)).toMatchObject({ decision: { reason } })
  }
  const comment = 'the request for approval was denied: denied by law'
  const decision = { ...allowed, limits: [], code: 'APPROVAL_DENIED', reason: comment } as const
  const text = hider.encode({ ...decisionEntry(1, { decision }), kind: 'refusal' })
  expect(text).toContain(comment)
})

test('a name with `#` is a token, alone and in its session', () => {
  const guest = 'eve_example.com#EXT#@contoso.example'
  const principal = { id: guest, kind: 'oidc' }
  const session = `${guest}#0@17`
  const call: LedgerEntry = { ...decisionEntry(1, { principal, session }), kind: 'intent' }
  const detail = { session, id: guest }
  const event: LedgerEntry = { kind: 'event', atMs: 1, name: 'session-ended', detail }
  for (const entry of [call, event]) {
    const text = hider.encode(entry)
    expect(text).not.toContain('eve_')
    expect(read(text)).toMatchObject(entry.kind === 'event' ? entry : { principal, session })
  }
})

test.each([
  ['FROZEN', `the principal \`${ANN}\` is frozen`],
  ['DEFINITION_CHANGED', `the definition of \`pay\` was refused by ${ANN}: it asks for more`],
])('a refusal with %s names nobody who is known', (code, reason) => {
  names.know(ANN)
  const decision = { ...allowed, action: 'deny', code, reason } as const
  const text = hider.encode({ ...decisionEntry(1), decision, kind: 'refusal' })
  expect(text).not.toContain(ANN)
  expect(read(text)).toMatchObject({ decision: { reason } })
})

test('in the sentence of an alert a name may have a mark behind it', () => {
  names.know(ANN)
  const facts = [`${ANN}: refused`, `${ANN}'s call.`, `by ${ANN}.`, `'${ANN.slice(1)}'s`]
  const text = hider.encode({ kind: 'event', atMs: 1, name: 'alert', detail: { facts } })
  expect(text).not.toContain(ANN)
  expect(read(text)).toMatchObject({ detail: { facts } })
})

const text = fc.oneof(
  fc.string({ maxLength: 10 }),
  fc.constantFrom(ANN, 'person:', `person:${'x'.repeat(22)}`, `person::${'y'.repeat(22)}`, 'a"b\\'),
  fc
    .tuple(fc.string({ maxLength: 3 }), fc.constantFrom('person:', 'person::'))
    .map((all) => all.join('')),
)

test('whatever strangers write, it is read back, and is never taken for a token', () => {
  fc.assert(
    fc.property(
      fc.record({ id: text, session: text, reason: text, value: text, key: text, name: text }),
      ({ id, session, reason, value, key, name }) => {
        const of: DecisionEntry = decisionEntry(1, {
          principal: { id, kind: 'grant' },
          session,
          name,
          judged: { [`args.${key}`]: value },
          argsDigest: null,
          unknown: false,
          decision: { ...allowed, reason, limits: [{ ...take, key: 'a|0:' }] },
        })
        const call: LedgerEntry = { ...of, kind: 'intent' }
        expect(read(hider.encode(call))).toEqual(decode(encode(call, 1)))
        const event: LedgerEntry = {
          kind: 'event',
          atMs: 1,
          name: 'labels',
          detail: { by: id, session, [key]: [value, { name: reason }] },
        }
        expect(read(hider.encode(event))).toEqual(decode(encode(event, 1)))
      },
    ),
    runs(2_000),
  )
})

test('after a name was forgotten there is no row and no cache that opens its token', () => {
  const token = names.know(ANN)
  names.forget(names.tokensOf(ANN))
  expect(openName(token)).toBe('null')
  expect(names.tokenOf(ANN)).toBeUndefined()
  expect(names.know(ANN)).not.toBe(token)
})

test('a call like the last of its session has the same text, until the name has another token', () => {
  const principal = { id: ANN, kind: 'grant' }
  const call = (name: string): LedgerEntry => ({
    ...decisionEntry(1, { principal, session: `${ANN}#0@17`, name, callId: 'person:k7' }),
    kind: 'intent',
  })
  const [first] = names.tokensOf(ANN).concat(names.know(ANN))
  const same = [hider.encode(call('a')), hider.encode(call('b')), hider.encode(call('a'))]
  expect(same[2]).toBe(same[0])
  expect(same[1]).toContain('"b"')
  expect(same[2]).toContain('"person::k7"')
  names.forget(names.tokensOf(ANN))
  const after = hider.encode(call('a'))
  expect(after).not.toContain(first)
  expect(after).toContain(names.know(ANN))
})
