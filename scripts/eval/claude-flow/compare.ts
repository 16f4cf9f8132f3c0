// Sends the same operations to Claude Flow's MCP server and to ours and compares what comes back:
// whether each succeeds, and that ours has every field that its answer has, with the same value.
// Ids of agents and times are compared as such, texts of templates and of failures by their types.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Difference, OPERATIONS, type Operation } from './operations.ts'

interface Outcome {
  readonly isError: boolean
  readonly value: unknown
}

interface Comparison {
  readonly operation: Operation
  /** What differs on purpose, with the reason. */
  readonly meant: readonly { readonly what: string; readonly why: string }[]
  /** What differs without a reason, and reasons for which nothing differs. */
  readonly wrong: readonly string[]
}

/** A path into an answer, empty for the answer itself, and what differs there. */
type Found = readonly [path: string, what: string]

const TEMPLATE_TEXTS = 'name description tags author instructions rvfBase64 sizeBytes'.split(' ')
const AGENT_ID = /^(wasm-agent-\d+-\w+|agent_[\da-f-]{36})$/
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

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
    comparisons.push(explain(operation, differences(operation, there, here)))
  }
  return comparisons
}

function explain(operation: Operation, found: readonly Found[]): Comparison {
  const reasons = operation.differs ?? []
  const applies = ({ at }: Difference, [path]: Found) => at.test(path)
  const meant = found.flatMap((each) => {
    const reason = reasons.find((one) => applies(one, each))
    return reason === undefined ? [] : [{ what: say(each), why: reason.why }]
  })
  const wrong = found.filter((each) => !reasons.some((one) => applies(one, each))).map(say)
  const stale = reasons.filter((one) => !found.some((each) => applies(one, each)))
  return { operation, meant, wrong: [...wrong, ...stale.map(({ why }) => `is not so: ${why}`)] }
}

function say([path, what]: Found): string {
  return path === '' ? what : `${path}: ${what}`
}

function idOf({ value }: Outcome): string {
  return (value as { agent?: { id?: string } }).agent?.id ?? ''
}

function differences(operation: Operation, there: Outcome, here: Outcome): Found[] {
  if (there.isError !== here.isError) {
    const outcome = ({ isError, value }: Outcome) =>
      isError ? `refuses (${shorten(value)})` : 'answers'
    return [['', `it ${outcome(there)}, ours ${outcome(here)}`]]
  }
  if (there.isError) return []
  const hasFailed = (there.value as { success?: boolean }).success === false
  const free = [
    ...(operation.isOfTemplates ? TEMPLATE_TEXTS : []),
    ...(operation.name === 'wasm_agent_tool' && hasFailed ? ['output'] : []),
  ]
  return compareValues(there.value, here.value, '', free)
}

/** What the one has and the other lacks or has otherwise. Of members named in `free` only the types are compared. */
function compareValues(there: unknown, here: unknown, path: string, free: string[]): Found[] {
  if (typeOf(there) !== typeOf(here)) return [[path, `${typeOf(there)}, ours ${typeOf(here)}`]]
  if (Array.isArray(there)) {
    const own = here as unknown[]
    // A reason for more elements is none for a name that is missing among them.
    const lacking = there.filter((each) => typeof each === 'string' && !own.includes(each))
    if (there.length !== own.length)
      return [
        [path, `${shorten(there)}, ours ${shorten(own)}`],
        ...lacking.map((name): Found => [`${path}.${name}`, 'ours lacks it']),
      ]
    return there.flatMap((each, at) => compareValues(each, own[at], `${path}[${at}]`, free))
  }
  if (typeof there === 'object' && there !== null)
    return Object.entries(there).flatMap(([name, value]) => {
      const own = (here as Record<string, unknown>)[name]
      const inside = path === '' ? name : `${path}.${name}`
      return free.includes(name) && typeOf(value) === typeOf(own)
        ? []
        : compareValues(value, own, inside, free)
    })
  const isSame = there === here || [AGENT_ID, TIME].some((form) => [there, here].every(isOf(form)))
  return isSame ? [] : [[path, `${shorten(there)}, ours ${shorten(here)}`]]
}

const isOf = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value)

function shorten(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}… (${text.length} characters)` : text
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
