// Recorded calls under an edited policy: what is compared is the edit with the document in force, not with what an
// older version had decided on the day of the call.

import type { DatabaseSync } from 'node:sqlite'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import { Ledger } from '@sluice/ledger/ledger'
import type { RecordedDecision } from '@sluice/ledger/records/record'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { beforeAll, expect, test } from 'vitest'
import { compiled } from '../../../../test/support/arbitrary-policies.ts'
import { fileScratchDirectory } from '../../../../test/support/scratch.ts'
import { idOfDocument } from './recorded-calls.ts'
import { replay } from './replay.ts'

const START_MS = 1_800_000_000_000
const TOOLS: KnownTool[] = ['pay', 'mail', 'note'].map((name) => ({
  definition: {
    server: 'shop',
    name,
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
  },
  category: 'Write',
  risk: 'high',
}))

/** A document, and its name in records. */
function version(tools: object, more: object = {}) {
  const document = { version: 1, default: 'allow', tools, ...more }
  const policy = compiled(document)
  return { policy, id: idOfDocument('local', JSON.stringify(document), policy) as string }
}

const MAIL = { action: 'allow', when: 'args.to == "desk"', otherwise: 'require_approval' }
const HELD = { 'shop/mail': MAIL, 'shop/pay': 'require_approval' }
const FREE = { 'shop/mail': MAIL, 'shop/pay': 'allow' }
/** Held, then freed: in force since. */
const [older, inForce] = [version(HELD), version(FREE)]
let ledger: DatabaseSync

const ALLOWED: RecordedDecision = {
  action: 'allow',
  code: 'ALLOWED',
  rule: '',
  reason: '',
  guardrails: [],
  limits: [],
  shadow: [],
}
const PENDING: RecordedDecision = {
  ...ALLOWED,
  action: 'require_approval',
  code: 'APPROVAL_PENDING',
}

type RecordCall = (
  name: string,
  policy: string,
  decision: RecordedDecision,
  amount?: number,
) => Promise<unknown>

/** A ledger with these calls. */
async function writeLedger(write: (call: RecordCall) => Promise<void>): Promise<DatabaseSync> {
  const directory = fileScratchDirectory()
  const writing = Ledger.open({ directory })
  let atMs = START_MS
  await write((name, policy, decision, amount) => {
    atMs += 1_000
    const entry = {
      atMs,
      callId: `call-${atMs}`,
      principal: { id: 'local', kind: 'local' as const },
      agent: null,
      session: 'session-1',
      server: 'shop',
      method: 'tools/call',
      name,
      category: 'Write' as const,
      policy,
      decision: { ...decision, rule: `/tools/shop~1${name}` },
      judged: amount === undefined ? {} : { 'args.amount': amount, undeclared: false },
      argsDigest: null,
    }
    return decision === ALLOWED ? writing.intent(entry) : writing.refuse(entry)
  })
  writing.close()
  return openLedgerReadOnly(directory)
}

beforeAll(async () => {
  ledger = await writeLedger(async (call) => {
    for (const each of [older.id, older.id]) {
      await call('pay', each, PENDING)
      // Its text is not recorded.
      await call('mail', each, PENDING)
      await call('note', each, ALLOWED)
    }
    await call('pay', inForce.id, ALLOWED)
    await call('mail', inForce.id, PENDING)
  })
  return () => ledger.close()
})

const compare = (edited: ReturnType<typeof version>, current = inForce, of = ledger) =>
  replay(of, { ...edited, current, name: 'local', sinceMs: START_MS, tools: TOOLS })

test('an edit that touches nothing changes nothing, whatever an older version had decided', () => {
  expect(compare(version({ ...FREE, 'shop/other': 'deny' }))).toMatchObject({
    calls: 8,
    same: 8,
    unknown: 0,
    untouched: 8,
    earlier: 6,
    flips: [],
  })
})

test('only what the edit changes is counted as changed, from the decision of today', () => {
  const { flips, same, unknown } = compare(version({ ...FREE, 'shop/note': 'deny' }))
  expect(flips).toMatchObject([{ tool: 'shop/note', from: 'allow', to: 'deny', count: 2 }])
  expect({ same, unknown }).toEqual({ same: 6, unknown: 0 })
})

