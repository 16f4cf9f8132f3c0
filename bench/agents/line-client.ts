// A minimal MCP client over stdio that only writes and reads lines, so that the server dominates
// the measurement, ours as well as another's.

import { type ChildProcess, spawn } from 'node:child_process'

interface LineMessage {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

export class LineClient {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (message: LineMessage) => void>()
  #next = 1

  private constructor(command: string, args: readonly string[], home: string | undefined) {
    const place = home === undefined ? {} : { cwd: home, env: { ...process.env, HOME: home } }
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], ...place })
    if (this.#child.stdout === null) throw new Error('the server has no output')
    let text = ''
    this.#child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        this.#take(text.slice(0, end))
        text = text.slice(end + 1)
      }
    })
    this.#child.once('exit', () => {
      for (const settle of this.#waiting.values()) settle({ error: { message: 'it ended' } })
    })
  }

  #take(line: string): void {
    if (!line.startsWith('{')) return
    const message = JSON.parse(line) as LineMessage
    this.#waiting.get(message.id ?? 0)?.(message)
    this.#waiting.delete(message.id ?? 0)
  }

  /** `home` is its working directory and the folder of its data. */
  static async open(
    [command = '', ...args]: readonly string[],
    home?: string,
  ): Promise<LineClient> {
    const client = new LineClient(command, args, home)
    await client.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    })
    client.#write({ method: 'notifications/initialized' })
    return client
  }

  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    const id = this.#next++
    const message = await new Promise<LineMessage>((resolve) => {
      this.#waiting.set(id, resolve)
      this.#write({ id, method, params })
    })
    if (message.error !== undefined) throw new Error(`${method}: ${message.error.message}`)
    return message.result ?? {}
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.stdin?.end()
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    await gone
    clearTimeout(patience)
  }

  #write(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}
