// The conformance fixture as an HTTP server of one protocol generation, or of both, in a separate
// process that the test has to stop.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { NODE, programFile } from './start-gate.ts'

export const FIXTURE = programFile('serve', 'conformance')

export interface FixtureServer {
  readonly url: string
  readonly process: ChildProcess
}

export async function serveFixture(generation?: 'session' | 'stateless'): Promise<FixtureServer> {
  const args = generation === undefined ? [] : ['--generation', generation]
  const server = spawn(NODE, [FIXTURE, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`the fixture ended with ${code}`)))
    createInterface({ input: server.stdout }).on('line', (line) =>
      resolve(line.replace('ready ', '')),
    )
  })
  return { url, process: server }
}
