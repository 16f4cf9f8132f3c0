// kill -9 at the steps of a pending approval, one process per step, each of which first finishes
// what the previous one left: by approvals-kill.test.ts at a few, by `npm run soak --
// approvals` at every one, before and after it. Reports violated invariants.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { openLedgerReadOnly } from '../../packages/ledger/src/chain/read.ts'
import { verifyLedger } from '../../packages/ledger/src/verify/verify.ts'
import { recordsOf, sentTo } from './plain-client.ts'
import { fixture, NODE } from './start-gate.ts'

export interface Kill {
  /** `ledger.event 2`: the second of its kind. */
  readonly step: string
  readonly when: 'before' | 'after'
}

export interface KillReport {
  /** Violated invariants, as text. */
  readonly wrong: string[]
  readonly steps: readonly string[]
  /** How the requests ended. */
  readonly ends: readonly string[]
}

/** The valid final states; any other would leave the request undecided for ever. */
const ENDS: ReadonlySet<string> = new Set(['executed', 'unknown', 'denied', 'expired', 'void'])

export async function approvalKills(
  pick: (steps: readonly string[]) => readonly Kill[],
): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gate-'))
  const wrong: string[] = []
  try {
    const whole = await live(folder, '1', 'none', 'after')
    const steps = JSON.parse(whole.output) as string[]
    const kills = pick(steps)
    for (const [at, { step, when }] of kills.entries()) {
      const { signal } = await live(folder, String(at + 2), step, when)
      if (signal !== 'SIGKILL') wrong.push(`${when} ${step}: not killed`)
    }
    const { output } = await live(folder, '', '', '')
    const requests = JSON.parse(output) as ApprovalRequest[]
    for (const { id, state } of requests)
      if (!ENDS.has(state)) wrong.push(`request ${id} is ${state} in the end`)
    wrong.push(...wrongIn(folder, requests))
    return { wrong, steps, ends: requests.map(({ state }) => state) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Compares what arrived at the server with what was approved. */
function wrongIn(folder: string, requests: readonly ApprovalRequest[]): string[] {
  const wrong: string[] = []
  const data = join(folder, 'data')
  const records = recordsOf({ data })
  const approved = new Set<unknown>()
  const usedBy = new Map<unknown, string>()
  for (const record of records) {
    if (record.kind === 'event' && record.name === 'approval-approved')
      approved.add((record.detail as { request: string }).request)
    if (record.kind === 'intent' && record.name === 'create_payment')
      usedBy.set(record.callId, record.decision.reason)
  }
  for (const [call, reason] of usedBy) {
    const request = /\((\w+)\)/.exec(reason)?.[1]
    if (!approved.has(request)) wrong.push(`the call ${call} went on without an approval`)
  }
  const times = new Map<number, number>()
  for (const { params } of sentTo(folder))
    if (params?.name === 'create_payment')
      times.set(params.arguments.amount, (times.get(params.arguments.amount) ?? 0) + 1)
  for (const [amount, count] of times)
    if (count > 1) wrong.push(`payment ${amount} was made ${count} times`)
  const executed = requests.filter(({ state }) => state === 'executed').length
  const unknown = requests.filter(({ state }) => state === 'unknown').length
  const made = times.size
  if (made < executed || made > executed + unknown)
    wrong.push(`${made} payments, ${executed} executed and ${unknown} unknown`)
  const database = openLedgerReadOnly(data)
  for (const problem of verifyLedger(database).problems)
    wrong.push(`the chain: ${JSON.stringify(problem)}`)
  database.close()
  return wrong
}

function live(
  folder: string,
  life: string,
  position: string,
  when: string,
): Promise<{ signal: string | null; output: string }> {
  const [, program = ''] = fixture('approvals-crash').command
  const args = [program, folder, life, ...(position === '' ? [] : [position, when])]
  const child = spawn(NODE, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_, signal) => resolve({ signal, output }))
  })
}
