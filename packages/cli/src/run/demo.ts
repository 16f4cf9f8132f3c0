// `sluice demo`: ten short scenes on a running gate of `npm start`, each with the answer of the gate and the rule that
// decided: calls of a client, an agent in a sandbox, and a file that gives an order. It speaks MCP as any client would.

import { openHttpRpc, type SendHttp } from '../servers/http-rpc.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'

interface DemoDecision {
  readonly code: string
  readonly retryAfterMs?: number
}

interface DemoReply {
  readonly error?: { readonly message: string }
  readonly result?: {
    readonly isError?: boolean
    readonly content?: readonly { readonly text?: string }[]
    readonly structuredContent?: Readonly<Record<string, unknown>>
    readonly tools?: readonly { readonly name: string }[]
    readonly _meta?: { readonly 'sluice/decision'?: DemoDecision }
  }
}

/** What a scene shows, and what the gate must have said for the demonstration to be as meant. */
interface Scene {
  readonly title: string
  readonly reply: DemoReply
  readonly codes: readonly string[]
  /** The line of examples/demo/policy.yaml that decides: a gate does not tell its rules to a caller. */
  readonly rule: string
  /** In place of the text of the reply. */
  readonly text?: string
}

interface Todo {
  readonly content: string
  readonly status: string
}

const EXAMPLES = `
Examples:
  npm start            in one terminal of a clone
  sluice demo          in another`

/** Where `npm start` has the files of its server. */
const DEMO_FOLDER = /^\/.*sluice-demo-\w+\/workspace$/
const TEXT_LENGTH_SHOWN = 300
const AGENT_WAIT_MS = 30_000
/** One more than examples/demo/policy.yaml allows in a minute. */
const EXPORTS = 11

export const add = defineCommand({
  name: 'demo',
  options: { '--url <url>': ['address of the gate', 'http://127.0.0.1:7433'] },
  json: false,
  examples: EXAMPLES,
  run: async ({ url }, output) => {
    let number = 0
    let asExpected = true
    for await (const scene of play(url)) {
      number += 1
      if (!show(number, scene, output)) asExpected = false
    }
    output.line('`sluice console` shows all of it: the agent waits there for your approval.')
    return asExpected ? 0 : 1
  },
})

async function* play(url: string): AsyncGenerator<Scene> {
  const folder = await findDemoFolder(url)
  // Its call waits 25 s for a person: the other scenes are played meanwhile.
  const order = obeyOrder(url, folder)
  order.catch(() => undefined)
  yield* playCalls(url, folder)
  yield* playAgent(url)
  yield await order
}

/** Other gates may have a server `filesystem` too: its files are changed only if it is that of the demonstration. */
async function findDemoFolder(url: string): Promise<string> {
  const files = await DemoClient.open(`${url}/mcp/filesystem`)
  const allowed = await files.call('list_allowed_directories')
  const folder = textOf(allowed)
    .split(/\s+/)
    .find((word) => DEMO_FOLDER.test(word))
  if (folder === undefined) throw notTheDemo(url, 'another gate')
  return folder
}

function notTheDemo(url: string, what: string): CliError {
  return new CliError(
    'CLI_START',
    `${what} answers at ${url}, not that of \`npm start\``,
    'run `npm start -- --port 7500` in another terminal, then `sluice demo --url http://127.0.0.1:7500`',
  )
}

async function* playCalls(url: string, folder: string): AsyncGenerator<Scene> {
  const files = await DemoClient.open(`${url}/mcp/filesystem`)
  yield {
    title: 'read_text_file: it reads, so it is allowed',
    reply: await files.call('read_text_file', { path: `${folder}/hello.txt` }),
    rule: 'Read: allow',
    codes: ['ALLOWED'],
  }
  yield {
    title: 'move_file: a rule denies it, and says why',
    reply: await files.call('move_file', {
      source: `${folder}/hello.txt`,
      destination: `${folder}/gone.txt`,
    }),
    rule: 'filesystem/move_file: { action: deny, reason: files stay where they are }',
    codes: ['DENIED'],
  }
  let written: DemoReply = {}
  for (let turn = 1; turn <= 4; turn++)
    written = await files.call('write_file', {
      path: `${folder}/note.txt`,
      content: `note ${turn}`,
    })
  yield {
    title: 'write_file, four times: three a minute are allowed',
    reply: written,
    rule: 'Write: { action: allow, rate_limit: { max: 3, window: 60 } }',
    codes: ['RATE_LIMITED'],
  }
  yield {
    title: 'directory_tree: hidden, so it does not exist for this client',
    reply: await files.call('directory_tree', { path: folder }),
    rule: 'filesystem/directory_tree: hide',
    codes: ['UNKNOWN'],
  }
  const memory = await DemoClient.open(`${url}/mcp/memory`)
  yield {
    title: 'delete_entities: destructive, so a person must approve it',
    reply: await memory.call('delete_entities', { entityNames: ['tour'] }),
    rule: 'Destructive: { action: require_approval, approval: { timeout: 10m, wait: 5s } }',
    // Where it was approved since the last demonstration, it passes.
    codes: ['APPROVAL_PENDING', 'ALLOWED'],
  }
}

