// Processes of a measurement: started, awaited until they serve, and always stopped.

import { type ChildProcess, spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'

export interface RunningProcess {
  readonly pid: number
  readonly url: string
  /** From start to ready. */
  readonly startMs: number
  stop(): Promise<void>
}

export interface Start {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Its URL; undefined if it prints it in a line `ready URL`. */
  readonly url?: string
}

const READY_MS_MAX = 60_000
const END_MS_MAX = 10_000
const OUTPUT_LENGTH_MAX = 4_000

export async function start({ command, env, url }: Start): Promise<RunningProcess> {
  const [file, ...args] = command as [string, ...string[]]
  const began = performance.now()
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    // Some exit when their stdin closes.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  try {
    const served = await ready(child, url)
    const startMs = performance.now() - began
    return { pid: child.pid as number, url: served, startMs, stop: () => end(child) }
  } catch (error) {
    await end(child)
    throw error
  }
}

function ready(child: ChildProcess, url: string | undefined): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${why}: ${output.trim()}`))
    const late = setTimeout(() => fail('not ready in time'), READY_MS_MAX)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code) => fail(`ended with ${code}`))
    const settle = (where: string) => {
      clearTimeout(late)
      resolve(where)
    }
    const listen = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_LENGTH_MAX)
      const where = /^(?:sluice )?ready (\S+)$/m.exec(output)?.[1]
      if (where !== undefined && url === undefined) settle(where)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    if (url !== undefined) void answers(new URL(url)).then(() => settle(url))
  })
}

async function answers({ port, hostname }: URL): Promise<void> {
  for (let tried = 0; tried < READY_MS_MAX / 50; tried++) {
    const isThere = await new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const patience = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX)
  child.kill('SIGTERM')
  await ended
  clearTimeout(patience)
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
