// Counters and sessions as they were after some record, so that a start reads only what came behind it:
// a busy gate leaves millions of records, and nobody is served while they are read. Signed with the key
// of the installation and bound to the record's hash: what is not exactly so is not used, and the record
// is read instead. What was in flight when it was noted counts twice: tighter, never looser.

import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { formatDecimal, toDecimal } from '@sluice/policy/core/decimal'
import type { CounterSnapshot, MemoryCounters } from '@sluice/policy/counters/memory-counters'
import type { SigningKey } from '../../identity/keys/signing-key.ts'
import type { AgentSessions } from '../../identity/sessions/agent-sessions.ts'
import { hashAt } from '../../ledger/chain/read.ts'
import { toHex } from '../../store/chain-hash.ts'
import { processClock } from '../../store/process-clock.ts'
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

const FILE = 'gate-state.json'
const VERSION = 1

/** False if there is too much of it to be noted. */
export function writeState(
  { data, counters, sessions, key }: StateParts,
  head: { readonly seq: number; readonly hash: string },
): boolean {
  const now = { wallMs: Date.now(), monotonicMs: performance.now() }
  const steadyMs = processClock.steadyMs()
  const counted = counters.dump(now, STATE_COUNTER_EVENTS_MAX)
  if (counted.reduce((sum, { ages }) => sum + ages.length, 0) > STATE_EVENTS_MAX) return false
  const body = JSON.stringify({
    version: VERSION,
    ...head,
    wallMs: now.wallMs,
    // Idle times as they are, also if the clock was set since they began.
    slots: sessions
      .list(steadyMs)
      .map((session) => ({ ...session, lastUsedMs: session.lastUsedMs + now.wallMs - steadyMs })),
    counters: counted.map(({ key: name, windowMs, ages, amounts }) => [
      name,
      windowMs,
      ages.map(Math.floor),
      amounts.map(formatDecimal),
    ]),
  })
  const file = join(data, FILE)
  writeFileSync(`${file}.new`, `${key.sign(statementOf(body))}\n${body}`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return true
}

/** Undefined if it is missing, or does not belong to this ledger. */
export function readState(
  data: string,
  key: SigningKey,
  ledger: DatabaseSync,
  nowMs: number,
): GateSnapshot | undefined {
  const file = join(data, FILE)
  try {
    if (!existsSync(file) || statSync(file).size > STATE_FILE_BYTES_MAX) return undefined
    const text = readFileSync(file, 'utf8')
    const at = text.indexOf('\n')
    const body = text.slice(at + 1)
    if (!isSigned(body, text.slice(0, at), key)) return undefined
    const { version, seq, hash, wallMs, slots, counters } = JSON.parse(body)
    const here = hashAt(ledger, seq)
    const fits = here !== undefined && toHex(here) === hash
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

function statementOf(body: string): string {
  return `sluice state 1\n${createHash('sha256').update(body).digest('hex')}\n`
}

function isSigned(body: string, signature: string, { publicKey }: SigningKey): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  return verify(null, Buffer.from(statementOf(body)), key, Buffer.from(signature, 'base64url'))
}
