// `npm run bench -- commands [--runs N]`: how long short commands take from the built package (`npm run build`
// first): time on the clock, and CPU time of the process, which other work on the machine disturbs less.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { ROOT } from '../scripts/run-step.ts'

const COMMAND = join(ROOT, 'dist', 'sluice', 'bin', 'sluice.js')
const MARK = 'cpu-of-command'
/** Tells its CPU time when it ends. */
const METER = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write('${MARK} '+(user+system))})`

const COMMANDS = [
  '--version',
  '--help',
  'policy check policy.yaml',
  'policy explain notes/read_graph',
  'status',
]

export async function run(options: RunOptions): Promise<number> {
  if (!existsSync(COMMAND)) {
    console.error('bench: run `npm run build` first')
    return 2
  }
  const runs = Number(options.runs ?? 9)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-commands-bench-'))
  const server = '{ command: [node, -e, "process.stdin.resume()"] }'
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `version: 1\nservers: { notes: ${server} }\npolicy: policy.yaml\n`,
  )
  writeFileSync(
    join(folder, 'policy.yaml'),
    'version: 1\ndefault: deny\ncategories: { Read: allow }\n',
  )
  const gate = spawn(process.execPath, [COMMAND, 'up', '--port', '0', '--no-pin'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    await new Promise((resolve) => gate.stdout.once('data', resolve))
    const lines = [['-e', '0'], ...COMMANDS.map((line) => [COMMAND, ...line.split(' ')])]
    // Compiled code is kept from the first run on.
    for (const args of lines) measure(args, folder)
    const runsOf = lines.map((): Run[] => [])
    // In turn: other work on the machine then slows all of them alike.
    for (let round = 0; round < runs; round++)
      for (const [at, args] of lines.entries()) runsOf[at]?.push(measure(args, folder))
    console.log(
      '| command | median ms | fastest ms | CPU ms, median | CPU ms, least | over node, least |',
    )
    console.log('|---|---|---|---|---|---|')
    const bare = Math.min(...(runsOf[0] ?? []).map(({ cpuMs }) => cpuMs))
    for (const [at, name] of ['node -e 0', ...COMMANDS.map((line) => `sluice ${line}`)].entries())
      console.log(toRow(name, runsOf[at] ?? [], bare))
  } finally {
    gate.kill()
    await new Promise((resolve) => gate.once('exit', resolve))
    rmSync(folder, { recursive: true, force: true })
  }
  return 0
}

interface Run {
  readonly wallMs: number
  readonly cpuMs: number
}

function measure(args: readonly string[], cwd: string): Run {
  const began = performance.now()
  const { stderr } = spawnSync(process.execPath, ['--import', METER, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const wallMs = performance.now() - began
  return { wallMs, cpuMs: Number(stderr.slice(stderr.lastIndexOf(MARK) + MARK.length)) / 1_000 }
}

function toRow(name: string, runs: readonly Run[], bareMs: number): string {
  const sorted = (key: keyof Run) => runs.map((run) => run[key]).sort((a, b) => a - b)
  const [wall, cpu] = [sorted('wallMs'), sorted('cpuMs')]
  const cells = [
    wall[wall.length >> 1],
    wall[0],
    cpu[cpu.length >> 1],
    cpu[0],
    (cpu[0] ?? 0) - bareMs,
  ]
  return `| \`${name}\` | ${cells.map((ms) => (ms ?? Number.NaN).toFixed(0)).join(' | ')} |`
}
