// `npm run bench -- isolation [--rounds N]`: CPU and memory of one start of a server, from its process to the answer of
// `initialize`, plain, on the floor and locked, alternated; medians. They are those of all processes of the server at
// that moment, memory as their share of it (PSS), among them the launcher, which becomes the server. The launcher is that of the built package (`npm run
// build` first): from the sources Node would strip its types.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Isolation as IsolationType } from '../packages/gateway/src/isolation/isolation.ts'
import { listAncestors } from '../packages/gateway/src/processes/peer-process.ts'
import { listProcesses } from '../packages/gateway/src/processes/process-group.ts'
import { StdioUpstream } from '../packages/gateway/src/upstream/stdio/stdio.ts'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'

/** Clock ticks are hundredths of a second on Linux. */
const TICK_MS = 10
/** One start is a few ticks: several are counted at once. */
const STARTS = 5

const BUILT = join(ROOT, 'dist/gateway/dist/isolation/isolation.js')

const HELLO = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  },
})

export async function run(options: RunOptions): Promise<number> {
  if (!existsSync(BUILT)) throw new Error('run `npm run build` first')
  const { Isolation } = (await import(BUILT)) as { Isolation: typeof IsolationType }
  const rounds = Number(options.rounds ?? 10)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-isolation-bench-'))
  const data = join(folder, 'data')
  const cwd = join(data, 'servers', 'memory')
  mkdirSync(cwd, { recursive: true })
  const keys = join(folder, 'sluice.env')
  writeFileSync(keys, '')
  const isolation = await Isolation.open({ config: { data }, own: [data, keys], keys })
  if (isolation.why !== undefined) throw new Error(isolation.why)
  const file = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')
  const server = { name: 'memory', command: [process.execPath, file], cwd, log: () => {} }
  const kinds: Record<string, ConstructorParameters<typeof StdioUpstream>[0]> = {
    plain: server,
    floor: { ...server, isolation },
    locked: { ...server, isolation, sandbox: { read: [], write: [], hosts: [] } },
  }
  const measured: Record<string, Used[]> = { plain: [], floor: [], locked: [] }
  try {
    for (let round = 0; round < rounds; round++)
      for (const [kind, started] of Object.entries(kinds))
        measured[kind]?.push(await measureStarts(started))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const medians = Object.entries(measured).map(([kind, values]) => {
    const cpu = median(values.map(({ cpuMs }) => cpuMs))
    const memory = median(values.map(({ memoryKb }) => memoryKb)) / 1_024
    return `${kind} ${cpu} ms, ${memory.toFixed(1)} MB`
  })
  console.log(`a start, median of ${rounds}: ${medians.join('; ')}`)
  return 0
}

interface Used {
  readonly cpuMs: number
  readonly memoryKb: number
}

/** The mean of a start. */
async function measureStarts(
  server: ConstructorParameters<typeof StdioUpstream>[0],
): Promise<Used> {
  let [cpuMs, memoryKb] = [0, 0]
  for (let start = 0; start < STARTS; start++) {
    const used = await measureStart(server)
    cpuMs += used.cpuMs / STARTS
    memoryKb += used.memoryKb / STARTS
  }
  return { cpuMs, memoryKb }
}

function measureStart(server: ConstructorParameters<typeof StdioUpstream>[0]): Promise<Used> {
  return new Promise((resolve, reject) => {
    const link = new StdioUpstream(server, {
      onMessage: () => {
        resolve(readUse(link.pid as number))
        link.close('measured')
      },
      onFailure: ({ message }) => reject(new Error(message)),
      onClose: (why) => reject(new Error(why)),
    } as ConstructorParameters<typeof StdioUpstream>[1])
    link.send(HELLO)
  })
}

/** What a process and all that descend from it have used: fields 14 and 15 of the system's lines are ticks. */
function readUse(leader: number): Used {
  const tree = listProcesses().filter((pid) =>
    listAncestors(pid).some((each) => each.pid === leader),
  )
  let [ticks, memoryKb] = [0, 0]
  for (const pid of tree) {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    memoryKb += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0)
  }
  return { cpuMs: ticks * TICK_MS, memoryKb }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