test('a way back to the older version changes the calls that it had decided itself', () => {
  const { flips, same } = compare(older)
  expect(flips).toMatchObject([
    { tool: 'shop/pay', from: 'allow', to: 'require_approval', count: 3 },
  ])
  expect(same).toBe(5)
})

test('finding: what is known of the edit is compared, though the document in force reads what is not on record', () => {
  const more = { protect: 'balanced' }
  const { flips, unknown } = compare(
    version({ ...FREE, 'shop/note': 'require_approval' }, more),
    version(FREE, more),
  )
  expect(flips).toMatchObject([
    { tool: 'shop/note', from: 'allow', to: 'require_approval', count: 2 },
  ])
  expect(unknown).toBe(0)
})

test('finding: what `protect` found in a held call is on its record, and decides under an edit that leaves it as it is', async () => {
  const upTo = (max: number, more: object = { protect: 'balanced' }) =>
    version(
      {
        'shop/pay': {
          action: 'allow',
          when: `args.amount <= ${max}`,
          otherwise: 'require_approval',
        },
      },
      more,
    )
  const current = upTo(100)
  const match = (undecided: boolean) => ({
    ...PENDING,
    guardrails: [
      {
        name: 'protect',
        rule: '/protect/valueFromText',
        action: 'require_approval' as const,
        undecided,
      },
    ],
  })
  const held = await writeLedger(async (call) => {
    await call('pay', current.id, PENDING, 990)
    await call('pay', current.id, PENDING, 990.5)
    // A text of a stranger named these amounts, or could not be read.
    await call('pay', current.id, match(false), 300)
    await call('pay', current.id, match(true), 300)
    // Whether `protect` was the same is not known.
    await call('pay', older.id, PENDING, 300)
  })
  const { flips, same, unknown, reasons } = compare(upTo(990), current, held)
  expect(flips).toMatchObject([
    { tool: 'shop/pay', from: 'require_approval', to: 'allow', count: 1, records: [1] },
  ])
  expect({ same, unknown }).toEqual({ same: 3, unknown: 1 })
  expect([...reasons.keys()]).toEqual(['`call.changesUnasked` is not recorded'])
  // With another level nothing is known of what it would have found.
  expect(compare(upTo(990, { protect: 'strict' }), current, held)).toMatchObject({ flips: [] })
  // A document that only observed has no guardrails on record.
  const observed = upTo(100, { protect: 'balanced', mode: 'shadow' })
  const observing = await writeLedger((call) =>
    call('pay', observed.id, ALLOWED, 50).then(() => {}),
  )
  const enforced = upTo(990)
  expect(compare(enforced, observed, observing)).toMatchObject({ flips: [], unknown: 1 })
  held.close()
  observing.close()
})

test('what is not on record is unknown if the edit touches it', () => {
  const { unknown, reasons } = compare(
    version({ ...FREE, 'shop/mail': { ...MAIL, otherwise: 'deny' } }),
  )
  expect({ unknown, reasons: [...reasons.keys()] }).toEqual({
    unknown: 3,
    reasons: ['which arguments were sent is not recorded'],
  })
})

test('without a document in force the decisions on record are compared', () => {
  const { flips, same, unknown, earlier } = replay(ledger, {
    ...inForce,
    name: 'local',
    sinceMs: START_MS,
    tools: TOOLS,
  })
  expect(flips).toMatchObject([
    { tool: 'shop/pay', from: 'require_approval', to: 'allow', count: 2 },
  ])
  expect({ same, unknown, earlier }).toEqual({ same: 4, unknown: 2, earlier: 0 })
})

test('a limit counts what each of the two lets pass', () => {
  const limited = (max: number) => ({
    ...FREE,
    'shop/note': { action: 'allow', rate_limit: { max, window: 60 } },
  })
  const { flips } = compare(version(limited(1)), version(limited(5)))
  expect(flips).toMatchObject([{ tool: 'shop/note', from: 'allow', to: 'limited', count: 1 }])
})
