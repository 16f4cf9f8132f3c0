// A process on a disk that really gets full: `node full-disk.test-support.ts DIR`, where DIR is a
// small separate file system. Prints what it observed as JSON.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openLedgerReadOnly } from './chain/read.ts'
import { allowed, decisionEntry } from './decision-entries.test-support.ts'
import { Ledger, type LedgerState } from './ledger.ts'
import { verifyLedger } from './verify/verify.ts'

const directory = process.argv[2] as string
const states: LedgerState[] = []
const ledger = Ledger.open({ directory, onState: (state) => states.push(state) })
const seen: Record<string, unknown> = {}
await ledger.intent(long(0))
const filler = join(directory, 'filler')
const handle = openSync(filler, 'w')
try {
  for (;;) writeSync(handle, Buffer.alloc(65_536, 1))
} catch {
  closeSync(handle)
}
for (let n = 1; n < 100_000 && ledger.state === 'writing'; n++)
  await ledger.intent(long(n)).catch((error) => {
    seen.refused = { code: error.code, why: error.why }
  })
const denials = await Promise.allSettled(
  Array.from({ length: 500 }, (_, n) => ledger.refuse(long(n))),
)
seen.denialsWritten = denials.filter(({ status }) => status === 'fulfilled').length
seen.intentWhileFull = await ledger.intent(long(1)).catch((error) => error.code)
rmSync(filler)
for (let n = 0; n < 200 && ledger.state !== 'writing'; n++) await pause(50)
seen.intentAfter = typeof (await ledger.intent(long(2)))
ledger.close()
seen.states = states
seen.problems = verifyLedger(openLedgerReadOnly(directory)).problems
process.stdout.write(JSON.stringify(seen))

/** Long, so that the disk fills quickly. */
function long(number: number) {
  return decisionEntry(number, { decision: { ...allowed, reason: 'x'.repeat(2_000) } })
}
