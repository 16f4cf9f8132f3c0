// A ledger of a day at 100 calls a second, written by the ledger's own chain, two records per
// commit as in such a gate, and the time to verify, index, query and restore it. Called by `npm run
// bench -- ledger --records N`; its records also by console/pages.ts.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { InstallationKey } from '../../packages/access/src/identity/keys/installation-key.ts'
import { deriveSigningKey } from '../../packages/access/src/identity/keys/signing-key.ts'
import { makeSessions } from '../../packages/access/src/identity/sessions/agent-sessions.test-support.ts'
import { restoreSessions } from '../../packages/gateway/src/data/restore-sessions.ts'
import { restoreState } from '../../packages/gateway/src/data/restore-state.ts'
import { writeState } from '../../packages/gateway/src/data/state-file.ts'
import { Chain } from '../../packages/ledger/src/chain/chain.ts'
import type { Checkpoint } from '../../packages/ledger/src/chain/checkpoint.ts'
import { readCheckpoints } from '../../packages/ledger/src/chain/checkpoint-file.ts'
import { openLedgerReadOnly } from '../../packages/ledger/src/chain/read.ts'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { type Query, queryLedger } from '../../packages/ledger/src/query/query.ts'
import { RecordIndex } from '../../packages/ledger/src/query/record-index.ts'
import { restoreLimits } from '../../packages/ledger/src/query/restore-limits.ts'
import { runSql } from '../../packages/ledger/src/query/run-sql.ts'
import { CHECKPOINTS_FILE } from '../../packages/ledger/src/records/files.ts'
import { EntryHider } from '../../packages/ledger/src/records/hide-entry.ts'
import {
  digestText,
  type LedgerEntry,
  outcomeEntry,
} from '../../packages/ledger/src/records/record.ts'
import { proveRecord } from '../../packages/ledger/src/verify/proof.ts'
import { verifyLedger } from '../../packages/ledger/src/verify/verify.ts'

const CALLS_PER_SECOND = 100
/** Names as a gate has them that has met all callers. */
const NAMES = {
  version: 0,
  know: (name: string) => `person:${digestText(name).slice(0, 22)}`,
  tokenOf: (name: string) => `person:${digestText(name).slice(0, 22)}`,
}
const hider = new EntryHider(Buffer.alloc(32), NAMES)
const DIGEST = digestText('{"amount":100}')
const DAY_MS = 86_400_000
const { policy } = compile(
  {
    file: 'policy.yaml',
    text: 'version: 1\ndefault: allow\ncategories:\n  Write: { action: allow, rate_limit: { max: 1, window: 1d } }',
  },
  {},
)
const POLICIES = { all: [policy as CompiledPolicy] }

export async function grown(directory: string, records: number): Promise<Record<string, number>> {
  const endMs = Date.now()
  const figures: Record<string, number> = {}
  const note = (what: string, value: number) => {
    figures[what] = value
    console.log(`${what.padEnd(44)} ${round(value).toLocaleString('en')}`)
  }
  note('records', records)
  const rate = (what: string, { ms, cpuMs }: { ms: number; cpuMs: number }) => {
    note(`${what} records/s`, (records / ms) * 1_000)
    note(`${what} records/s of CPU`, (records / cpuMs) * 1_000)
  }
  const wrote = timed(() => writeRecords(directory, records, endMs))
  rate('written', wrote)
  const signer = deriveSigningKey(InstallationKey.at(directory))
  const opened = timed(() => Ledger.open({ directory, checkpoints: { signer }, hider }))
  note('open the ledger, ms', opened.ms)
  void opened.value.event({ atMs: endMs, name: 'start', detail: { signedBy: signer.publicKey } })
  const closed = timed(() => opened.value.close())
  rate('into the tree', closed)
  note('bytes a record', statSync(join(directory, 'ledger.db')).size / records)
  const ledger = openLedgerReadOnly(directory)
  const checkpoints = readCheckpoints(join(directory, CHECKPOINTS_FILE))
  let verifiedHead = { seq: 0, hash: '' }
  for (const tree of [false, true]) {
    const options = { checkpoints, keys: [signer.publicKey], tree }
    const verified = timed(() => verifyLedger(ledger, options))
    if (verified.value.problems.length > 0) throw new Error(JSON.stringify(verified.value.problems))
    verifiedHead = verified.value.head
    rate(tree ? 'verified, with the tree,' : 'verified', verified)
  }
  const index = new RecordIndex(directory, ledger)
  const indexed = timed(() => index.catchUp())
  rate('indexed', indexed)
  note('bytes a record, index', statSync(join(directory, 'ledger-index.db')).size / records)
  const ask = (what: string, query: Query) => {
    const { value, ms } = timed(() => queryLedger(ledger, { limit: 100, ...query }, index))
    if (value.calls.length === 0) throw new Error(`nothing found: ${what}`)
    note(`query ${what}, ms`, ms)
  }
  ask('by tool', { server: 'server-4', name: 'tool-7' })
  ask('by principal', { principal: 'person-13' })
  ask('by principal and tool', { principal: 'person-13', server: 'server-4', name: 'tool-7' })
  ask('by tool, the last hour', { server: 'server-4', name: 'tool-7', sinceMs: endMs - 3_600_000 })
  ask('denied, by principal', { denied: true, principal: 'person-13' })
  ask('by agent', { agent: 'agent-10' })
  const newest = checkpoints.at(-1)?.checkpoint as Checkpoint
  const proof = timed(() => proveRecord(ledger, Math.floor(records / 3), newest))
  note('proof of one record, ms', proof.ms)
  index.close()
  const sql = async (what: string, select: string) => {
    const began = performance.now()
    await runSql(directory, select, { timeoutMs: 120_000 })
    note(`SQL ${what}, ms (with its process)`, performance.now() - began)
  }
  await sql(
    'by tool',
    "select * from calls where tool = 'server-4/tool-7' order by seq desc limit 100",
  )
  await sql(
    'denied by tool',
    "select tool, count(*) from calls where action <> 'allow' group by tool",
  )
  const nowMs = Date.now()
  for (const [name, windowMs] of [
    ['hour', 3_600_000],
    ['day', DAY_MS],
  ] as const) {
    const now = { wallMs: nowMs, monotonicMs: performance.now() }
    const counters = new MemoryCounters()
    const restored = timed(() => {
      for (const { charges, ageMs } of restoreLimits(ledger, nowMs, windowMs))
        counters.restore(charges, ageMs, now)
    })
    note(`restore limits of a ${name}, ms`, restored.ms)
    note(`restore limits of a ${name}, ms of CPU`, restored.cpuMs)
  }
  const sessions = timed(() =>
    restoreSessions(makeSessions(), ledger, { nowMs, labelsOf: () => [] }),
  )
  note('restore sessions, ms', sessions.ms)
  note('restore sessions, ms of CPU', sessions.cpuMs)
  ledger.close()
  const state = restoreState({
    directory,
    policies: POLICIES,
    key: signer,
    sessions: makeSessions(),
    hider,
  })
  const head = { seq: verifiedHead.seq, hash: verifiedHead.hash }
  const noted = timed(() => writeState({ data: directory, key: signer, ...state }, head))
  note('note counters and sessions, ms', noted.ms)
  const again = timed(() =>
    restoreState({ directory, policies: POLICIES, key: signer, sessions: makeSessions(), hider }),
  )
  note('restore all from the note, ms', again.ms)
  rmSync(directory, { recursive: true })
  return figures
}

