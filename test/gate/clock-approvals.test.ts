// Held calls, approvals, standing approvals, grants and approvers of a real gate whose clock is set by hours
// and years, while it runs and between kill -9 and a restart: nothing that has expired or was used is good again,
// nothing is stuck for years, and the ledger has the times as the clock showed them.

import { afterEach, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { atTerminal } from '../support/person.ts'
import { PlainClient, recordsOf, sentTo } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { IS_FULL } from '../support/runs.ts'
import { HOUR_MS, SetClock, YEAR_MS } from '../support/set-clock.ts'
import { endGates, fixture, type GateSpec, type RunningGate, until } from '../support/start-gate.ts'

const MINUTE_MS = 60_000
const SPEC: GateSpec = {
  servers: { office: fixture('office', './office.log') },
  policy: `version: 1
default: allow
tools:
  office/create_payment: { action: require_approval, approval: { wait: 10s, timeout: 10m } }
  office/send_mail: { action: require_approval, approval: { wait: 1s, timeout: 5m } }
`,
}

afterEach(endGates)

async function start(clock: SetClock, folder?: string): Promise<RunningGate> {
  const gate = await clock.start(folder === undefined ? SPEC : { ...SPEC, folder })
  await atTerminal(gate.data)
  return gate
}

const requests = async ({ data }: RunningGate): Promise<readonly ApprovalRequest[]> =>
  (await sluiceJson(['approvals', 'list', '--all', '--data', data])).requests
const stateOf = async (gate: RunningGate, id: string) =>
  (await requests(gate)).find((request) => request.id === id)?.state
const approve = async ({ data }: RunningGate, id: string, ...options: readonly string[]) =>
  (await sluice(['approvals', 'approve', id, '--data', data, ...options])).stderr

async function pending(gate: RunningGate): Promise<string> {
  let id: string | undefined
  await until(async () => {
    id = (await requests(gate)).find(({ state }) => state === 'pending')?.id
    return id !== undefined
  })
  return id as string
}

/** The code of the refusal; undefined if the call was carried out. */
async function mail(client: PlainClient, to: string): Promise<string | undefined> {
  const { result } = (await client.call('send_mail', { to })).answer
  return result._meta?.['sluice/decision']?.code
}

const sent = ({ folder }: RunningGate, name: string) =>
  sentTo(folder).filter(({ method, params }) => method === 'tools/call' && params.name === name)

describe('the clock is set while the gate runs', () => {
  test('a held call is approved once, and expired approvals stay expired', async () => {
    const clock = new SetClock()
    const gate = await start(clock)
    const client = await PlainClient.open(gate, 'office')
    // Held while the clock is set back: approved and carried out once.
    const held = client.call('create_payment', { amount: 1 })
    const first = await pending(gate)
    clock.set(-HOUR_MS)
    expect(await approve(gate, first)).toBe('')
    expect((await held).text).toContain('create_payment')
    const again = await client.call('create_payment', { amount: 1 })
    expect(again.text).toContain('APPROVAL_USED')
    expect([await stateOf(gate, first), sent(gate, 'create_payment').length]).toEqual([
      'executed',
      1,
    ])
    // Held while the clock is set forward: expired, also when it is set back.
    clock.set(0)
    const late = client.call('create_payment', { amount: 2 })
    const second = await pending(gate)
    clock.set(HOUR_MS)
    expect((await late).text).toContain('APPROVAL_EXPIRED')
    clock.set(0)
    expect(await approve(gate, second)).toContain('expired already')
    // Approved, and not retried before the clock was set forward and back; a standing approval, too.
    expect(await mail(client, 'a')).toBe('APPROVAL_PENDING')
    expect(await approve(gate, await pending(gate), '--for', '30m')).toBe('')
    clock.set(YEAR_MS)
    await requests(gate)
    clock.set(0)
    expect(await mail(client, 'a')).toBe('APPROVAL_EXPIRED')
    expect(await mail(client, 'a')).toBe('APPROVAL_PENDING')
    expect(await approve(gate, await pending(gate))).toBe('')
    expect(await mail(client, 'a')).toBe(undefined)
    expect(sent(gate, 'send_mail')).toHaveLength(1)
  })

  test.runIf(IS_FULL)('the ledger has the time of the clock in every record', async () => {
    const clock = new SetClock()
    const gate = await start(clock)
    const client = await PlainClient.open(gate, 'office')
    for (const ahead of [0, HOUR_MS, YEAR_MS, 0, -YEAR_MS]) {
      clock.set(ahead)
      const before = recordsOf(gate).length
      expect(await mail(client, String(ahead))).toMatch(/^APPROVAL_/)
      await until(() => recordsOf(gate).some(({ seq, kind }) => seq > before && kind === 'refusal'))
      const off = recordsOf(gate)
        .slice(before)
        .map(({ atMs }) => Math.round((atMs - Date.now() - ahead) / HOUR_MS) + 0)
      expect(new Set(off)).toEqual(new Set([0]))
    }
  })
})

describe('the clock is set between kill -9 and a restart', () => {
  test('a request ends that was made later than the clock says, and a used approval stays used', async () => {
    const clock = new SetClock()
    const gate = await start(clock)
    const client = await PlainClient.open(gate, 'office')
    expect(await mail(client, 'used')).toBe('APPROVAL_PENDING')
    expect(await approve(gate, await pending(gate))).toBe('')
    expect(await mail(client, 'used')).toBe(undefined)
    expect(await mail(client, 'open')).toBe('APPROVAL_PENDING')
    const open = await pending(gate)
    await gate.kill()
    clock.set(-30 * MINUTE_MS)
    const next = await start(clock, gate.folder)
    expect(await stateOf(next, open)).toBe('void')
    expect(next.log).toMatch(/clock is behind the ledger.* seconds=1[78]\d\d/)
    const later = await PlainClient.open(next, 'office')
    expect(await mail(later, 'used')).not.toBe(undefined)
    expect(sent(next, 'send_mail')).toHaveLength(1)
  })

  test('an approver who was added while the clock was ahead decides after it was set right', async () => {
    const clock = new SetClock()
    const gate = await start(clock)
    clock.set(YEAR_MS)
    const added = await sluiceJson(['approvers', 'add', 'bob', '--token', '--data', gate.data])
    clock.set(0)
    await gate.kill()
    const next = await start(clock, gate.folder)
    const client = await PlainClient.open(next, 'office')
    expect(await mail(client, 'a')).toBe('APPROVAL_PENDING')
    const id = await pending(next)
    const decided = await fetch(`${next.url}/api/approvals/${id}/verdict`, {
      method: 'POST',
      headers: { authorization: `Bearer ${added.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ verdict: 'approve' }),
    })
    expect(decided.status, await decided.text()).toBe(200)
    expect(await mail(client, 'a')).toBe(undefined)
  })

  test.runIf(IS_FULL)(
    'a grant that was revoked while it seemed to have ended does not come back',
    async () => {
      const clock = new SetClock()
      const gate = await start(clock)
      const data = ['--data', gate.data, '--config', `${gate.folder}/sluice.yaml`]
      const add = ['grants', 'add', 'ann', '--policy', 'policy', '--until', '1h', ...data]
      const { token } = await sluiceJson(add)
      await PlainClient.open(gate, 'office', undefined, token)
      clock.set(YEAR_MS)
      await sluice(['grants', 'revoke', 'ann', ...data])
      await gate.kill()
      clock.set(0)
      const next = await start(clock, gate.folder)
      await expect(PlainClient.open(next, 'office', undefined, token)).rejects.toThrow()
    },
  )
})
