// kill -9 under load, repeatedly on one ledger: every promised record exists, the chain verifies,
// and open calls are marked unknown once.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { rounds } from '../../../test/support/runs.ts'
import { openLedgerReadOnly, recordsFrom } from './chain/read.ts'
import { Ledger } from './ledger.ts'
import { freshDirectory } from './samples.test-support.ts'
import { verifyLedger } from './verify/verify.ts'

const KILLS = rounds(12)
const CHILD = fileURLToPath(new URL('./append.test-support.ts', import.meta.url))

test('every intent that was promised survives kill -9', { timeout: 120_000 }, async () => {
  const directory = freshDirectory()
  const promised = new Map<number, string>()
  for (let round = 0; round < KILLS; round++)
    for (const [seq, callId] of await appendAndKill(directory, 40 + 17 * round)) {
      expect(promised.has(seq)).toBe(false)
      promised.set(seq, callId)
    }
  expect(promised.size).toBeGreaterThan(KILLS)
  Ledger.open({ directory }).close()

  const database = openLedgerReadOnly(directory)
  expect(verifyLedger(database).problems).toEqual([])
  const closed = new Map<number, string[]>()
  const kept = new Map<number, string>()
  let unknown = 0
  for (const record of recordsFrom(database)) {
    if (record.kind === 'intent') {
      kept.set(record.seq, record.callId)
      closed.set(record.seq, [])
    } else if (record.kind === 'outcome') closed.get(record.intent)?.push(record.status)
    else if (record.kind === 'event' && record.name === 'recovery') unknown++
  }
  database.close()
  for (const [seq, callId] of promised) expect(kept.get(seq)).toBe(callId)
  expect([...closed.values()].every((statuses) => statuses.length === 1)).toBe(true)
  expect(unknown).toBeGreaterThan(0)
})

async function appendAndKill(directory: string, afterMs: number): Promise<[number, string][]> {
  const child = spawn(process.execPath, [CHILD, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  let killing = false
  child.stdout.on('data', (chunk) => {
    text += chunk
    if (killing || !text.startsWith('begun\n')) return
    killing = true
    setTimeout(() => child.kill('SIGKILL'), afterMs)
  })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
  // The last line may have been truncated in the middle of its write.
  const lines = text.split('\n').slice(1, -1)
  return lines.map((line) => {
    const [seq, callId] = line.split(' ') as [string, string]
    return [Number(seq), callId]
  })
}
