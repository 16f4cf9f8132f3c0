// Starts the model server that plays turns, as a process of its own, and gives what is needed to
// point agents at it. Whoever starts it stops it.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ModelSettings } from '../../packages/agents/src/models/models.ts'
import { programFile } from '../support/start-gate.ts'

export interface ModelServer {
  readonly url: string
  readonly settings: ModelSettings
  /** A model that plays these turns; the name for `create`. */
  plays(turns: readonly object[]): string
  /** What the server was sent for a model, in order. */
  requests(name: string): {
    messages: { role: string; content: unknown }[]
    tools?: object[]
  }[]
  /** What the server would send a bill for, call by call. */
  spent(name: string): { input: number; output: number }[]
  stop(): void
}

let next = 1

export async function modelServer(directory: string): Promise<ModelServer> {
  const file = programFile('openai-turns')
  const child = spawn(process.execPath, [file, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', () => reject(new Error('the model server did not start')))
  })
  const linesOf = (name: string, kind: string) => {
    const log = join(directory, `${name.replace('local:', '')}.${kind}`)
    if (!existsSync(log)) return []
    // The server creates the file before it writes to it, and may be in the middle of a line: the last part is not one.
    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line))
  }
  return {
    url,
    settings: settingsOf({ local: { url } }),
    plays: (turns) => {
      const name = `turns-${next++}`
      writeFileSync(join(directory, `${name}.json`), JSON.stringify(turns))
      return `local:${name}`
    },
    requests: (name) => linesOf(name, 'log'),
    spent: (name) => linesOf(name, 'spent'),
    stop: () => child.kill('SIGKILL'),
  }
}

export function settingsOf(
  providers: ModelSettings['providers'] = {},
  more: Partial<ModelSettings> = {},
): ModelSettings {
  return { environment: {}, providers, scripts: '/nonexistent', prices: {}, ...more }
}
