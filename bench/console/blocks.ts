// One gate under a steady load, with three pages that follow every call in the middle two of four short
// blocks: two gates of the same build differ by more than the pages cost. What is left of the machine's
// noise shows in the ratio of the two blocks without pages. The cost of the pages themselves is not the
// gate's, and not counted. Called by console.bench.ts.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { computeSpread, Load, type Side, type Spread } from '../gateway/measure.ts'
import { type RunningProcess, start } from '../gateway/running.ts'
import { CALLER, startSluice } from '../gateway/sluice.ts'
import { firstPerson, tokenOf } from './sign-in.ts'
import type { ViewerFigures, Watch } from './viewers.ts'

const VIEWERS = 3
const CLIENTS = 16
const MORE_MAX = 1.03
const WARM_MS_MAX = 20_000
const ROOT = join(import.meta.dirname, '..', '..')
const COMMAND = join(ROOT, 'packages/sluice/bin/sluice.js')
const ECHO = join(import.meta.dirname, '..', 'gateway', 'echo-server.ts')

export interface BlockOptions {
  readonly folder: string
  readonly rounds: number
  readonly turnMs: number
  readonly warmCalls: number
}

interface Block {
  readonly calls: number
  readonly seconds: number
  readonly cpuUs: number
  readonly p99Us: number
}

/** Without, with, with, without: what drifts meets both alike. */
type Round = readonly [Block, Block, Block, Block]

export async function measureViewers(options: BlockOptions): Promise<boolean> {
  const { folder, rounds, turnMs, warmCalls } = options
  const running: RunningProcess[] = []
  const load = new Load()
  const viewers = fork(join(import.meta.dirname, 'viewers.ts'), { stdio: 'inherit' })
  try {
    const echo = await start({ command: [process.execPath, ECHO] })
    running.push(echo)
    const gate = await startSluice({ command: COMMAND, folder, server: { url: echo.url } })
    running.push(gate)
    const { url, pid } = gate
    const side: Side = { name: 'sluice', url, pid, headers: CALLER, sessionsMax: 64 }
    const data = join(folder, 'data')
    await firstPerson(data)
    const token = await tokenOf(data)
    const watch: Watch = { url: new URL(url).origin, token, viewers: VIEWERS }
    const block = async (until = { forMs: turnMs } as Parameters<Load['turn']>[2]) => {
      const { turned, cpuUs } = await load.turn(side, CLIENTS, until)
      const { calls, seconds, p99Us } = turned
      return { calls, seconds, cpuUs: cpuUs * calls, p99Us }
    }
    await block({ calls: warmCalls, forMs: WARM_MS_MAX })
    const taken: Round[] = []
    let made = 0
    for (let round = 0; round < rounds; round++) {
      const first = await block()
      await request(viewers, watch)
      const watched = [await block(), await block()] as const
      made += watched[0].calls + watched[1].calls
      await waitForLastTick(viewers, made)
      await request(viewers, 'close')
      taken.push([first, ...watched, await block()])
    }
    return report(taken, await request(viewers, 'figures'), made)
  } finally {
    load.end()
    viewers.kill()
    for (const one of running.reverse()) await one.stop()
  }
}

function report(taken: readonly Round[], seen: ViewerFigures, made: number): boolean {
  const sum = (blocks: readonly Block[], field: keyof Block) =>
    blocks.reduce((all, one) => all + one[field], 0)
  const cpuOf = (blocks: readonly Block[]) => sum(blocks, 'cpuUs') / sum(blocks, 'calls')
  const rateOf = (blocks: readonly Block[]) => sum(blocks, 'calls') / sum(blocks, 'seconds')
  const p99Of = (blocks: readonly Block[]) => computeSpread(blocks.map(({ p99Us }) => p99Us)).p50
  const without = taken.flatMap(([first, , , last]) => [first, last])
  const withPages = taken.flatMap(([, one, other]) => [one, other])
  for (const [name, blocks] of [
    ['without pages', without],
    ['with three', withPages],
  ] as const)
    console.log(
      `${name.padEnd(14)} ${rateOf(blocks).toFixed(0)} calls/s, ${cpuOf(blocks).toFixed(1)} µs CPU of the gate a call, p99 ${(p99Of(blocks) / 1_000).toFixed(1)} ms`,
    )
  const ratio = (of: (blocks: readonly Block[]) => number) =>
    computeSpread(taken.map(([a, b, c, d]) => of([b, c]) / of([a, d])))
  const noise = computeSpread(taken.map(([first, , , last]) => cpuOf([last]) / cpuOf([first])))
  const cpu = ratio(cpuOf)
  console.log(`the last block without pages by the first: CPU ${write(noise)}`)
  console.log(
    `with three pages: CPU ${write(cpu)}, throughput ${write(ratio(rateOf))}, p99 ${write(ratio(p99Of))}`,
  )
  if (Math.abs(1 - noise.p50) > MORE_MAX - 1)
    console.log('blocks without pages are further apart than 3 %: measure on a quieter machine')
  console.log(
    `each page was told ${seen.calls.toLocaleString('en')} of ${made.toLocaleString('en')} calls, in ${seen.ticks} ticks with ${seen.rows} rows; all three received ${seen.bytes.toLocaleString('en')} bytes`,
  )
  return cpu.p50 <= MORE_MAX && seen.calls === made
}

function write({ p50, p10, p90 }: Spread): string {
  const percent = (share: number) => (share * 100).toFixed(1)
  return `${percent(p50)} % (rounds ${percent(p10)} to ${percent(p90)})`
}

/** The last tick comes after the last call. */
async function waitForLastTick(viewers: ChildProcess, made: number): Promise<void> {
  for (let tried = 0; tried < 30; tried++) {
    if ((await request(viewers, 'figures')).calls === made) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function request(
  viewers: ChildProcess,
  asked: Watch | 'figures' | 'close',
): Promise<ViewerFigures> {
  return new Promise((resolve, reject) => {
    viewers.once('message', (message: ViewerFigures | { wrong: string }) =>
      'wrong' in message ? reject(new Error(message.wrong)) : resolve(message),
    )
    viewers.send(asked)
  })
}
