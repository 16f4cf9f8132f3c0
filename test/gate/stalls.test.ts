// Nobody waits for the work that somebody else makes the gate do: while a list of ten thousand new
// tools is classified, calls of other clients are answered, and the thread is never held for long.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const TOOLS_COUNT = 10_000
/** CPU of one piece of work that is a stall, also on a busy machine. */
const PIECE_CPU_MS_MAX = 150
let gate: RunningGate

beforeAll(async () => {
  const servers = { many: fixture('many', String(TOOLS_COUNT)), echo: fixture('echo') }
  gate = await startGate({ servers })
})
afterAll(endGates)

test.each(['many', ''])(
  'F4, F9: calls are answered while 10,000 tools are listed at /mcp/%s',
  async (at) => {
    const lister = await PlainClient.open(gate, at)
    const caller = await PlainClient.open(gate, 'echo')
    await caller.call('echo', { n: -1 })
    let isListed = false
    const listing = lister.ask('tools/list').then((listed) => {
      isListed = true
      return listed
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
    const stalls = [...gate.log.matchAll(/was blocked.*?cpuMs[=: "]+(\d+)/g)].map(([, ms]) =>
      Number(ms),
    )
    for (const cpuMs of stalls) expect(cpuMs).toBeLessThan(PIECE_CPU_MS_MAX)
  },
)