export function writeRecords(directory: string, records: number, endMs: number): void {
  const chain = new Chain(directory, 'normal')
  const calls = Math.ceil(records / 2)
  const beginMs = endMs - (calls / CALLS_PER_SECOND) * 1_000
  let last: LedgerEntry | undefined
  for (let number = 0, seq = 0; seq < records; number++) {
    const atMs = Math.round(beginMs + (number * 1_000) / CALLS_PER_SECOND)
    const isRefused = number % 33 === 0
    const entries: LedgerEntry[] = last === undefined ? [] : [last]
    entries.push(createEntry(number, atMs, isRefused))
    if (seq + entries.length > records) entries.length = records - seq
    // Half a second of calls is between an intent and the first record that may be open.
    chain.append(entries, Math.max(1, seq - 100), atMs)
    seq += entries.length
    const outcome = {
      atMs,
      status: 'answered',
      durationMs: 12,
      bytes: 512,
      digest: DIGEST,
    } as const
    last = isRefused ? undefined : outcomeEntry(seq, outcome)
  }
  chain.close(endMs)
}

function createEntry(number: number, atMs: number, isRefused: boolean): LedgerEntry {
  const person = `person-${(number * 7) % 40}`
  const beganMs = atMs - (atMs % 10_000_000)
  return {
    kind: isRefused ? 'refusal' : 'intent',
    atMs,
    callId: `01HZX3T9V0${String(number).padStart(16, '0')}`,
    principal: { id: person, kind: 'grant' },
    agent: number % 10 === 0 ? `agent-${number % 50}` : null,
    session: `${person}#0@${beganMs}`,
    server: `server-${number % 5}`,
    method: 'tools/call',
    name: `tool-${(number * 3) % 50}`,
    category: 'Write',
    policy: 'default@4f1c',
    decision: {
      ...(isRefused
        ? { action: 'deny', code: 'RATE_LIMITED', reason: 'too many in a minute' }
        : { action: 'allow', code: 'ALLOWED', reason: '' }),
      rule: `/tools/server-${number % 5}`,
      guardrails: [],
      shadow: [],
      limits: isRefused
        ? []
        : [
            {
              key: `/categories/Write/rate_limit|${person}`,
              kind: 'rate',
              windowMs: 60_000,
              max: { units: 3_000n, scale: 0 },
              amount: { units: 1n, scale: 0 },
            },
          ],
    },
    judged: { 'args.amount': number },
    argsDigest: DIGEST,
  } as LedgerEntry
}

/** `cpuMs` is what it would take on an idle machine. */
function timed<T>(work: () => T): { value: T; ms: number; cpuMs: number } {
  const began = performance.now()
  const cpu = process.cpuUsage()
  const value = work()
  const { user, system } = process.cpuUsage(cpu)
  return { value, ms: performance.now() - began, cpuMs: (user + system) / 1_000 }
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 10) / 10
}
