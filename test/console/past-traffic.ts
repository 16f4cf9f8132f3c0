// Days of calls on record before a gate starts, written by the ledger's own chain with a clock that the
// caller drives: several callers with working hours, an agent at night, denials, limits and failures.

import { ExactNumber } from '@sluice/policy/values/json'
import { Chain } from '../../packages/ledger/src/chain/chain.ts'
import {
  digestText,
  type LedgerEntry,
  outcomeEntry,
} from '../../packages/ledger/src/records/record.ts'
import { seededRandom } from '../policy/reference/random.ts'

const HOUR_MS = 3_600_000
const DIGEST = digestText('{}')
const CALLERS = ['support', 'research', 'ops-desk', 'ci-bot'] as const
const AGENT = 'agent_5b1c90de-2f4a-4a17-9c53-0d1e7a6b4f10'

interface PastTool {
  readonly server: string
  readonly name: string
  readonly category: string
  /** Of 100 calls. */
  readonly share: number
  readonly ms: number
  readonly refusal?: { readonly code: string; readonly reason: string; readonly percent: number }
}

const TOOLS: readonly PastTool[] = [
  { server: 'office', name: 'read_file', category: 'Read', share: 46, ms: 8 },
  { server: 'memory', name: 'read_graph', category: 'Read', share: 22, ms: 5 },
  { server: 'office', name: 'fetch_page', category: 'Read', share: 12, ms: 240 },
  {
    server: 'office',
    name: 'write_note',
    category: 'Write',
    share: 14,
    ms: 21,
    refusal: {
      code: 'RATE_LIMITED',
      reason: 'the limit of 20 in 1h per session is reached',
      percent: 12,
    },
  },
  {
    server: 'office',
    name: 'delete_all',
    category: 'Destructive',
    share: 2,
    ms: 0,
    refusal: { code: 'DENIED', reason: 'nothing is deleted from here', percent: 100 },
  },
  { server: 'memory', name: 'create_entities', category: 'Write', share: 4, ms: 14 },
]

export interface PastTraffic {
  readonly days: number
  readonly endMs: number
  /** At the busiest hour. */
  readonly callsPerHour: number
  /** The tool of the oldest call, which no other has. */
  readonly oldestTool?: string
  /** One refund of `shop` each hour; those above 100 were held, and approved by ada or carl. */
  readonly hasRefunds?: boolean
}

/** Returns how many calls were written. The same options give the same calls. */
export function writePastTraffic(data: string, options: PastTraffic): number {
  const { days, endMs, callsPerHour, oldestTool, hasRefunds = false } = options
  const chain = new Chain(data, 'normal')
  const random = seededRandom(20)
  let calls = 0
  let seq = 0
  for (let hour = days * 24; hour > 0; hour--) {
    const beginMs = endMs - hour * HOUR_MS
    const count = Math.round(callsPerHour * busyness(beginMs) * (0.7 + random() * 0.6))
    const entries: LedgerEntry[] = []
    const first = seq + 1
    for (let at = 0; at < count; at++) {
      const atMs = Math.round(beginMs + (at * HOUR_MS) / count)
      const picked = pickTool(random() * 100)
      const tool = calls > 0 || oldestTool === undefined ? picked : { ...picked, name: oldestTool }
      const isRefused = random() * 100 < (tool.refusal?.percent ?? 0)
      entries.push(createDecision(tool, { atMs, number: calls, isRefused, pick: random() }))
      seq++
      calls++
      if (isRefused) continue
      const durationMs = Math.round(tool.ms * (0.5 + random() * 2))
      const status = random() < 0.01 ? 'error' : 'answered'
      entries.push(outcomeEntry(seq++, { atMs, status, durationMs, bytes: 512, digest: DIGEST }))
    }
    if (hasRefunds) {
      const refund = createRefund(hour, beginMs)
      seq += refund.length
      const end = { atMs: beginMs + 61_000, status: 'answered', durationMs: 30, bytes: 64 } as const
      entries.push(...refund, outcomeEntry(seq++, { ...end, digest: DIGEST }))
      calls++
    }
    if (entries.length > 0) chain.append(entries, first, beginMs + HOUR_MS)
  }
  chain.close(endMs)
  return calls
}

/** Busy from 8 to 18 UTC on working days; never quite quiet. */
function busyness(atMs: number): number {
  const at = new Date(atMs)
  const isWeekend = at.getUTCDay() % 6 === 0
  const hour = at.getUTCHours()
  const day = hour < 8 || hour > 18 ? 0.06 : Math.sin(((hour - 7) / 12) * Math.PI)
  return isWeekend ? day * 0.2 : day
}

function pickTool(point: number): PastTool {
  let left = point
  for (const tool of TOOLS) {
    left -= tool.share
    if (left < 0) return tool
  }
  return TOOLS[0] as PastTool
}

/** The call that passes is the last of them. */
function createRefund(number: number, atMs: number): LedgerEntry[] {
  const cents = (number * 7_919) % 40_000
  const by = number % 3 === 0 ? 'carl' : 'ada'
  const base = createDecision(REFUND, { atMs, number, isRefused: false, pick: (number % 10) / 10 })
  if (base.kind !== 'intent') throw new Error('a refund is a call')
  const refund = {
    ...base,
    callId: `01HZX3T9V1${String(number).padStart(16, '0')}`,
    judged: { 'args.amount': new ExactNumber((cents / 100).toFixed(2)) },
  }
  if (cents <= 10_000) return [refund]
  const approval = `past-refund-${number}`
  const { decision } = refund
  const held = { ...decision, action: 'require_approval', code: 'APPROVAL_PENDING' } as const
  const passed = { ...decision, code: 'APPROVED', reason: `approved by ${by} (${approval})` }
  return [
    { ...refund, kind: 'refusal', approval, decision: { ...held, reason: 'waiting for approval' } },
    { ...refund, atMs: atMs + 60_000, approval, decision: passed },
  ]
}

const REFUND: PastTool = {
  server: 'shop',
  name: 'create_refund',
  category: 'Financial',
  share: 0,
  ms: 30,
}

function createDecision(
  { server, name, category, refusal }: PastTool,
  call: { atMs: number; number: number; isRefused: boolean; pick: number },
): LedgerEntry {
  const { atMs, number, isRefused, pick } = call
  const caller = CALLERS[Math.floor(pick * pick * CALLERS.length)] ?? 'support'
  return {
    kind: isRefused ? 'refusal' : 'intent',
    atMs,
    callId: `01HZX3T9V0${String(number).padStart(16, '0')}`,
    principal: { id: caller, kind: 'grant' },
    agent: pick > 0.9 ? AGENT : null,
    session: `${caller}#0@${atMs - (atMs % (4 * HOUR_MS))}`,
    server,
    method: 'tools/call',
    name,
    category,
    policy: 'policy 4f1c',
    decision: {
      ...(isRefused && refusal !== undefined
        ? { action: 'deny', code: refusal.code, reason: refusal.reason }
        : { action: 'allow', code: 'ALLOWED', reason: '' }),
      rule: `/tools/${server}~1${name}`,
      guardrails: [],
      shadow: [],
      limits: [],
    },
    // Every second one has an amount that a rule read.
    judged:
      number % 2 === 0
        ? { 'args.amount': new ExactNumber(String(((number * 7_919) % 500_000) / 100)) }
        : {},
    argsDigest: DIGEST,
  } as LedgerEntry
}