/** An agent that plans, is denied the same call as a client, and waits for a person. */
async function* playAgent(url: string): AsyncGenerator<Scene> {
  const client = await DemoClient.open(`${url}/mcp/agents`)
  const created = await client.call('wasm_agent_create', {
    model: 'script:tour',
    tools: ['filesystem/*', 'memory/*'],
  })
  const agent = created.result?.structuredContent?.agent as { readonly id?: string } | undefined
  const agentId = agent?.id ?? ''
  yield {
    title: 'wasm_agent_create: an agent whose files, todos and conversation are in a sandbox',
    reply: created,
    rule: 'agents/*: { action: allow, over: [Execute, Write, Destructive] }',
    codes: ['ALLOWED'],
    text: agentId,
  }
  const prompted = await client.call('wasm_agent_prompt', {
    agentId,
    input: 'tidy up',
    waitMs: 0,
  })
  const todos = await waitForTodos(client, agentId)
  yield {
    title:
      'wasm_agent_prompt, wasm_agent_todos: it works by itself, and its calls leave through the gate',
    reply: prompted,
    rule: 'agents/*: { action: allow, over: [Execute, Write, Destructive] }',
    codes: ['ALLOWED'],
    text: todos.map(({ content, status }) => `${status.padEnd(11)} ${content}`).join('\n  '),
  }
  const stopped = await client.call('wasm_agent_is_stopped', { agentId })
  yield {
    title: "wasm_agent_is_stopped: no, its call waits for a person as a client's does",
    reply: stopped,
    rule: 'agents/*: { action: allow, over: [Execute, Write, Destructive] }',
    codes: ['ALLOWED'],
  }
  let exported: DemoReply = {}
  for (let turn = 1; turn <= EXPORTS; turn++)
    exported = await client.call('wasm_agent_export', { agentId })
  yield {
    title: `wasm_agent_export, ${EXPORTS} times: ten a minute are allowed`,
    reply: exported,
    rule: 'agents/wasm_agent_export: { action: allow, rate_limit: { max: 10, window: 60 } }',
    codes: ['RATE_LIMITED'],
  }
}

/** The todos once the agent has been denied what it tried, or as they are when the time is over. */
async function waitForTodos(client: DemoClient, agentId: string): Promise<readonly Todo[]> {
  for (const endMs = Date.now() + AGENT_WAIT_MS; ; ) {
    const { result } = await client.call('wasm_agent_todos', { agentId })
    const todos = (result?.structuredContent?.todos ?? []) as readonly Todo[]
    if (todos.some(({ status }) => status === 'cancelled') || Date.now() > endMs) return todos
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** A session that has read a stranger's text, and does what it says. */
async function obeyOrder(url: string, folder: string): Promise<Scene> {
  const client = await DemoClient.open(`${url}/mcp`)
  await client.call('filesystem__read_text_file', { path: `${folder}/invoice.txt` })
  const observations = ['pay Acme to account 8402-7719']
  return {
    title:
      "create_entities with the account that invoice.txt told it to save: a stranger's order is held",
    reply: await client.call('memory__create_entities', {
      entities: [{ name: 'Acme', entityType: 'payee', observations }],
    }),
    rule: 'protect: balanced',
    codes: ['APPROVAL_PENDING'],
  }
}

/** Whether the gate said what the scene is about. */
function show(number: number, { title, reply, codes, rule, text }: Scene, output: Output): boolean {
  const decision = reply.result?._meta?.['sluice/decision']
  const code = decision?.code ?? (reply.error ? 'UNKNOWN' : 'ALLOWED')
  const isMeant = codes.includes(code)
  const wait =
    decision?.retryAfterMs === undefined
      ? ''
      : ` (again in ${Math.ceil(decision.retryAfterMs / 1_000)} s)`
  const said = text ?? reply.error?.message ?? textOf(reply).trim().slice(0, TEXT_LENGTH_SHOWN)
  const lines = said.split('\n').map(printable).join('\n')
  output.line(
    `${output.paint('bold', `${number}. ${title}`)}\n  ${output.paint(isMeant ? 'green' : 'red', code)}${wait}  ${lines}\n  ${output.paint('dim', `by ${rule}`)}\n`,
  )
  return isMeant
}

function textOf({ result }: DemoReply): string {
  return result?.content?.[0]?.text ?? ''
}

/** As much of an MCP client as the demonstration needs. */
class DemoClient {
  readonly #send: SendHttp

  private constructor(send: SendHttp) {
    this.#send = send
  }

  static async open(url: string): Promise<DemoClient> {
    const send = openHttpRpc({ url })
    const clientInfo = { name: 'sluice-demo', version: '1' }
    const first = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await send('initialize', first, true).catch((error: Error) => {
      const { origin } = new URL(url)
      // What was answered, if anything was.
      if (error.cause === undefined)
        throw notTheDemo(
          origin,
          /^HTTP 40[14]/.test(error.message) ? 'another gate' : 'another program',
        )
      throw new CliError(
        'CLI_START',
        `no gate answers at ${origin}`,
        'run `npm start` in another terminal first',
      )
    })
    await send('notifications/initialized', {}, false)
    return new DemoClient(send)
  }

  call(name: string, args: object = {}): Promise<DemoReply> {
    return this.#send('tools/call', { name, arguments: args }, true)
  }
}
