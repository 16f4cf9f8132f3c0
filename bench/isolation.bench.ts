// `npm run bench -- isolation [--rounds N]`: CPU of one start of a server, from its process to the answer of
// `initialize`, plain and on the floor, alternated; medians. CPU is that of all processes of the server at that moment.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Isolation } from '../packages/sluice/src/gateway/isolation/isolation.ts'
import { listAncestors } from '../packages/sluice/src/gateway/processes/peer-process.ts'
import { listProcesses } from '../packages/sluice/src/gateway/processes/process-group.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'

/** Clock ticks are hundredths of a second on Linux. */
const TICK_MS = 10
/** One start is a few ticks: several are counted at once. */
const STARTS = 5

const HELLO = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
})}\n`

export async function run(options: RunOptions): Promise<number> {
  const rounds = Number(options.rounds ?? 10)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-isolation-bench-'))
  const data = join(folder, 'data')
  const cwd = join(data, 'servers', 'memory')
  mkdirSync(cwd, { recursive: true })
  const keys = join(folder, 'sluice.env')
  writeFileSync(keys, '')
  const isolation = await Isolation.open({ config: { data }, own: [data, keys], keys })
  const server = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')
  const command = [process.execPath, server]
  const wrapped = isolation.wrap({ name: 'memory', command, cwd, env: {}, sandbox: undefined })
  const plain: number[] = []
  const floor: number[] = []
  try {
    if (wrapped === undefined) throw new Error(isolation.why)
    for (let round = 0; round < rounds; round++) {
      plain.push(await measureStarts(command, cwd))
      floor.push(await measureStarts(wrapped.words, cwd))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const [before, after] = [median(plain), median(floor)]
  console.log(
    `CPU of a start, median of ${rounds}: plain ${before} ms, floor ${after} ms, +${after - before} ms`,
  )
  return 0
}

/** Milliseconds of CPU a start. */
async function measureStarts(
  [program = '', ...args]: readonly string[],
  cwd: string,
): Promise<number> {
  let sum = 0
  for (let start = 0; start < STARTS; start++) {
    const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdin.write(HELLO)
    let said = ''
    while (!said.includes('"serverInfo"')) said += String(await once(child.stdout, 'data'))
    sum += usedMs(child.pid as number)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return sum / STARTS
}

/** CPU of a process and all that descend from it: fields 14 and 15 of the system's lines. */
function usedMs(leader: number): number {
  const tree = listProcesses().filter((pid) =>
    listAncestors(pid).some((each) => each.pid === leader),
  )
  const ticks = tree.map((pid) => {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((all, each) => all + each, 0) * TICK_MS
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
