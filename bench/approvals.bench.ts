// `npm run bench -- approvals [--pending N] [--turns N]`: what pending approvals cost other calls.
// Lists N pending requests (1,000), and makes calls that need no approval through two real gates
// alternately, one of which has them: both must take the same time.

import type { ApprovalRequirement } from '@sluice/policy/calls/decision'
import type { ApprovalSubmission } from '../packages/access/src/approvals/approval-submission.ts'
import type { ApprovalEngine } from '../packages/access/src/approvals/engine.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { endOwnGates, type OwnGate, ownGate } from '../test/support/own-gate.ts'
import { PlainClient } from '../test/support/plain-client.ts'
import { fixture } from '../test/support/start-gate.ts'
import { sideBySide, table } from './side-by-side.ts'

/** Maximum time of a listing. */
const LIST_MS_MAX = 50
const POLICY = `
version: 1
default: allow
tools: { office/create_payment: { action: require_approval, approval: { timeout: 1h } } }
`

export async function run({ pending = '1000', turns = '30' }: RunOptions): Promise<number> {
  try {
    const servers = { office: fixture('office') }
    const gates = [
      await ownGate({ servers, policy: POLICY }),
      await ownGate({ servers, policy: POLICY }),
    ]
    const approving = gates[1] as OwnGate
    const engine = approving.approvals as ApprovalEngine
    const askedMs = await timed(async () => {
      for (let at = 0; at < Number(pending); at++) await engine.ask(createSubmission(at))
    })
    const listed: number[] = []
    for (let time = 0; time < 20; time++)
      listed.push(
        await timed(() =>
          approving.approvals.list({ states: ['pending'], limit: Number(pending) }),
        ),
      )
    const median = listed.sort((a, b) => a - b)[10] as number
    console.log(`${pending} requests: ${(askedMs / Number(pending)).toFixed(2)} ms to make one`)
    console.log(`listing them: p50 ${median.toFixed(1)} ms, worst ${listed.at(-1)?.toFixed(1)} ms`)
    const clients = await Promise.all(
      gates.map((gate) => PlainClient.open(gate as never, 'office')),
    )
    const side = (name: string, client: PlainClient | undefined) => ({
      name,
      batch: 50,
      run: async (count: number) => {
        for (let at = 0; at < count; at++) await client?.call('read_file', { path: 'a' })
      },
    })
    const rows = await sideBySide(
      [side('calls, nothing waits', clients[0]), side(`calls, ${pending} wait`, clients[1])],
      Number(turns),
    )
    console.log(table(rows))
    const [without, beside] = rows.map(({ p50Ns }) => p50Ns)
    console.log(`ratio ${((beside ?? 0) / (without ?? 1)).toFixed(3)}`)
    return median < LIST_MS_MAX ? 0 : 1
  } finally {
    await endOwnGates()
  }
}

async function timed(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function createSubmission(at: number): ApprovalSubmission {
  const ask: ApprovalRequirement = {
    rule: '/tools/office~1create_payment',
    reason: '',
    timeoutMs: 3_600_000,
    waitMs: 25_000,
    approvers: [],
    quorum: 1,
    channels: ['console', 'terminal'],
    separateDuties: false,
    editArgs: false,
    says: 'bench',
  }
  return {
    callId: `call ${at}`,
    principal: { id: `p${at % 50}`, kind: 'grant' },
    agent: null,
    session: `session ${at}`,
    server: 'office',
    method: 'tools/call',
    name: 'create_payment',
    category: 'Financial',
    risk: 'high',
    pin: 'pin',
    rest: '{"name":"create_payment"}',
    asks: [ask],
    args: JSON.stringify({ amount: at, to: 'somebody', note: 'x'.repeat(200) }),
  }
}
