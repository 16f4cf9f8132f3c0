// A window of a client, as a process of its own: it starts pipes to the gate as a client starts the
// commands of its configuration, and speaks with each as a real client (SDK v1). Run as a process it takes
// one request a line; imported, `ClientWindow` is that process.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

interface WindowRequest {
  readonly id: number
  readonly pipe: string
  /** Starts the pipe. */
  readonly command?: readonly string[]
  readonly cwd?: string
  /** Calls a tool through it; without either it is ended. */
  readonly tool?: string
  readonly args?: Record<string, unknown>
}

export class ClientWindow {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, (answer: { code?: string; error?: string }) => void>()
  #lastId = 0

  constructor() {
    const stdio = ['pipe', 'pipe', 'inherit'] as ['pipe', 'pipe', 'inherit']
    this.#process = spawn(process.execPath, [fileURLToPath(import.meta.url), 'run'], { stdio })
    createInterface({ input: this.#process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const answer = JSON.parse(line)
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
  }

  async open(pipe: string, command: readonly string[], cwd: string): Promise<void> {
    await this.#ask({ pipe, command, cwd })
  }

  /** `passed`, or the code of the decision. */
  async call(pipe: string, tool: string, args: Record<string, unknown> = {}): Promise<string> {
    return (await this.#ask({ pipe, tool, args })).code ?? ''
  }

  async closePipe(pipe: string): Promise<void> {
    await this.#ask({ pipe })
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.stdin?.end()
    await ended
  }

  async #ask(request: Omit<WindowRequest, 'id'>): Promise<{ code?: string }> {
    const id = ++this.#lastId
    const answer = await new Promise<{ code?: string; error?: string }>((resolve) => {
      this.#waiting.set(id, resolve)
      this.#process.stdin?.write(`${JSON.stringify({ ...request, id })}\n`)
    })
    if (answer.error !== undefined) throw new Error(answer.error)
    return answer
  }
}

const pipes = new Map<string, Client>()

async function handle({ pipe, command, cwd, tool, args }: WindowRequest): Promise<object> {
  if (command !== undefined) {
    const [program = '', ...rest] = command
    const client = new Client({ name: 'window', version: '2' })
    const place = cwd === undefined ? {} : { cwd }
    await client.connect(new StdioClientTransport({ command: program, args: rest, ...place }))
    pipes.set(pipe, client)
    return {}
  }
  const client = pipes.get(pipe)
  if (client === undefined) throw new Error(`no pipe \`${pipe}\``)
  if (tool === undefined) {
    pipes.delete(pipe)
    await client.close()
    return {}
  }
  const { _meta: meta } = await client.callTool({ name: tool, arguments: args ?? {} })
  const decision = meta?.['sluice/decision'] as { code?: string } | undefined
  return { code: decision?.code ?? 'passed' }
}

if (process.argv[2] === 'run') {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    const request = JSON.parse(line) as WindowRequest
    const answer = await handle(request).catch((error: Error) => ({ error: error.message }))
    process.stdout.write(`${JSON.stringify({ id: request.id, ...answer })}\n`)
  }
  await Promise.all([...pipes.values()].map((client) => client.close()))
  process.exit()
}
