// Three gates side by side, alternating under the same load: two without viewers, which shows the
// difference between equal gates on this machine, and one with three pages that follow every call.
// The cost of the pages themselves is counted separately: it is not the gate's. Called by
// console.bench.ts.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { computeSpread, Load, type Side } from '../gateway/measure.ts'
import { type RunningProcess, start } from '../gateway/running.ts'
import { CALLER, startSluice } from '../gateway/sluice.ts'
import { firstPerson, tokenOf } from './sign-in.ts'
import type { ViewerFigures, Watch } from './viewers.ts'

const VIEWERS = 3
const CLIENTS = 16
const SHARE_MIN = 0.97
const WARM_MS_MAX = 20_000
const ROOT = join(import.meta.dirname, '..', '..')
const COMMAND = join(ROOT, 'packages/sluice/bin/sluice.js')
const ECHO = join(import.meta.dirname, '..', 'gateway', 'echo-server.ts')
const NAMES = ['nobody', 'nobody, again', 'three'] as const

export interface BesideOptions {
  readonly folder: string
  readonly rounds: number
  readonly turnMs: number
  readonly warmCalls: number
}

export async function measureSideBySide(options: BesideOptions): Promise<boolean> {
  const { folder, rounds, turnMs, warmCalls } = options
  const running: RunningProcess[] = []
  const load = new Load()
  const viewers = fork(join(import.meta.dirname, 'viewers.ts'), { stdio: 'inherit' })
  try {
    const echo = await start({ command: [process.execPath, ECHO] })
    running.push(echo)
    for (const [at] of NAMES.entries())
      running.push(
        await startSluice({
          command: COMMAND,
          folder: join(folder, String(at)),
          server: { url: echo.url },
        }),
      )
    const sides = NAMES.map((name, at): Side => {
      const { url, pid } = running[at + 1] as RunningProcess
      return { name, url, pid, headers: CALLER, sessionsMax: 64 }
    })
    const watched = sides[2] as Side
    const data = join(folder, '2', 'data')
    await firstPerson(data)
    const { origin } = new URL(watched.url)
    const watch: Watch = { url: origin, token: await tokenOf(data), viewers: VIEWERS }
    viewers.send(watch)
    const made = sides.map(() => 0)
    const turn = async (at: number, until: Parameters<Load['turn']>[2]) => {
      const { turned, cpuUs } = await load.turn(sides[at] as Side, CLIENTS, until)
      made[at] = (made[at] ?? 0) + turned.calls
      return { rate: turned.calls / turned.seconds, cpuUs, seconds: turned.seconds }
    }
    for (const at of sides.keys()) await turn(at, { calls: warmCalls, forMs: WARM_MS_MAX })
    const taken: Awaited<ReturnType<typeof turn>>[][] = []
    let watchedSeconds = 0
    let viewersCpuUs = 0
    for (let round = 0; round < rounds; round++) {
      const row: (typeof taken)[number] = []
      for (let step = 0; step < sides.length; step++) {
        const at = (step + round) % sides.length
        const before = at === 2 ? await requestFigures(viewers) : undefined
        row[at] = await turn(at, { forMs: turnMs })
        if (before === undefined) continue
        viewersCpuUs += (await requestFigures(viewers)).cpuUs - before.cpuUs
        watchedSeconds += row[at].seconds
      }
      taken.push(row)
    }
    return report(
      { taken, figures: await waitForLastTick(viewers, made[2] ?? 0), made: made[2] ?? 0 },
      [viewersCpuUs / 1e6 / watchedSeconds],
    )
  } finally {
    load.end()
    viewers.kill()
    for (const one of running.reverse()) await one.stop()
  }
}

interface Taken {
  readonly taken: readonly (readonly { rate: number; cpuUs: number }[])[]
  readonly figures: ViewerFigures
  readonly made: number
}

function report({ taken, figures, made }: Taken, [viewersShare = 0]: readonly number[]): boolean {
  for (const [at, name] of NAMES.entries()) {
    const rate = computeSpread(taken.map((row) => row[at]?.rate ?? Number.NaN)).p50
    const cpu = computeSpread(taken.map((row) => row[at]?.cpuUs ?? Number.NaN)).p50
    console.log(
      `${name.padEnd(14)} ${rate.toFixed(0)} calls/s, ${cpu.toFixed(1)} µs CPU of the gate a call`,
    )
  }
  // Compared with the mean of the two without viewers, in the same round.
  const over = (of: 'rate' | 'cpuUs', at: number) =>
    computeSpread(
      taken.map((row) => {
        const alone = [row[0], row[1]].map((one) => one?.[of] ?? Number.NaN) as [number, number]
        return at === 2
          ? ((row[2]?.[of] ?? Number.NaN) * 2) / (alone[0] + alone[1])
          : alone[1] / alone[0]
      }),
    )
  const formatSpread = ({ p50, p10, p90 }: ReturnType<typeof over>) =>
    `${(p50 * 100).toFixed(1)} % (rounds ${(p10 * 100).toFixed(1)} to ${(p90 * 100).toFixed(1)})`
  const share = over('rate', 2)
  const equal = over('rate', 1)
  console.log(
    `two equal gates:  throughput ${formatSpread(equal)}, CPU ${formatSpread(over('cpuUs', 1))}`,
  )
  console.log(
    `with three pages: throughput ${formatSpread(share)}, CPU ${formatSpread(over('cpuUs', 2))}`,
  )
  if (Math.abs(1 - equal.p50) > 1 - SHARE_MIN)
    console.log('two equal gates lie further apart than 3 %: this machine cannot tell now')
  console.log(
    `the three pages themselves took ${(viewersShare * 100).toFixed(2)} % of a core (${figures.bytes.toLocaleString('en')} bytes)`,
  )
  console.log(
    `each was told ${figures.calls.toLocaleString('en')} of ${made.toLocaleString('en')} calls, in ${figures.ticks} ticks with ${figures.rows} rows`,
  )
  return share.p50 >= SHARE_MIN && figures.calls === made
}

/** The last tick comes after the last call. */
async function waitForLastTick(viewers: ChildProcess, made: number): Promise<ViewerFigures> {
  for (let tried = 0; ; tried++) {
    const figures = await requestFigures(viewers)
    if (figures.calls === made || tried > 20) return figures
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function requestFigures(viewers: ChildProcess): Promise<ViewerFigures> {
  return new Promise((resolve, reject) => {
    viewers.once('message', (message: ViewerFigures | { wrong: string }) =>
      'wrong' in message ? reject(new Error(message.wrong)) : resolve(message),
    )
    viewers.send('figures')
  })
}
