// `npm run bench -- memory [--sessions N] [--calls N] [--rounds N] [--sources] [--beside DIR]`: resident memory of a gate
// that has just started, after its sessions are open, and after many calls (two records each). With --beside, the gate of
// another checkout (installed there: `npm ci`) in turn with this one; the median of the rounds.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { Load } from './gateway/measure.ts'
import { rssMb } from './gateway/process-figures.ts'
import { start } from './gateway/running.ts'
import { CALLER, install, installBeside, startSluice } from './gateway/sluice.ts'

const ECHO = [process.execPath, join(import.meta.dirname, 'gateway', 'echo-server.ts')]
const CLIENTS = 16
/** Between the last call and the reading: what nobody uses any more is given back. */
const REST_MS = 3_000

interface Size {
  readonly sessions: number
  readonly calls: number
}

/** Megabytes. */
interface Memory {
  readonly started: number
  readonly open: number
  readonly called: number
}

export async function run(options: RunOptions): Promise<void> {
  const { sessions = 400, calls = 50_000, rounds = 3, sources, beside } = options
  const size = { sessions: Number(sessions), calls: Number(calls) }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-memory-'))
  try {
    const commands = new Map<string, string>()
    if (typeof beside === 'string') commands.set('beside', await installBeside(beside, folder))
    commands.set('this', await install(folder, sources === true))
    const seen = new Map<string, Memory[]>([...commands.keys()].map((name) => [name, []]))
    for (let round = 0; round < Number(rounds); round++)
      for (const [name, command] of commands) {
        const memory = await measure(command, join(folder, `${name}-${round}`), size)
        console.log(name, format(memory))
        seen.get(name)?.push(memory)
      }
    for (const [name, all] of seen) console.log(`median of ${name}: ${format(medianOf(all))}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(command: string, folder: string, size: Size): Promise<Memory> {
  const { sessions, calls } = size
  const echo = await start({ command: ECHO })
  const load = new Load()
  const server = { url: echo.url }
  const gate = await startSluice({ command, folder, server, slots: sessions })
  try {
    const { url, pid } = gate
    const side = { name: 'sluice', url, pid, headers: CALLER, sessionsMax: sessions }
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, REST_MS))
      return rssMb(pid)
    }
    const started = await read()
    await load.turn(side, sessions, { calls: sessions })
    const open = await read()
    await load.turn(side, CLIENTS, { calls })
    return { started, open, called: await read() }
  } finally {
    load.end()
    await gate.stop()
    await echo.stop()
  }
}

function medianOf(all: readonly Memory[]): Memory {
  const middle = (key: keyof Memory): number =>
    all.map((one) => one[key]).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN
  return { started: middle('started'), open: middle('open'), called: middle('called') }
}

function format({ started, open, called }: Memory): string {
  const [a, b, c] = [started, open, called].map((mb) => `${mb.toFixed(0)} MB`)
  return `started ${a}, sessions open ${b}, after the calls ${c}`
}
