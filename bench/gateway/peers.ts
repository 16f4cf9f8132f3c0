// Other gateways, installed on request into a folder outside the project: they are not dependencies
// of it. One that cannot be installed or started is skipped with a message.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, type RunningProcess, start } from './running.ts'

interface Peer {
  readonly name: string
  readonly version: string
  readonly file: string
}

const PEERS = {
  civic: {
    name: '@civic/passthrough-mcp-server',
    version: '0.12.1',
    file: 'dist/cli.js',
  },
  mcpProxy: { name: 'mcp-proxy', version: '6.7.19', file: 'dist/bin/mcp-proxy.mjs' },
  supergateway: { name: 'supergateway', version: '4.0.0', file: 'dist/index.js' },
} as const satisfies Record<string, Peer>

const INSTALL_MS_MAX = 300_000

/** Returns what could not be installed. */
export async function installPeers(cache: string): Promise<string | undefined> {
  const all = Object.values(PEERS)
  if (all.every((peer) => existsSync(getFile(cache, peer)))) return undefined
  mkdirSync(cache, { recursive: true })
  const packages = all.map(({ name, version }) => `${name}@${version}`)
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save']
  try {
    const options = { timeout: INSTALL_MS_MAX, cwd: cache }
    await promisify(execFile)('npm', ['install', '--prefix', cache, ...flags, ...packages], options)
  } catch (error) {
    return `npm could not install them: ${(error as Error).message.split('\n')[0]}`
  }
  const missing = all.find((peer) => !existsSync(getFile(cache, peer)))
  return missing === undefined ? undefined : `${missing.name} has no ${missing.file}`
}

function getFile(cache: string, { name, file }: Peer): string {
  return join(cache, 'node_modules', name, file)
}

export async function startCivic(cache: string, upstream: string): Promise<RunningProcess> {
  const port = await freePort()
  return start({
    command: [process.execPath, getFile(cache, PEERS.civic)],
    env: {
      PORT: String(port),
      TARGET_SERVER_URL: upstream,
      TARGET_SERVER_TRANSPORT: 'httpStream',
      LOG_LEVEL: 'error',
    },
    url: `http://127.0.0.1:${port}/mcp`,
  })
}

export async function startMcpProxy(
  cache: string,
  server: readonly string[],
): Promise<RunningProcess> {
  const port = await freePort()
  const options = ['--port', String(port), '--host', '127.0.0.1', '--server', 'stream']
  const command = [process.execPath, getFile(cache, PEERS.mcpProxy), ...options, '--', ...server]
  return start({ command, url: `http://127.0.0.1:${port}/mcp` })
}

export async function startSupergateway(
  cache: string,
  server: readonly string[],
): Promise<RunningProcess> {
  const port = await freePort()
  const quiet = ['--logLevel', 'none', '--outputTransport', 'streamableHttp', '--stateful']
  const options = ['--stdio', server.join(' '), '--port', String(port), ...quiet]
  const command = [process.execPath, getFile(cache, PEERS.supergateway), ...options]
  return start({ command, url: `http://127.0.0.1:${port}/mcp` })
}
