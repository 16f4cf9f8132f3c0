// `npm run bench -- large-messages [--mebibytes 4,8] [--only stdio]`: large answers through a real gate: the most
// CPU that its thread takes between two turns of the event loop, by what the text is made of, and the most memory
// that eight at once take, twice in the same gate.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { serveHttp } from '../test/servers/http.ts'
import { PlainClient } from '../test/support/plain-client.ts'
import { peakMebibytes } from '../test/support/processes.ts'
import { endGates, fixture, type RunningGate, startGate } from '../test/support/start-gate.ts'
import type { ThreadFigures } from './console/thread-probe.ts'

const PROBE = join(import.meta.dirname, 'console', 'thread-probe.ts')
const MEBIBYTE = 1_048_576
/** Of the envelope. */
const HEAD_BYTES = 200
const AT_ONCE = 8
const ROUNDS = 3
/** What a text is made of, because readers and writers take a path of their own for each. */
const TEXTS = {
  base64: 'QUJDREVGR0hJSktM',
  'words with accents': 'déjà vu, à côté ',
  'one word beyond Latin-1 in a thousand': `${'word '.repeat(1_000)}漢字 `,
  Chinese: '漢字',
  emoji: '😀',
  'letters whose low byte is a quote': 'Ģ',
  'line separators': 'a line\u2028',
}

export async function run(options: RunOptions): Promise<number> {
  const [mebibytes, only] = [String(options.mebibytes ?? 4), String(options.only ?? '')]
  const file = join(tmpdir(), `sluice-probe-${process.pid}.json`)
  const json = await serveHttp({ answers: 'json' })
  const events = await serveHttp({ answers: 'events' })
  const servers = {
    stdio: { ...fixture('echo'), max_message: '16MiB' },
    json: { url: json.url, max_message: '16MiB' },
    events: { url: events.url, max_message: '16MiB' },
  }
  try {
    for (const size of mebibytes.split(','))
      for (const server of Object.keys(servers).filter((name) => name.includes(only))) {
        const env = { BENCH_PROBE_FILE: file }
        const gate = await startGate({ servers, nodeArguments: ['--import', PROBE], env })
        const bytes = Number(size) * MEBIBYTE - HEAD_BYTES
        const client = await PlainClient.open(gate, server)
        await client.call('big', { bytes: MEBIBYTE })
        for (const [name, of] of Object.entries(TEXTS)) {
          const longest: number[] = []
          for (let round = 0; round < ROUNDS; round++) {
            await readProbe(gate, file)
            const { answer } = await client.call('big', { bytes, of })
            if (answer.error) throw new Error(answer.error.message)
            longest.push((await readProbe(gate, file)).longestCpuMs)
          }
          const shown = longest.map((ms) => ms.toFixed(0)).join(', ')
          console.log(`${size} MiB, ${server}, ${name}: ${shown} ms of CPU at once`)
        }
        await endGates()
      }
    for (const size of mebibytes.split(','))
      for (const server of Object.keys(servers).filter((name) => name.includes(only)))
        for (const name of ['base64', 'one word beyond Latin-1 in a thousand'] as const) {
          const gate = await startGate({ servers })
          const peaks: string[] = []
          for (let round = 0; round < 3; round++) {
            await callAtOnce(gate, server, Number(size) * MEBIBYTE - HEAD_BYTES, TEXTS[name])
            peaks.push(peakMebibytes(gate).toFixed(0))
          }
          console.log(
            `${AT_ONCE} of ${size} MiB at once, ${server}, ${name}: ${peaks.join(', ')} MiB`,
          )
          await endGates()
        }
  } finally {
    await endGates()
    await Promise.all([json.close(), events.close()])
    rmSync(file, { force: true })
  }
  return 0
}

async function callAtOnce(gate: RunningGate, server: string, bytes: number, of: string) {
  const clients = await Promise.all(
    Array.from({ length: AT_ONCE }, () => PlainClient.open(gate, server)),
  )
  const calls = clients.map(async (client) => {
    const { answer } = await client.call('big', { bytes, of })
    if (answer.error) throw new Error(answer.error.message)
  })
  await Promise.all(calls)
  await Promise.all(clients.map((client) => client.end()))
}

async function readProbe({ process: { pid } }: RunningGate, file: string): Promise<ThreadFigures> {
  rmSync(file, { force: true })
  process.kill(pid as number, 'SIGUSR2')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as ThreadFigures
  }
}
