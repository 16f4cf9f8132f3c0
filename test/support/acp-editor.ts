// An editor that speaks the Agent Client Protocol with `sluice agents acp` as a process: the client of the protocol's own
// SDK. Every line that the command writes has to fit the published schema.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough, Readable, Writable } from 'node:stream'
import { type ClientContext, client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { NODE, SLUICE } from './start-gate.ts'

/** What `session/new` and `session/load` take beside the session. */
export const FOLDER = { cwd: '/', mcpServers: [] }
const CAPABILITIES = { protocolVersion: 1, clientCapabilities: {} } as const

const children: ChildProcess[] = []

export function endEditors(): void {
  for (const child of children.splice(0)) child.kill('SIGKILL')
}

/** `data`: the data directory of the gate. */
export function startAcp(data: string, ...options: string[]): ChildProcess {
  const words = [SLUICE, 'agents', 'acp', '--data', data, ...options]
  const child = spawn(NODE, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

export interface Editor {
  readonly agent: ClientContext
  /** Every update, as it came. */
  readonly updates: SentUpdate[]
  /** Every line that the command wrote. */
  readonly lines: readonly string[]
  readonly child: ChildProcess
}

export interface SentUpdate {
  readonly sessionUpdate: string
  readonly status?: string
  readonly title?: string
  readonly content?: unknown
  readonly entries?: readonly unknown[]
}

/** The SDK's client, connected to the command for the time of `work`. Throws if a line does not fit the schema. */
export async function withEditor<T>(
  data: string,
  options: readonly string[],
  work: (editor: Editor) => Promise<T>,
): Promise<T> {
  const child = startAcp(data, ...options)
  const output = new PassThrough()
  const lines: string[] = []
  createInterface({ input: child.stdout as Readable }).on('line', (line) => {
    lines.push(line)
    output.write(`${line}\n`)
  })
  const updates: SentUpdate[] = []
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin as Writable) as WritableStream<Uint8Array>,
    Readable.toWeb(output) as ReadableStream<Uint8Array>,
  )
  const app = client({ name: 'test' }).onNotification(
    methods.client.session.update,
    ({ params }) => void updates.push(params.update as SentUpdate),
  )
  return app.connectWith(stream, async (agent) => {
    await agent.request(methods.agent.initialize, CAPABILITIES)
    const result = await work({ agent, updates, lines, child })
    for (const line of lines) checkLine(line)
    return result
  })
}

const schemaFile = createRequire(import.meta.url).resolve('@agentclientprotocol/sdk')
const schema = JSON.parse(
  readFileSync(join(schemaFile, '../../../../schema/v1/schema.json'), 'utf8'),
)
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(schema, 'acp')

/** A notification is an update; a response is one of the union of responses, or an error. Throws if it is neither. */
export function checkLine(line: string): void {
  const message = JSON.parse(line)
  const [kind, value] =
    message.method === undefined
      ? (['AgentResponse', message] as const)
      : (['SessionNotification', message.params] as const)
  const fits = ajv.getSchema(`acp#/$defs/${kind}`)
  if (fits?.(value) !== true) throw new Error(`no ${kind} of the schema: ${line}`)
}

/** The texts of updates of one kind. */
export function textOf(updates: readonly SentUpdate[], kind: string): string {
  const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate === kind)
  return chunks.map(({ content }) => (content as { text: string }).text).join('|')
}

/** Titles and states of the calls of tools, in their order. */
export function callsOf(updates: readonly SentUpdate[]): string[] {
  return updates.flatMap(({ sessionUpdate, title, status }) =>
    sessionUpdate.startsWith('tool_call') ? [`${title ?? ''} ${status}`.trim()] : [],
  )
}
