// Answers of the largest size by default, many at once, in a soak again and again: the memory of the gate stays
// bounded, and a larger one fails with the figure and the key.

import { afterAll, expect, test } from 'vitest'
import { UPSTREAM_MESSAGE_BYTES } from '../../packages/gateway/src/upstream/limits.ts'
import { serveHttp } from '../servers/http.ts'
import { PlainClient } from '../support/plain-client.ts'
import { peakMebibytes } from '../support/processes.ts'
import { rounds } from '../support/runs.ts'
import { endGates, fixture, startGate } from '../support/start-gate.ts'

const AT_ONCE = 8
/** Measured 240 to 320. The promise is 1 GB. */
const PEAK_MEBIBYTES_MAX = 640
/** Of the envelope. */
const HEAD_BYTES = 200
/** With one letter beyond Latin-1 every character takes two bytes of memory. */
const WORDS = `${'word '.repeat(1_000)}漢 `

afterAll(endGates)

test('eight answers of 4 MiB at once, over each transport, stay below 1 GB', async () => {
  const http = await serveHttp({ answers: 'json' })
  try {
    const servers = { stdio: fixture('echo'), http: { url: http.url } }
    const gate = await startGate({ servers })
    for (const server of Array(rounds(4)).fill(['stdio', 'http']).flat()) {
      const clients = await Promise.all(
        Array.from({ length: AT_ONCE }, () => PlainClient.open(gate, server)),
      )
      const bytes = UPSTREAM_MESSAGE_BYTES - HEAD_BYTES
      const answers = await Promise.all(
        clients.map(async (client) => (await client.call('big', { bytes, of: WORDS })).answer),
      )
      for (const { result } of answers)
        expect(Buffer.byteLength(result.content[0].text)).toBeGreaterThan(bytes - WORDS.length)
      const { answer } = await (clients[0] as PlainClient).call('big', {
        bytes: bytes + HEAD_BYTES,
      })
      expect(answer.error.message).toMatch(/4 MiB.*`max_message` \(at most 16MiB\)/)
      await Promise.all(clients.map((client) => client.end()))
    }
    expect(peakMebibytes(gate)).toBeLessThan(PEAK_MEBIBYTES_MAX)
  } finally {
    await http.close()
  }
})
