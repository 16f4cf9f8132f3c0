// Held calls through a real gate, with real clients of both eras: held, decided from elsewhere, carried
// out once or not at all. The test is the person who decides.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../src/core/approval.ts'
import { ADA, endOwnGates, type OwnGate, ownGate } from './gate/own-gate.ts'
import { PlainClient, recordsOf, sentTo } from './gate/plain-client.ts'
import { fixture, until } from './gate/start-gate.ts'

const POLICY = `
version: 1
default: allow
tools:
  office/create_payment:
    action: require_approval
    reason: money leaves
    approval: { wait: 20s, timeout: 10m }
  office/delete_all:
    action: require_approval
    approval: { wait: 1s, timeout: 10m }
`

let gate: OwnGate
let client: PlainClient

beforeAll(async () => {
  gate = await ownGate({ servers: { office: fixture('office', 'office.log') }, policy: POLICY })
  client = await PlainClient.open(gate as never, 'office')
})
afterAll(endOwnGates)

const payments = (amount: number) =>
  sentTo(gate.folder).filter(
    ({ params }) => params?.name === 'create_payment' && params.arguments.amount === amount,
  )

async function pending(holds: (request: ApprovalRequest) => boolean): Promise<ApprovalRequest> {
  let found: ApprovalRequest | undefined
  await until(() => {
    found = gate.approvals.list({ states: ['pending'] }).find(holds)
    return found !== undefined
  })
  return found as ApprovalRequest
}

describe('a held call', () => {
  test('is approved from elsewhere and carried out once', async () => {
    const answer = client.call('create_payment', { amount: 1 })
    const { id } = await pending(({ args }) => args === '{"amount":1}')
    expect(payments(1)).toEqual([])
    await gate.approvals.decide(id, { verdict: 'approve' }, ADA, 'terminal')
    expect((await answer).answer.result.content[0].text).toContain('create_payment')
    expect(payments(1)).toHaveLength(1)
    await until(() => gate.approvals.find(id)?.state === 'executed')
    const events = recordsOf(gate).flatMap((record) =>
      record.kind === 'event' && JSON.stringify(record.detail).includes(id) ? [record.name] : [],
    )
    expect(events).toEqual([
      'approval-proposed',
      'approval-notified',
      'approval-approved',
      'approval-executed',
      'approval-returned',
    ])
  })
})
