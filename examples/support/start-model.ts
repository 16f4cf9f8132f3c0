// Starts scripted-model.ts as a process of its own.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** One message of the model: words, or calls of tools. */
export interface ScriptedMessage {
  readonly text?: string
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly args: object
  }[]
}

export interface ScriptedModel {
  /** The base address of its API. */
  readonly url: string
  stop(): void
}

export async function startModel(script: readonly ScriptedMessage[]): Promise<ScriptedModel> {
  const file = join(import.meta.dirname, 'scripted-model.ts')
  const child = spawn(process.execPath, [file, JSON.stringify(script)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', () => reject(new Error('the scripted model did not start')))
  })
  return { url, stop: () => void child.kill() }
}
