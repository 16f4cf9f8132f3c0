// What the examples share: a real gate as a process of its own, in front of a real MCP server
// (shop-server.ts), and a client of the official SDK. Everything is in a temporary folder.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The command of a bundle, which the tests name: it and the servers beside it start faster than their sources. */
const BUNDLED = process.env.SLUICE_TEST_COMMAND
const COMMAND = BUNDLED ?? join(import.meta.dirname, '../../packages/cli/bin/sluice.js')
const SHOP_FILE =
  BUNDLED === undefined
    ? join(import.meta.dirname, 'shop-server.ts')
    : join(BUNDLED, '../../shop-server.js')
const SHOP = { command: [process.execPath, SHOP_FILE] }

export interface Answer {
  readonly text: string
  /** The decision of the gate, if it is not the server that answered. */
  readonly code: string | undefined
}

export interface Connection {
  /** The names of the tools that the list shows. */
  list(): Promise<string[]>
  call(name: string, args?: Record<string, unknown>): Promise<Answer>
}

export interface Caller {
  /** Of a load balancer; the gate itself if left out. */
  readonly url?: string
  /** Of a grant: behind a load balancer nobody is a user of this machine. */
  readonly token: string
  /** How requests are sent; the global one if left out. */
  readonly fetch?: typeof fetch
}

export interface Gate {
  readonly url: string
  readonly data: string
  connect(server: string, by?: Caller): Promise<Connection>
  /** Ends it as a crash of its machine would. */
  kill(): Promise<void>
}

export interface GateOptions {
  readonly policy: string
  /** Further keys of `sluice.yaml`. */
  readonly config?: Record<string, unknown>
  readonly servers?: Record<string, unknown>
  /** Runs before the gate starts, with its data directory. */
  readonly prepare?: (data: string) => void | Promise<void>
}

/** Starts a gate, runs `use`, and stops the gate whatever happens. */
export async function withGate(
  options: GateOptions,
  use: (gate: Gate) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
  const data = join(folder, 'data')
  // JSON is YAML.
  const servers = { shop: SHOP, ...options.servers }
  const config = { version: 1, data: './data', servers, policy: './policy.yaml', ...options.config }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
  writeFileSync(join(folder, 'policy.yaml'), options.policy)
  await options.prepare?.(data)
  const up = ['up', '--no-pin', '--port', '0', '--config', join(folder, 'sluice.yaml')]
  const child = spawn(process.execPath, [COMMAND, ...up], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const clients: Client[] = []
  try {
    let log = ''
    child.stderr.on('data', (chunk: Buffer) => {
      log += chunk
    })
    const ready = new Promise<string>((resolve) => {
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk
        const [, url] = /^sluice ready (\S+)$/m.exec(text) ?? []
        if (url !== undefined) resolve(url)
      })
    })
    const url = await Promise.race([ready, exited])
    if (url === undefined) throw new Error(`the gate did not start: ${log}`)
    const kill = (): Promise<void> => {
      child.kill('SIGKILL')
      return exited
    }
    const open: Gate['connect'] = (server, by) =>
      connect(`${by?.url ?? url}/mcp/${server}`, clients, by)
    await use({ url, data, connect: open, kill })
  } finally {
    // Also if its gate was killed.
    for (const client of clients) await client.close().catch(() => {})
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command of `sluice` to its end. */
export function runSluice(folder: string, ...args: string[]): { status: number; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status: status ?? -1, output: stdout + stderr }
}

/** Opens a session. Its client is added to `clients`, to be closed at the end. */
export async function connect(url: string, clients: Client[], by?: Caller): Promise<Connection> {
  const client = new Client({ name: 'example', version: '1' })
  clients.push(client)
  const own = by?.fetch === undefined ? {} : { fetch: by.fetch }
  const requestInit = by === undefined ? {} : { headers: { authorization: `Bearer ${by.token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit, ...own }))
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => {
      const { content, _meta } = await client.callTool({ name, arguments: args })
      const [first] = content as { readonly text?: string }[]
      const decision = _meta?.['sluice/decision'] as { readonly code?: string } | undefined
      return { text: first?.text ?? '', code: decision?.code }
    },
  }
}
