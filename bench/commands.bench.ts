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
    console.log('| command | median ms | fastest ms | CPU ms, median | CPU ms, least |')
    console.log('|---|---|---|---|---|')
    console.log(toRow('node -e 0', measure(['-e', '0'], folder, runs)))
    for (const line of COMMANDS)
      console.log(toRow(`sluice ${line}`, measure([COMMAND, ...line.split(' ')], folder, runs)))
  } finally {
    gate.kill()
    await new Promise((resolve) => gate.once('exit', resolve))
    rmSync(folder, { recursive: true, force: true })
  }
  return 0
}

interface Measurement {
  readonly wallMs: readonly number[]
  readonly cpuMs: readonly number[]
}

function measure(args: readonly string[], cwd: string, runs: number): Measurement {
  const wallMs: number[] = []
  const cpuMs: number[] = []
  for (let round = 0; round < runs; round++) {
    const began = performance.now()
    const { stderr } = spawnSync(process.execPath, ['--import', METER, ...args], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    wallMs.push(performance.now() - began)
    cpuMs.push(Number(stderr.slice(stderr.lastIndexOf(MARK) + MARK.length)) / 1_000)
  }
  return { wallMs: wallMs.sort((a, b) => a - b), cpuMs: cpuMs.sort((a, b) => a - b) }
}

function toRow(name: string, { wallMs, cpuMs }: Measurement): string {
  const middle = (values: readonly number[]) => values[values.length >> 1] ?? Number.NaN
  const cells = [middle(wallMs), wallMs[0], middle(cpuMs), cpuMs[0]]
  return `| \`${name}\` | ${cells.map((ms) => (ms ?? Number.NaN).toFixed(0)).join(' | ')} |`
}
