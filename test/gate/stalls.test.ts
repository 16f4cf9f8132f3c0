// Nobody waits for the work that somebody else makes the gate do: while a list of ten thousand new
// tools is classified, calls of other clients are answered, and the thread is never held for long.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const TOOLS_COUNT = 10_000
/** Of what the lists take, so that the speed of the machine does not matter. */
const PIECE_SHARE_MAX = 0.03
let gate: RunningGate

beforeAll(async () => {
  const servers = { many: fixture('many', String(TOOLS_COUNT)), echo: fixture('echo') }
  gate = await startGate({ servers })
})
afterAll(endGates)

test('F4, F9: calls are answered while 10,000 tools are listed, at a server and at all', async () => {
  const caller = await PlainClient.open(gate, 'echo')
  await caller.call('echo', { n: -1 })
  const before = cpuMs(gate)
  for (const at of ['many', '']) {
    const lister = await PlainClient.open(gate, at)
    let isListed = false
    const listing = lister.ask('tools/list').finally(() => {
      isListed = true
    })
    let calls = 0
    while (!isListed) {
      const { answer } = await caller.call('echo', { n: calls })
      expect(answer.result.content).toHaveLength(1)
      calls++
    }
    const { answer } = await listing
    expect(answer.result.tools.length).toBeGreaterThanOrEqual(TOOLS_COUNT)
    expect(calls).toBeGreaterThan(5)
  }
  const tookMs = cpuMs(gate) - before
  const stalls = [...gate.log.matchAll(/was blocked.*?cpuMs[=: "]+(\d+)/g)]
  const longestMs = Math.max(0, ...stalls.map(([, ms]) => Number(ms)))
  expect(longestMs, `of ${tookMs} ms`).toBeLessThan(PIECE_SHARE_MAX * tookMs)
})

/** Of the thread that answers. */
function cpuMs({ process: { pid } }: RunningGate): number {
  const [ranNs = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
  return Number(ranNs) / 1_000_000
}
