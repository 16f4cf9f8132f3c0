// `sluice demo`: a short tour on a running gate of `npm start`: a call allowed, one denied with its
// reason, one limited with the time to try again, one hidden, one held for a person. It speaks MCP as any
// client would.

import { openHttpRpc, type SendHttp } from '../servers/http-rpc.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'

interface DemoReply {
  readonly error?: { readonly message: string }
  readonly result?: {
    readonly isError?: boolean
    readonly content?: readonly { readonly text?: string }[]
    readonly tools?: readonly { readonly name: string }[]
    readonly _meta?: {
      readonly 'sluice/decision'?: { readonly code: string; readonly retryAfterMs?: number }
    }
  }
}

const EXAMPLES = `
Examples:
  npm start            in one terminal of a clone
  sluice demo          in another`

export const add = defineCommand({
  name: 'demo',
  options: { '--url <url>': ['address of the gate', 'http://127.0.0.1:7433'] },
  json: false,
  examples: EXAMPLES,
  run: ({ url }, output) => tour(url, output),
})

async function tour(url: string, output: Output): Promise<0 | 1> {
  const client = await DemoClient.open(`${url}/mcp/filesystem`)
  let asExpected = true
  const show = (title: string, reply: DemoReply, ...codes: readonly string[]) => {
    const decision = reply.result?._meta?.['sluice/decision']
    const code = decision?.code ?? (reply.error ? 'UNKNOWN' : 'ALLOWED')
    const wait =
      decision?.retryAfterMs === undefined
        ? ''
        : ` (again in ${Math.ceil(decision.retryAfterMs / 1_000)} s)`
    const text = reply.error?.message ?? reply.result?.content?.[0]?.text ?? ''
    const isMeant = codes.includes(code)
    if (!isMeant) asExpected = false
    output.line(
      `${output.paint('bold', title)}\n  ${output.paint(isMeant ? 'green' : 'red', code)}${wait}  ${printable(text.trim().slice(0, 400))}\n`,
    )
  }
  const { result } = await client.ask('tools/list')
  output.line(`This client sees ${result?.tools?.length ?? 0} tools of the server.\n`)
  const folder =
    /\/\S+/.exec(
      (await client.call('list_allowed_directories')).result?.content?.[0]?.text ?? '',
    )?.[0] ?? ''
  show(
    'read_text_file: it reads, so it is allowed',
    await client.call('read_text_file', { path: `${folder}/hello.txt` }),
    'ALLOWED',
  )
  show(
    'move_file: a rule denies it, and says why',
    await client.call('move_file', {
      source: `${folder}/hello.txt`,
      destination: `${folder}/gone.txt`,
    }),
    'DENIED',
  )
  let answer: DemoReply = {}
  for (let turn = 1; turn <= 4; turn++)
    answer = await client.call('write_file', {
      path: `${folder}/note.txt`,
      content: `note ${turn}`,
    })
  show('write_file, four times: three a minute are allowed', answer, 'RATE_LIMITED')
  show(
    'directory_tree: hidden, so it does not exist for this client',
    await client.call('directory_tree', { path: folder }),
    'UNKNOWN',
  )
  const memory = await DemoClient.open(`${url}/mcp/memory`)
  output.line('delete_entities is next: it waits a few seconds for approval\n')
  show(
    'delete_entities: destructive, so a person must approve it',
    await memory.call('delete_entities', { entityNames: ['tour'] }),
    'APPROVAL_PENDING',
    // Where it was approved since the last tour.
    'ALLOWED',
  )
  return asExpected ? 0 : 1
}

/** As much of an MCP client as the tour needs. */
class DemoClient {
  readonly #send: SendHttp

  private constructor(send: SendHttp) {
    this.#send = send
  }

  static async open(url: string): Promise<DemoClient> {
    const send = openHttpRpc({ url })
    const clientInfo = { name: 'sluice-demo', version: '1' }
    const first = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    await send('initialize', first, true).catch(() => {
      throw new CliError(
        'CLI_START',
        `no gate answers at ${url}`,
        'run `npm start` in another terminal first',
      )
    })
    await send('notifications/initialized', {}, false)
    return new DemoClient(send)
  }

  call(name: string, args: object = {}): Promise<DemoReply> {
    return this.ask('tools/call', { name, arguments: args })
  }

  ask(method: string, params: object = {}): Promise<DemoReply> {
    return this.#send(method, params, true)
  }
}
