// The gate's own thread while the console asks about millions of calls: its longest pause with questions
// and without, in turn, under a light load. All reading is done in another thread, so the two are to be
// alike; the goal is 50 ms. Called by queries.ts.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerPage } from '../../packages/console/src/contract/contract.ts'
import { Load, type Side } from '../gateway/measure.ts'
import { start } from '../gateway/running.ts'
import { CALLER, startSluice } from '../gateway/sluice.ts'
import { firstPerson, tokenOf } from './sign-in.ts'
import type { ThreadFigures } from './thread-probe.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const COMMAND = join(ROOT, 'packages/cli/bin/sluice.js')
const ECHO = join(import.meta.dirname, '..', 'gateway', 'echo-server.ts')
const PROBE = join(import.meta.dirname, 'thread-probe.ts')
const LOAD = { forMs: 8_000, perSecond: 50 } as const
const ROUNDS = 2
const MONTH_MS = 30 * 86_400_000

interface Asked {
  /** Of half of all calls. */
  readonly principal: string
  /** Of one call. */
  readonly text: string
}

export async function measureGateThread(folder: string, asked: Asked): Promise<void> {
  const file = join(folder, 'probe.json')
  process.env.BENCH_PROBE_FILE = file
  const load = new Load()
  const echo = await start({ command: [process.execPath, ECHO] })
  try {
    const server = { url: echo.url }
    const gate = await startSluice({ command: COMMAND, folder, server, preload: PROBE })
    try {
      const { url, pid } = gate
      const side: Side = { name: 'sluice', url, pid, headers: CALLER, sessionsMax: 8 }
      const data = join(folder, 'data')
      await firstPerson(data)
      const ask = createAsk(new URL(url).origin, await tokenOf(data))
      const first = performance.now()
      await ask('/ledger/names?of=principal')
      console.log(
        `the first question, with the check of the index: ${((performance.now() - first) / 1_000).toFixed(1)} s`,
      )
      await load.turn(side, 8, { forMs: 2_000, perSecond: 50 })
      for (let round = 0; round < ROUNDS; round++)
        for (const isAsking of [false, true]) {
          await readProbe(pid, file)
          const end = new AbortController()
          const asking = isAsking ? askAll(ask, asked, end.signal) : Promise.resolve(0)
          const loaded = load.turn(side, 8, LOAD).finally(() => end.abort())
          const [answers] = await Promise.all([asking, loaded])
          const { longestMs, p99Ms, longestCpuMs } = await readProbe(pid, file)
          console.log(
            `${(isAsking ? `${answers} questions answered` : 'no questions').padEnd(48)} the gate's thread paused for ${longestMs.toFixed(0)} ms at most (p99 ${p99Ms.toFixed(1)}), ${longestCpuMs.toFixed(1)} ms of CPU at once`,
          )
        }
    } finally {
      await gate.stop()
    }
  } finally {
    load.end()
    await echo.stop()
  }
}

type Ask = (path: string) => Promise<unknown>

function createAsk(origin: string, token: string): Ask {
  const headers = { authorization: `Bearer ${token}` }
  return async (path) => {
    const answer = await fetch(`${origin}/api${path}`, { headers })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
}

/** Three pages, each asking again and again; how many answers they got. */
async function askAll(ask: Ask, asked: Asked, end: AbortSignal): Promise<number> {
  let answers = 0
  const repeat = async (work: () => Promise<unknown>) => {
    for (; !end.aborted; answers++) await work()
  }
  await Promise.all([
    repeat(() => ask(`/ledger/histogram?principal=${asked.principal}`)),
    repeat(async () => {
      for (let before: number | null | undefined; before !== null && !end.aborted; ) {
        const from = before === undefined ? '' : `&before=${before}`
        before = ((await ask(`/ledger?text=${asked.text}${from}`)) as LedgerPage).next
      }
    }),
    repeat(() => ask(`/overview?lengthMs=${MONTH_MS}`)),
  ])
  return answers
}

async function readProbe(pid: number, file: string): Promise<ThreadFigures> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as ThreadFigures
  }
}
