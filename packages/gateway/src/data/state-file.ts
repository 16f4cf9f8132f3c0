// Counters and sessions as they were after some record, so that a start reads only what came behind it:
// a busy gate leaves millions of records, and nobody is served while they are read. Signed with the key
// of the installation and bound to the record's hash: what is not exactly so is not used, and the record
// is read instead. What was in flight when it was noted counts twice: tighter, never looser.

import { createHash, createPublicKey, hash, verify } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { SigningKey } from '@sluice/access/identity/keys/signing-key'
import type { AgentSessions } from '@sluice/access/identity/sessions/agent-sessions'
import { hashAt } from '@sluice/ledger/chain/read'
import { toHex } from '@sluice/ledger/store/chain-hash'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { CounterSnapshot, MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { formatDecimal, toDecimal } from '@sluice/policy/values/decimal'
import { Slices } from '../shared/slices.ts'
import { STATE_COUNTER_EVENTS_MAX, STATE_EVENTS_MAX, STATE_FILE_BYTES_MAX } from './limits.ts'
import type { SessionSnapshot } from './restore-sessions.ts'

export interface GateSnapshot extends SessionSnapshot {
  readonly wallMs: number
  readonly counters: readonly CounterSnapshot[]
}

export interface StateParts {
  readonly data: string
  readonly counters: MemoryCounters
  readonly sessions: AgentSessions
  readonly key: SigningKey
}

/** The record that it is bound to. */
interface LedgerHead {
  readonly seq: number
  readonly hash: string
}

/** Characters that are encoded at a time. */
const PIECE_LENGTH = 262_144
export const STATE_FILE = 'gate-state.json'
const VERSION = 1

/**
 * In slices: a limit may have 100,000 counters. What is charged meanwhile may be in it, and counts twice
 * like what was in flight. False if there is too much of it to be noted.
 */
export async function writeState(parts: StateParts, head: LedgerHead): Promise<boolean> {
  const { data, key } = parts
  const slices = new Slices()
  const digest = createHash('sha256')
  const pieces: Buffer[] = []
  let text = ''
  for (const part of listParts(parts, head)) {
    if (part === undefined) return false
    text += part
    if (text.length > PIECE_LENGTH) {
      pieces.push(Buffer.from(text))
      text = ''
    }
    if (slices.isOver) await slices.next()
  }
  pieces.push(Buffer.from(text))
  for (const piece of pieces) {
    digest.update(piece)
    if (slices.isOver) await slices.next()
  }
  const signature = Buffer.from(`${key.sign(statementOf(digest.digest('hex')))}\n`)
  const file = join(data, STATE_FILE)
  await writeFile(`${file}.new`, [signature, ...pieces], { mode: 0o600 })
  await rename(`${file}.new`, file)
  return true
}

/** The body of the file; ends with undefined if there is too much of it. */
function* listParts(
  { counters, sessions }: StateParts,
  head: LedgerHead,
): Generator<string | undefined> {
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const steadyMs = processClock.steadyMs()
  yield `${JSON.stringify({ version: VERSION, ...head, wallMs: now.wallMs }).slice(0, -1)},"slots":[`
  let comma = ''
  for (const session of sessions.list(steadyMs)) {
    // Idle times as they are, also if the clock was set since they began.
    const lastUsedMs = session.lastUsedMs + now.wallMs - steadyMs
    const cost = formatDecimal(session.cost)
    yield `${comma}${JSON.stringify({ ...session, lastUsedMs, cost })}`
    comma = ','
  }
  yield '],"counters":['
  comma = ''
  let events = 0
  for (const counter of counters.dumpSteps(now, STATE_COUNTER_EVENTS_MAX)) {
    yield ''
    if (counter === undefined) continue
    const { key, windowMs, ages, amounts } = counter
    events += ages.length
    if (events > STATE_EVENTS_MAX) return yield undefined
    const entry = [key, windowMs, ages.map(Math.floor), amounts.map(formatDecimal)]
    yield `${comma}${JSON.stringify(entry)}`
    comma = ','
  }
  yield ']}'
}

/** Undefined if it is missing, or does not belong to this ledger. */
export function readState(
  data: string,
  key: SigningKey,
  ledger: DatabaseSync,
  nowMs: number,
): GateSnapshot | undefined {
  const file = join(data, STATE_FILE)
  try {
    if (!existsSync(file) || statSync(file).size > STATE_FILE_BYTES_MAX) return undefined
    const text = readFileSync(file, 'utf8')
    const at = text.indexOf('\n')
    const body = text.slice(at + 1)
    if (!isSigned(body, text.slice(0, at), key)) return undefined
    const { version, seq, hash: noted, wallMs, slots, counters } = JSON.parse(body)
    const here = hashAt(ledger, seq)
    const fits = here !== undefined && toHex(here) === noted
    // A clock that was set back would make everything younger than it is.
    if (version !== VERSION || !fits || wallMs > nowMs) return undefined
    return { seq, wallMs, slots, counters: counters.map(countedOf) }
  } catch {
    return undefined
  }
}

function countedOf([key, windowMs, ages, amounts]: [
  string,
  number,
  number[],
  string[],
]): CounterSnapshot {
  const decimals = amounts.map((amount) => {
    const decimal = toDecimal(amount)
    if (decimal === undefined) throw new Error('an amount that is none')
    return decimal
  })
  return { key, windowMs, ages, amounts: decimals }
}

function statementOf(digest: string): string {
  return `sluice state 1\n${digest}\n`
}

function isSigned(body: string, signature: string, { publicKey }: SigningKey): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  return verify(
    null,
    Buffer.from(statementOf(hash('sha256', body))),
    key,
    Buffer.from(signature, 'base64url'),
  )
}
