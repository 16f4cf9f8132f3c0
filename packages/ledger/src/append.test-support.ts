// A process that appends to a ledger until it is killed: `node append.test-support.ts DIR`. Writes
// to stdout, immediately and synchronously, which intents were promised to be durable.

import { writeSync } from 'node:fs'
import { decisionEntry } from './decision-entries.test-support.ts'
import { Ledger } from './ledger.ts'

const CONCURRENT = 32
const ledger = Ledger.open({ directory: process.argv[2] as string })
const run = `${process.pid}`
let number = 0
writeSync(1, 'begun\n')
for (let lane = 0; lane < CONCURRENT; lane++) void keepCalling()

async function keepCalling(): Promise<void> {
  for (;;) {
    const callId = `${run}-${number++}`
    const seq = await ledger.intent(called(callId))
    writeSync(1, `${seq} ${callId}\n`)
    await new Promise((resolve) => setTimeout(resolve, number % 3))
    if (number % 5 !== 0) ledger.outcome(seq, { atMs: Date.now(), status: 'answered' })
    if (number % 7 === 0) void ledger.refuse(called(`${callId}-no`))
  }
}

function called(callId: string) {
  return decisionEntry(0, { atMs: Date.now(), callId })
}
