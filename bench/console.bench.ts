// `npm run bench -- console [--rounds N] [--ms N]`: what it costs the gate that people look on. Two
// gates side by side, taking turns under the same load: nobody looks at one, three pages follow every
// call of the other. Throughput with them is to be within 3 % of that without.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { askGate } from '../src/cli/gate-socket.ts'
import { Load, takeTurns } from './gateway/measure.ts'
import { type Running, start } from './gateway/running.ts'
import { CALLER, startSluice } from './gateway/sluice.ts'

const VIEWERS = 3
const SHARE_MIN = 0.97
const PIN = '271828'
const COMMAND = join(import.meta.dirname, '..', 'bin', 'sluice.js')
const ECHO = join(import.meta.dirname, 'gateway', 'echo-server.ts')

export async function run(options: RunOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const running: Running[] = []
  const load = new Load()
  const looking = new AbortController()
  const begin = async (made: Promise<Running>): Promise<Running> => {
    running.push(await made)
    return made
  }
  try {
    const echo = await begin(start({ command: [process.execPath, ECHO] }))
    const gate = (name: string) =>
      begin(
        startSluice({ command: COMMAND, folder: join(folder, name), server: { url: echo.url } }),
      )
    const alone = await gate('alone')
    const watched = await gate('watched')
    const seen = await look(watched, join(folder, 'watched', 'data'), looking.signal)
    const side = (name: string, { url, pid }: Running) => ({
      ...{ name, url, pid, headers: CALLER, sessionsMax: 64 },
    })
    const figures = await takeTurns(load, [side('nobody', alone), side('three', watched)], {
      clients: [16],
      rounds: Number(options.rounds ?? 15),
      turnMs: Number(options.ms ?? 700),
      warmCalls: Number(options.warm ?? 20_000),
      onLeftOut: ({ name }, why) => console.error(`without ${name}: ${why}`),
    })
    const share = figures[1]?.ofFirst.p50 ?? Number.NaN
    for (const { name, callsPerSecond, cpuUs } of figures)
      console.log(
        `${name.padEnd(8)} ${callsPerSecond.p50.toFixed(0)} calls/s, ${cpuUs.p50.toFixed(1)} µs CPU a call`,
      )
    console.log(`with three pages: ${(share * 100).toFixed(1)} % of the throughput without`)
    console.log(`each page was told ${seen().ticks} times, of ${seen().calls} calls`)
    return share >= SHARE_MIN && seen().calls > 0 ? 0 : 1
  } finally {
    looking.abort()
    load.end()
    for (const one of running.reverse()) await one.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function look(
  gate: Running,
  data: string,
  signal: AbortSignal,
): Promise<() => { ticks: number; calls: number }> {
  const base = new URL(gate.url).origin
  await askGate(data, { do: 'first-pin', name: 'ada', pin: PIN, at: 'a bench' })
  const opened = await askGate(data, { do: 'console', proof: { name: 'ada', pin: PIN } })
  const code = new URLSearchParams(new URL(String(opened?.url)).hash.slice(1)).get('code')
  const signedIn = await fetch(`${base}/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const { token } = (await signedIn.json()) as { token: string }
  let [ticks, calls] = [0, 0]
  for (let at = 0; at < VIEWERS; at++) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${base}/api/live`, { headers, signal })
    if (response.body === null || !response.ok) throw new Error(`live answered ${response.status}`)
    void follow(response.body, (tick) => {
      if (at > 0) return
      ticks++
      calls += tick.counts.reduce((sum, [, , , n]) => sum + n, 0)
    }).catch(() => {})
  }
  return () => ({ ticks, calls })
}

async function follow(
  body: ReadableStream<Uint8Array>,
  onTick: (tick: { counts: [string, string, string, number][] }) => void,
): Promise<void> {
  let rest = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks)
      if (block.includes('event: tick')) onTick(JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ''))
  }
}
