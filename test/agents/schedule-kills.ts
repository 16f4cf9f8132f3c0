// kill -9 of a process whose agents have schedules, at writes that a due time leads to: before and after the prompt,
// and before and after the schedule has moved on. The journal says how often each prompt was begun.

import { spawn } from 'node:child_process'
import { programFile, writeScript } from '../support/start-gate.ts'

export interface KilledSchedules {
  readonly lives: number
  readonly kills: number
  readonly due: number
  readonly missing: readonly string[]
  readonly twice: readonly string[]
  /** Runs that did not end with an answer. */
  readonly unended: readonly string[]
}

/** Each life but the last is killed at one of its first writes, as `random` says. */
export async function killSchedules(
  directory: string,
  { due, killsMax, random }: { due: number; killsMax: number; random: () => number },
): Promise<KilledSchedules> {
  writeScript(
    directory,
    'ok',
    Array.from({ length: 100 }, () => ({ text: 'ok' })),
  )
  await live([directory, String(due)])
  let [lives, kills] = [1, 0]
  for (let isOver = false; !isOver && kills < killsMax; lives += 1) {
    const position = 1 + Math.floor(random() * WRITES_OF_A_LIFE)
    const when = random() < 0.5 ? 'before' : 'after'
    const { signal } = await live([directory, String(due), String(position), when])
    if (signal === 'SIGKILL') kills += 1
    else isOver = true
  }
  const { output } = await live([directory, String(due)])
  const ends = JSON.parse(output) as { name: string; prompts: number; end?: string }[]
  const names = (isWanted: (end: (typeof ends)[number]) => boolean) =>
    ends.filter(isWanted).map(({ name }) => name)
  return {
    lives: lives + 1,
    kills,
    due: ends.length,
    missing: names(({ prompts }) => prompts === 0),
    twice: names(({ prompts }) => prompts > 1),
    unended: names(({ end }) => end !== 'answered'),
  }
}

const WRITES_OF_A_LIFE = 120

function live(args: readonly string[]): Promise<{ signal: string | null; output: string }> {
  const child = spawn(process.execPath, [programFile('agents-schedules'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_, signal) => resolve({ signal, output }))
  })
}
