// `npm run bench -- cluster [--rounds N] [--ms N] [--sources] [--admission] [--agents N] [--follow N]
// [--protect WORD] [--beside DIR]`: what a shared store
// costs. The same gate on SQLite and on PostgreSQL, in alternating turns at 1 and 64 clients; four gates on one
// PostgreSQL with 64 clients in all; beside that the fsync of the disk and a commit of the database, which bound
// all of them. Only admission with --admission, only N agents at rest with --agents, only the copy of N calls for
// the console with --follow, only one gate beside that of another tree with --beside. --protect is a line of the policy.

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parsePostgresUrl } from '../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../packages/ledger/src/store/postgres/connections.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { findPostgres, type RunningPostgres, startPostgres } from '../test/support/postgres.ts'
import { compareAdmission } from './cluster/admission.ts'
import { compareAgents } from './cluster/agents.ts'
import { compareBeside } from './cluster/beside.ts'
import { measureFollowing } from './cluster/follow.ts'
import { measureNextTurn } from './cluster/next-turn.ts'
import { computeSpread, Load, type Side } from './gateway/measure.ts'
import { cpuUs } from './gateway/process-figures.ts'
import { type RunningProcess, start } from './gateway/running.ts'
import { CALLER, install, startSluice } from './gateway/sluice.ts'

const ECHO = [process.execPath, join(import.meta.dirname, 'gateway', 'echo-server.ts')]
const KEY = 'a key of the cluster, of the benchmark only'
/** As in the benchmark of the gateway, without limits for a session. */
const POLICY = `version: 1
default: deny
tools:
  echo/echo: { action: allow, rate_limit: { max: 1000000, window: 60, per: principal } }
guardrails:
  - { name: all calls, rate_limit: { max: 1000000, window: 60, per: everyone } }
`
const GATES = 4
const CLIENTS = 64

