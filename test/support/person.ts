// A person for tests: on the list of approvers of a data directory, with a PIN, and at the terminal
// of the commands that a test runs in its own process (run-sluice.ts). The proof itself is real;
// only its cost is low. The terminal device itself is tested in person.test.ts.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { People } from '../../packages/access/src/identity/people/people.ts'
import type { Role } from '../../packages/access/src/identity/person.ts'
import { terminal } from '../../packages/cli/src/terminal/terminal.ts'
import { NODE, SLUICE } from './start-gate.ts'

export const PIN = 'tea, not coffee'
const COST = 2 ** 4

export async function makePerson(
  data: string,
  name = 'ann',
  roles: readonly Role[] = ['admin'],
  more: { readonly groups?: readonly string[]; readonly owns?: readonly string[] } = {},
): Promise<void> {
  const people = People.open(data, { pinCost: COST })
  try {
    if (people.find(name) !== undefined) return
    const { groups = [], owns = [] } = more
    await people.add({ name, kind: 'person', roles, groups, owns }, { pin: PIN }, Date.now())
  } finally {
    people.close()
  }
}

/** What is typed when a command prompts, in order; the last one repeats. */
export function type(...lines: readonly string[]): void {
  let at = 0
  terminal.ask = async () => lines[Math.min(at++, lines.length - 1)]
  terminal.name = () => 'a test'
}

/** An approver, who types the PIN from now on. */
export async function atTerminal(data: string): Promise<void> {
  await makePerson(data)
  type(PIN)
}

/**
 * Runs a command in its own terminal (a pty), where these lines are typed in order, each on a
 * prompt. stdout and stderr are combined, as on a terminal.
 */
export function runAtTerminal(
  args: readonly string[],
  typed: readonly string[],
  onText: (all: string) => void = () => {},
  program = SLUICE,
): Promise<{ code: number | null; text: string }> {
  return runWordsAtTerminal([NODE, program, ...args], typed, onText)
}

/** The same for any program. */
export function runWordsAtTerminal(
  words: readonly string[],
  typed: readonly string[],
  onText: (all: string) => void = () => {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number | null; text: string }> {
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const child = spawn('script', ['-qefc', quoted, '/dev/null'], { env, stdio: 'pipe' })
  let text = ''
  let count = 0
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    const questions = text.match(/(?:PIN of [^:\n]*|new PIN[^:\n]*|once more): /g)?.length ?? 0
    for (; count < questions; count++) child.stdin.write(`${typed[count] ?? ''}\r`)
    onText(text)
  })
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, text: text.replaceAll('\r\n', '\n') }))
  })
}

/** Runs a command in a terminal of its own, where every question of the form `[y/N]` is answered with yes. */
export async function agreeAtTerminal(
  args: readonly string[],
): Promise<{ code: number | null; text: string }> {
  const words = [NODE, SLUICE, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qefc', words, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let [text, answered] = ['', 0]
  child.stdout.on('data', (chunk) => {
    text += chunk
    for (const asked = text.split('[y/N').length - 1; answered < asked; answered++)
      child.stdin.write('y\r')
  })
  const [code] = await once(child, 'exit')
  return { code, text: text.replaceAll('\r\n', '\n') }
}
