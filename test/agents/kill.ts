// kill -9 at positions of the journal: a life a position, each of which first finishes what the one
// before it left. The counting server's own log says how often each side effect has happened.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { programFile, writeScript } from '../support/start-gate.ts'

const CHILD = programFile('agents-crash')

const PROGRAM = `
  const id = files.read('id.txt')
  const one = await tools.count.write({ id, n: 3 }).catch((error) => 'lost')
  const both = await Promise.allSettled([tools.count.write({ id, n: 4 }), tools.count.read({ id, n: 5 })])
  files.write('out.txt', String(both.length))
  return one`

/** Two calls that write, then a program that makes three. `$ID` tells the runs apart. */
const TURNS = [
  {
    toolCalls: [
      {
        name: 'run_code',
        input: { code: "files.write('id.txt', String(Math.random())); return 1" },
      },
    ],
  },
  {
    toolCalls: [
      { name: 'count__write', input: { n: 1 } },
      { name: 'count__write', input: { n: 2 } },
    ],
  },
  { toolCalls: [{ name: 'run_code', input: { code: PROGRAM } }] },
  { text: 'done' },
]

export interface Life {
  readonly signal: string | null
  readonly output: string
}

export interface Effect {
  readonly name: string
  readonly effect: string
}

export function prepare(directory: string): void {
  writeScript(directory, 'run', TURNS)
}

export interface KilledAt {
  readonly position: number
  readonly when: 'before' | 'after'
  readonly story?: 'run' | 'pause' | 'move'
}

export function live(directory: string, log: string, killed?: KilledAt): Promise<Life> {
  const { position, when = 'after', story = 'run' } = killed ?? {}
  const at = position === undefined ? [] : [String(position), when, story]
  const args = [CHILD, directory, log, ...at]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_, signal) => resolve({ signal, output }))
  })
}

export function effects(log: string): Effect[] {
  if (!existsSync(log)) return []
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/** What has happened more often than once although it changes something. */
export function repeated(log: string): string[] {
  const counts = new Map<string, number>()
  for (const { name, effect } of effects(log))
    if (name !== 'read') counts.set(effect, (counts.get(effect) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([effect]) => effect)
}
