// `npm run bench -- gateway [--scenario http|stdio|long|start] [--rounds N] [--ms N] [--warm N]
// [--calls N] [--peers] [--cache DIR] [--sources] [--profile DIR] [--protect balanced|strict] [--beside DIR]`: what
// a gate costs per call. The server alone, a forwarder that does nothing (the limit), one that reads nothing either
// (sockets), Sluice with everything on and, with --peers, other gateways; whether the last of many calls costs what the
// first did; how fast it starts; with --protect, a gate with it beside one without; with --beside, the gate
// of another checkout of this repository (installed there: `npm ci`) beside this one. On a busy machine: `chrt -r 4 npm run bench ...`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import {
  computeSpread,
  type Figures,
  Load,
  type Side,
  type Spread,
  takeTurns,
} from './gateway/measure.ts'
import { installPeers, startCivic, startMcpProxy, startSupergateway } from './gateway/peers.ts'
import { cpuUs, rssMb } from './gateway/process-figures.ts'
import { type RunningProcess, start } from './gateway/running.ts'
import {
  CALLER,
  install,
  installBeside,
  type SluiceOptions,
  startSluice,
} from './gateway/sluice.ts'

const CLIENTS = [1, 16, 64]
const BESIDE_ROUNDS_MIN = 9
/** A server on stdio is one process per session. */
const STDIO_SESSIONS = 8
const HERE = join(import.meta.dirname, 'gateway')
const ECHO = [process.execPath, join(HERE, 'echo-server.ts')]

interface Goal {
  readonly goal: string
  readonly value: number
  readonly isReached: boolean
}

export async function run(options: RunOptions): Promise<number> {
  const bench = new GatewayBench(options)
  try {
    await bench.run()
    return 0
  } finally {
    await bench.end()
  }
}

class GatewayBench {
  readonly #options: RunOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  readonly #load = new Load()
  readonly #running: RunningProcess[] = []
  readonly #goals: Goal[] = []
  readonly #measured: Record<string, unknown> = {}
  #command = ''
  #peers: string | undefined

  constructor(options: RunOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const { scenario, sources, peers, cache, json } = this.#options
    const { protect, beside } = this.#options
    const all = protect === undefined && beside === undefined
    const wanted = (name: string) => (scenario === undefined ? all : scenario === name)
    this.#command = await install(this.#folder, sources === true)
    if (peers !== undefined) {
      this.#peers = String(cache ?? join(tmpdir(), 'sluice-bench-peers'))
      const why = await installPeers(this.#peers)
      if (why !== undefined) {
        this.#say(`without other gateways: ${why}`)
        this.#peers = undefined
      }
    }
    if (typeof beside === 'string') await this.#beside(beside, protect)
    else if (typeof protect === 'string') await this.#protected(protect)
    if (wanted('http')) await this.#http()
    if (wanted('stdio')) await this.#stdio()
    if (wanted('long')) await this.#long()
    if (wanted('start')) await this.#starts()
    if (json) console.log(JSON.stringify({ measured: this.#measured, goals: this.#goals }))
    for (const { goal, value, isReached } of this.#goals)
      this.#say(`${isReached ? 'reached' : 'MISSED '}  ${goal}: ${value.toFixed(2)}`)
  }

  async end(): Promise<void> {
    this.#load.end()
    await Promise.all(this.#running.map((running) => running.stop()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #http(): Promise<void> {
    const echo = await this.#start(() => start({ command: ECHO }))
    const limit = await this.#start(() =>
      start({ command: [process.execPath, join(HERE, 'forwarder.ts'), echo.url] }),
    )
    const sockets = await this.#start(() =>
      start({ command: [process.execPath, join(HERE, 'sockets.ts'), echo.url] }),
    )
    const sluice = await this.#sluice('http', { url: echo.url })
    const sides: Side[] = [
      { name: 'direct', url: echo.url, sessionsMax: 64 },
      { name: 'limit', url: limit.url, pid: limit.pid, sessionsMax: 64 },
      { name: 'sluice', url: sluice.url, pid: sluice.pid, headers: CALLER, sessionsMax: 64 },
      { name: 'sockets', url: sockets.url, pid: sockets.pid, sessionsMax: 64 },
    ]
    await this.#peer(sides, '@civic/passthrough', 64, (cache) => startCivic(cache, echo.url))
    const figures = await this.#turns('http', sides)
    const of = (name: string, clients: number) =>
      figures.find((each) => each.name === name && each.clients === clients)
    for (const clients of [16, 64]) {
      const { ofSecond, cpuUs, cpuOver } = of('sluice', clients) ?? {}
      this.#goal(`at least 0.9 of the limit at ${clients}`, ofSecond?.p50, 0.9, true)
      this.#goal(`at most 100 µs of CPU a call at ${clients}`, cpuUs?.p50, 100)
      const share = 'of the limit (100 µs where that takes 74)'
      this.#goal(`at most 1.35 ${share} at ${clients}`, cpuOver?.p50, 1.35)
    }
    const added = (key: 'p50Us' | 'p99Us') =>
      ((of('sluice', 1)?.[key].p50 ?? Number.NaN) - (of('direct', 1)?.[key].p50 ?? 0)) / 1_000
    this.#goal('p50 at most 0.15 ms above direct at 1', added('p50Us'), 0.15)
    this.#goal('p99 at most 1 ms above direct at 1', added('p99Us'), 1)
    this.#goal('RSS at most 150 MB', of('sluice', 64)?.rssMb, 150)
  }

  async #stdio(): Promise<void> {
    const server = [...ECHO, '--stdio']
    const bridge = await this.#start(() =>
      start({ command: [process.execPath, join(HERE, 'bridge.ts'), ...server] }),
    )
    const sluice = await this.#sluice('stdio', { command: server })
    const common = { sessionsMax: STDIO_SESSIONS }
    const sides: Side[] = [
      { name: 'bridge', url: bridge.url, pid: bridge.pid, ...common },
      { name: 'sluice', url: sluice.url, pid: sluice.pid, headers: CALLER, ...common },
    ]
    await this.#peer(sides, 'mcp-proxy', STDIO_SESSIONS, (cache) => startMcpProxy(cache, server))
    await this.#peer(sides, 'supergateway', STDIO_SESSIONS, (cache) =>
      startSupergateway(cache, server),
    )
    await this.#turns('stdio', sides)
  }

  /** The same gate with and without `protect`, in turns. */
  async #protected(protect: string): Promise<void> {
    const echo = await this.#start(() => start({ command: ECHO }))
    const begin = async (name: string, more: { readonly protect?: string }) => {
      const { url, pid } = await this.#sluice(name, { url: echo.url }, undefined, more)
      return { name, url, pid, headers: CALLER, sessionsMax: 16 }
    }
    const sides = [await begin('none', {}), await begin(protect, { protect })]
    const figures = await this.#turns('protect', sides, [16])
    const { ofFirst } = figures.find(({ name }) => name === protect) ?? {}
    this.#goal(`with ${protect} at least 0.9 of none at 16`, ofFirst?.p50, 0.9, true)
  }