export async function run(options: RunOptions): Promise<number> {
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-cluster-'))
  const loads = Array.from({ length: GATES }, () => new Load())
  const running: RunningProcess[] = []
  const server = await startPostgres(postgres, { isDurable: true })
  const measureRest = async (bench?: ClusterBench) => {
    // Of its own: the gates have changed the shared state of theirs.
    await server.createDatabase('admission')
    await compareAdmission(
      server.url('admission'),
      Number(options.rounds ?? 5),
      Number(options.ms ?? 1_500),
    )
    const commit = await measureCommit(server.url())
    const fsyncUs = measureFsync(join(folder, 'fsync'))
    const toMs = (us: number) => (us / 1_000).toFixed(2)
    console.log(
      `a commit of the database alone: p50 ${toMs(commit.p50)} ms  p99 ${toMs(commit.p99)} ms`,
    )
    const one = bench?.oneClient
    if (one !== undefined)
      console.log(
        `added by the gate at one client: p50 ${toMs(one.p50 - commit.p50)} ms  p99 ${toMs(one.p99 - commit.p99)} ms`,
      )
    console.log(`fdatasync of 8 KiB on this disk: p50 ${(fsyncUs / 1_000).toFixed(2)} ms`)
  }
  try {
    if (options.agents !== undefined) {
      await compareAgents(folder, server.url(), Number(options.agents))
      return 0
    }
    if (options.follow !== undefined) {
      await measureFollowing(folder, server.url(), Number(options.follow))
      return 0
    }
    if (options.admission === true) {
      await measureRest()
      return 0
    }
    const command = await install(folder, options.sources === true)
    const policy = options.protect === undefined ? POLICY : `${POLICY}protect: ${options.protect}\n`
    if (typeof options.beside === 'string') {
      await compareBeside({
        folder,
        command,
        tree: options.beside,
        policy,
        echo: ECHO,
        key: KEY,
        server,
        rounds: Number(options.rounds ?? 15),
        turnMs: Number(options.ms ?? 1_500),
      })
      return 0
    }
    const echo = await start({ command: ECHO })
    running.push(echo)
    const open = async (name: string, config?: Record<string, unknown>) => {
      const gate = await startSluice({
        command,
        folder: join(folder, name),
        server: { url: echo.url },
        policy,
        ...(config === undefined ? {} : { config }),
      })
      running.push(gate)
      const side = { name, url: gate.url, pid: gate.pid, headers: CALLER, sessionsMax: 64 }
      return side satisfies Side
    }
    const sqlite = await open('sqlite')
    const shared = []
    for (let at = 1; at <= GATES; at++) {
      const cluster = { name: `gate-${at}`, key: KEY }
      shared.push(await open(`postgres-${at}`, { store: server.url(), cluster }))
    }
    const bench = new ClusterBench(loads, sqlite, { shared, server, options })
    await bench.run()
    await measureRest(bench)
    await server.createDatabase('agents')
    await measureNextTurn(server.url('agents'))
    return 0
  } finally {
    for (const load of loads) load.end()
    for (const each of running.reverse()) await each.stop()
    await server.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface DatabaseFigures {
  readonly cpuUs: number
  readonly commits: number
  readonly bytes: number
}

type GateSide = Side & { readonly pid: number }

interface BenchSetting {
  readonly shared: readonly GateSide[]
  readonly server: RunningPostgres
  readonly options: RunOptions
}

class ClusterBench {
  readonly #loads: readonly Load[]
  readonly #sqlite: GateSide
  readonly #shared: readonly GateSide[]
  readonly #server: RunningPostgres
  readonly #rounds: number
  readonly #forMs: number
  readonly #json: boolean
  /** Latency of one gate on PostgreSQL at one client, µs. */
  oneClient: { readonly p50: number; readonly p99: number } | undefined

  constructor(loads: readonly Load[], sqlite: GateSide, { shared, server, options }: BenchSetting) {
    this.#loads = loads
    this.#sqlite = sqlite
    this.#shared = shared
    this.#server = server
    this.#rounds = Number(options.rounds ?? 5)
    this.#forMs = Number(options.ms ?? 1_500)
    this.#json = options.json === true
  }

  async run(): Promise<void> {
    const [load] = this.#loads as [Load]
    const [one] = this.#shared as [GateSide]
    for (const side of [this.#sqlite, ...this.#shared]) await load.turn(side, 16, { calls: 1_000 })
    const seen = new Map<string, { rate: number; p50: number; p99: number; cpu: number }[]>()
    const keep = (name: string, figure: { rate: number; p50: number; p99: number; cpu: number }) =>
      seen.set(name, [...(seen.get(name) ?? []), figure])
    const database: DatabaseFigures[] = []
    for (let round = 0; round < this.#rounds; round++) {
      for (const clients of [1, CLIENTS])
        for (const [name, side] of [
          ['one gate, SQLite', this.#sqlite],
          ['one gate, PostgreSQL', one],
        ] as const) {
          const before = await this.#readDatabase()
          const { cpuUs: cpu, turned } = await load.turn(side, clients, { forMs: this.#forMs })
          const { calls, seconds, p50Us: p50, p99Us: p99 } = turned
          keep(`${name}, ${clients}`, { rate: calls / seconds, p50, p99, cpu })
          if (side !== one || clients === 1) continue
          const after = await this.#readDatabase()
          database.push({
            cpuUs: (after.cpuUs - before.cpuUs) / calls,
            commits: (after.commits - before.commits) / calls,
            bytes: (after.bytes - before.bytes) / calls,
          })
        }
      const turns = await Promise.all(
        this.#shared.map((side, at) =>
          this.#loads[at]!.turn(side, CLIENTS / GATES, { forMs: this.#forMs }),
        ),
      )
      const rate = turns.reduce((sum, { turned }) => sum + turned.calls / turned.seconds, 0)
      const [p50, p99, cpu] = [
        turns.map(({ turned }) => turned.p50Us),
        turns.map(({ turned }) => turned.p99Us),
        turns.map((turn) => turn.cpuUs),
      ].map((values) => values.reduce((sum, value) => sum + value, 0) / GATES)
      keep(`${GATES} gates, PostgreSQL, ${CLIENTS}`, { rate, p50: p50!, p99: p99!, cpu: cpu! })
    }
    const rows = [...seen].map(([name, figures]) => ({
      name,
      callsPerSecond: computeSpread(figures.map(({ rate }) => rate)),
      p50Us: computeSpread(figures.map(({ p50 }) => p50)).p50,
      p99Us: computeSpread(figures.map(({ p99 }) => p99)).p50,
      cpuUs: computeSpread(figures.map(({ cpu }) => cpu)).p50,
    }))
    const find = (name: string) => rows.find((row) => row.name === name)
    const rateOf = (name: string) => find(name)?.callsPerSecond.p50 ?? Number.NaN
    const alone = find('one gate, PostgreSQL, 1')
    if (alone !== undefined) this.oneClient = { p50: alone.p50Us, p99: alone.p99Us }
    const middle = (of: (figures: DatabaseFigures) => number) => computeSpread(database.map(of)).p50
    const databaseUs = middle((figures) => figures.cpuUs)
    const commits = middle((figures) => figures.commits)
    const bytes = middle((figures) => figures.bytes)
    if (this.#json) console.log(JSON.stringify({ rows, databaseUs, commits, bytes }))
    for (const { callsPerSecond, cpuUs: cpu, name, p50Us, p99Us } of rows)
      console.log(
        `${name.padEnd(28)} ${callsPerSecond.p50.toFixed(0).padStart(6)} calls/s  p50 ${(p50Us / 1_000).toFixed(2)} ms  p99 ${(p99Us / 1_000).toFixed(2)} ms  ${cpu.toFixed(0)} µs of CPU in the gate`,
      )
    const shared = rateOf(`one gate, PostgreSQL, ${CLIENTS}`)
    const toSqlite = shared / rateOf(`one gate, SQLite, ${CLIENTS}`)
    const toOne = rateOf(`${GATES} gates, PostgreSQL, ${CLIENTS}`) / shared
    console.log(
      `S11: one gate on PostgreSQL ${toSqlite.toFixed(2)} of SQLite (0.5 wanted), ${GATES} gates ${toOne.toFixed(2)} of one (1 wanted)`,
    )
    console.log(
      `database: ${databaseUs.toFixed(0)} µs of CPU, ${commits.toFixed(3)} commits and ${bytes.toFixed(0)} bytes of write-ahead log a call at ${CLIENTS} clients`,
    )
  }

  /** Of all processes of PostgreSQL: what it has used, committed and logged so far. */
  async #readDatabase(): Promise<DatabaseFigures> {
    const connections = new PostgresConnections(parsePostgresUrl(this.#server.url()))
    const [row] = await connections.query(`SELECT pg_current_wal_lsn() - '0/0' AS bytes,
      (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) AS commits`)
    await connections.close()
    const used = this.#server.pids().reduce((sum, pid) => sum + (cpuUs(pid) || 0), 0)
    return { cpuUs: used, commits: Number(row?.commits), bytes: Number(row?.bytes) }
  }
}

function measureFsync(file: string): number {
  const handle = openSync(file, 'w')
  const block = Buffer.alloc(8_192, 7)
  const times: number[] = []
  for (let turn = 0; turn < 100; turn++) {
    const began = performance.now()
    writeSync(handle, block)
    fdatasyncSync(handle)
    times.push((performance.now() - began) * 1_000)
  }
  closeSync(handle)
  return computeSpread(times).p50
}

async function measureCommit(url: string): Promise<{ p50: number; p99: number }> {
  const connections = new PostgresConnections(parsePostgresUrl(url))
  await connections.query('CREATE TABLE IF NOT EXISTS bench (n int)')
  const times: number[] = []
  for (let turn = 0; turn < 500; turn++) {
    const began = performance.now()
    await connections.query('INSERT INTO bench VALUES ($1)', [turn])
    times.push((performance.now() - began) * 1_000)
  }
  await connections.close()
  times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.floor(times.length * share)] as number
  return { p50: at(0.5), p99: at(0.99) }
}
