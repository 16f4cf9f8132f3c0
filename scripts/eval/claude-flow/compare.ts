// Sends the same operations to Claude Flow's MCP server and to ours and compares what comes back:
// whether each succeeds, and that ours has every field that its answer has, with the same type.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { OPERATIONS, type Operation } from './operations.ts'

interface Outcome {
  readonly isError: boolean
  readonly value: unknown
}

interface Comparison {
  readonly operation: Operation
  /** What differs; empty if nothing does. */
  readonly found: readonly string[]
}

/** A server that is started over stdio and called by name. */
export class StdioServer {
  readonly #child
  readonly #waiting = new Map<number, (message: Record<string, unknown>) => void>()
  #next = 1

  constructor(command: readonly string[], cwd: string, home: string) {
    const [file = '', ...args] = command
    const env = { ...process.env, HOME: home, ANTHROPIC_API_KEY: '' }
    this.#child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const message = parse(line) as { id?: number } | undefined
      if (typeof message?.id === 'number') this.#waiting.get(message.id)?.(message)
    })
  }

  async start(): Promise<void> {
    const clientInfo = { name: 'compare', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await this.#ask('initialize', params)
  }

  async call(name: string, args: object): Promise<Outcome> {
    const { result, error } = await this.#ask('tools/call', { name, arguments: args })
    if (error !== undefined) return { isError: true, value: error }
    const { content, isError } = result as { content: { text: string }[]; isError?: boolean }
    const value = parse(content[0]?.text ?? '') ?? content[0]?.text
    // Its answers are a result inside the text of a result.
    const inner = value as { content?: { text: string }[]; isError?: boolean }
    if (Array.isArray(inner?.content))
      return {
        isError: inner.isError === true,
        value: parse(inner.content[0]?.text ?? '') ?? inner.content[0]?.text,
      }
    return { isError: isError === true, value }
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }

  #ask(method: string, params: object): Promise<{ result?: unknown; error?: unknown }> {
    const id = this.#next++
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    })
  }
}

export async function compareOperations(
  theirs: StdioServer,
  ours: StdioServer,
): Promise<Comparison[]> {
  const ids = { theirs: '', ours: '' }
  const comparisons: Comparison[] = []
  for (const operation of OPERATIONS) {
    const argsFor = (id: string) =>
      Object.fromEntries(
        Object.entries(operation.args).map(([name, value]) => [
          name,
          value === '$AGENT' ? id : value,
        ]),
      )
    const [there, here] = await Promise.all([
      theirs.call(operation.name, argsFor(ids.theirs)),
      ours.call(operation.name, argsFor(ids.ours)),
    ])
    if (ids.theirs === '') {
      ids.theirs = idOf(there)
      ids.ours = idOf(here)
    }
    comparisons.push({ operation, found: differences(there, here) })
  }
  return comparisons
}

function idOf({ value }: Outcome): string {
  return (value as { agent?: { id?: string } }).agent?.id ?? ''
}

function differences(there: Outcome, here: Outcome): string[] {
  if (there.isError !== here.isError) {
    const say = ({ isError, value }: Outcome) =>
      isError ? `refuses (${JSON.stringify(value).slice(0, 120)})` : 'answers'
    return [`it ${say(there)}, ours ${say(here)}`]
  }
  return there.isError ? [] : missing(there.value, here.value, '')
}

/** Fields of the one that the other lacks, or has with another type. Of a list, its first element. */
function missing(there: unknown, here: unknown, path: string): string[] {
  if (typeOf(there) !== typeOf(here))
    return there === null ? [] : [`${path || 'the answer'}: ${typeOf(there)}, ours ${typeOf(here)}`]
  if (Array.isArray(there))
    return there.length === 0 ? [] : missing(there[0], (here as unknown[])[0], `${path}[0]`)
  if (typeof there !== 'object' || there === null) return []
  return Object.entries(there).flatMap(([name, value]) => {
    // What was given at create is shown as it was given; a count of categories is data.
    if (name === 'config' || name === 'categories') return []
    const own = (here as Record<string, unknown>)[name]
    return missing(value, own, path === '' ? name : `${path}.${name}`)
  })
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