  /** The gate of another tree, this one and this one with `protect`, in turns: the CPU of a call over that of the other tree. */
  async #beside(tree: string, protect: RunOptions[string] | undefined): Promise<void> {
    const echo = await this.#start(() => start({ command: ECHO }))
    const other = await installBeside(tree, this.#folder)
    const begin = async (name: string, more: Partial<SluiceOptions> = {}): Promise<Side> => {
      const { url, pid } = await this.#sluice(name, { url: echo.url }, undefined, more)
      return { name, url, pid, headers: CALLER, sessionsMax: 16 }
    }
    const sides = [await begin('beside', { command: other }), await begin('this')]
    if (typeof protect === 'string') sides.push(await begin(protect, { protect }))
    const rounds = Math.max(BESIDE_ROUNDS_MIN, Number(this.#options.rounds ?? 0))
    const figures = await this.#turns('beside', sides, [16], rounds)
    for (const { name, cpuOver, rssMb } of figures.slice(1)) {
      const bound = name === 'this' ? 1.05 : 1.15
      const spread = `${cpuOver.p10.toFixed(2)} to ${cpuOver.p90.toFixed(2)}`
      this.#goal(`${name}: at most ${bound} of the CPU of ${tree} (${spread})`, cpuOver.p50, bound)
      this.#goal(`${name}: RSS at most 150 MB`, rssMb, 150)
    }
  }

  /** The last call of many compared with the first ones. */
  async #long(): Promise<void> {
    const calls = Number(this.#options.calls ?? 50_000)
    const slices = 10
    const echo = await this.#start(() => start({ command: ECHO }))
    const server = { url: echo.url }
    const sluice = await this.#sluice('long', server)
    const side = {
      name: 'sluice',
      url: sluice.url,
      pid: sluice.pid,
      headers: CALLER,
      sessionsMax: 16,
    }
    await this.#load.turn(side, 16, { forMs: 2_000 })
    const spent: number[] = []
    for (let slice = 0; slice < slices; slice++)
      spent.push((await this.#load.turn(side, 16, { calls: Math.ceil(calls / slices) })).cpuUs)
    const memory = rssMb(sluice.pid)
    await sluice.stop()
    const again = await this.#sluice('long', server)
    this.#measured.long = { calls, cpuUs: spent, rssMb: memory, startMs: again.startMs }
    this.#say(`\n${calls.toLocaleString('en')} calls, CPU a call in tenths of them, µs:`)
    this.#say(`${spent.map((us) => us.toFixed(0)).join(' ')}; RSS then ${memory.toFixed(0)} MB`)
    this.#say(`a start on their record: ${again.startMs.toFixed(0)} ms`)
    this.#goal('the last tenth costs what the first did', spent.at(-1)! / spent[0]!, 1.1)
  }

  async #starts(): Promise<void> {
    const server = { url: 'http://127.0.0.1:9/mcp' }
    const seen: { rules: number; startMs: Spread; cpuMs: Spread }[] = []
    for (const rules of [10, 1_000]) {
      const times: number[] = []
      const used: number[] = []
      for (let index = 0; index < 10; index++) {
        const sluice = await this.#sluice(`start-${rules}-${index}`, server, rules)
        times.push(sluice.startMs)
        used.push(cpuUs(sluice.pid) / 1_000)
        await sluice.stop()
      }
      seen.push({ rules, startMs: computeSpread(times), cpuMs: computeSpread(used) })
    }
    this.#measured.start = seen
    for (const { rules, startMs, cpuMs } of seen)
      this.#say(
        `a cold start with ${rules} rules: ${formatSpread(startMs, 0)} ms, CPU ${formatSpread(cpuMs, 0)} ms`,
      )
    this.#goal('a cold start below 500 ms', seen[0]?.startMs.p50, 500)
  }

  async #turns(
    name: string,
    sides: Side[],
    clients = CLIENTS,
    rounds = Number(this.#options.rounds ?? 7),
  ): Promise<Figures[]> {
    const figures = await takeTurns(this.#load, sides, {
      clients,
      rounds,
      turnMs: Number(this.#options.ms ?? 700),
      warmCalls: Number(this.#options.warm ?? 20_000),
      onLeftOut: (side, why) => this.#say(`without ${side.name}: ${why}`),
    })
    this.#measured[name] = figures
    const [first, second] = sides
    this.#say(
      `\n${name}: median (10th to 90th percentile of turns); x${first?.name}, x${second?.name}: throughput over theirs`,
    )
    const heads = ['', 'calls/s', `x${first?.name}`, `x${second?.name}`, 'p50 ms', 'p99 ms']
    const rows = figures.map((each) => [
      `${each.name} x${each.clients}`,
      formatSpread(each.callsPerSecond, 0),
      formatSpread(each.ofFirst, 2),
      formatSpread(each.ofSecond, 2),
      formatSpread(each.p50Us, 2, 1_000),
      formatSpread(each.p99Us, 2, 1_000),
      formatSpread(each.cpuUs, 0),
      formatSpread(each.cpuOver, 2),
      each.rssMb.toFixed(0),
    ])
    this.#say(columns([[...heads, 'CPU µs a call', 'xCPU', 'RSS MB'], ...rows]))
    return figures
  }

  async #peer(
    sides: Side[],
    name: string,
    sessionsMax: number,
    begin: (cache: string) => Promise<RunningProcess>,
  ): Promise<void> {
    const cache = this.#peers
    if (cache === undefined) return
    try {
      const { url, pid } = await this.#start(() => begin(cache))
      sides.push({ name, url, pid, sessionsMax })
    } catch (error) {
      this.#say(`without ${name}: ${(error as Error).message}`)
    }
  }

  #sluice(
    name: string,
    server: SluiceOptions['server'],
    rules?: number,
    own: Partial<SluiceOptions> = {},
  ): Promise<RunningProcess> {
    const { profile } = this.#options
    const folder = join(this.#folder, name)
    const more = {
      ...(typeof profile === 'string' ? { profile: join(profile, name) } : {}),
      ...(rules === undefined ? {} : { rules }),
      ...own,
    }
    return this.#start(() => startSluice({ command: this.#command, folder, server, ...more }))
  }

  async #start(begin: () => Promise<RunningProcess>): Promise<RunningProcess> {
    const running = await begin()
    this.#running.push(running)
    return running
  }

  #goal(goal: string, value = Number.NaN, bound: number, isFloor = false): void {
    this.#goals.push({ goal, value, isReached: isFloor ? value >= bound : value <= bound })
  }

  #say(text: string): void {
    if (!this.#options.json) console.log(text)
  }
}

function formatSpread({ p50, p10, p90 }: Spread, digits: number, unit = 1): string {
  if (Number.isNaN(p50)) return '-'
  const [middle, low, high] = [p50, p10, p90].map((value) => (value / unit).toFixed(digits))
  return `${middle} (${low} to ${high})`
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
