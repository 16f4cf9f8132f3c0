// Lists the tools of a server with a minimal client over stdio or HTTP: initialize, list, close.
// For `sluice scan`, before there is a gate. Bounded in time, bytes and pages: the server is
// untrusted. Its standard error is kept for the message if it fails.

import { spawn } from 'node:child_process'
import { readSecrets, type Secret } from '@sluice/access/identity/oauth/secret-text'
import { environmentFor } from '@sluice/gateway/processes/environment'
import type { ClientEnvironment } from '@sluice/gateway/shared/transport'
import { isDefinition, type ToolDefinition } from '@sluice/policy/calls/tools'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { CliError } from '../terminal/errors.ts'
import {
  SCAN_BYTES_MAX,
  SCAN_END_MS_MAX,
  SCAN_MS_MAX,
  SCAN_PAGES_MAX,
  SCAN_PROCESS_MS_MAX,
} from '../terminal/limits.ts'
import { noteInstructions } from '../terminal/server-instructions.ts'
import { type HttpAddress, openHttpRpc } from './http-rpc.ts'
import { RpcLines } from './rpc-lines.ts'

export type ServerAddress =
  | {
      readonly command: readonly string[]
      readonly env?: Readonly<Record<string, Secret>>
      readonly cwd?: string
      /** Starts it with this environment, as a client does; a short allow-list without. */
      readonly client?: ClientEnvironment
    }
  | HttpAddress

type SendRpc = (method: string, params: JsonObject, wantsAnswer: boolean) => Promise<JsonValue>

export async function listServerTools(
  server: string,
  address: ServerAddress,
): Promise<ToolDefinition[]> {
  const end = new AbortController()
  const patienceMs = 'url' in address ? SCAN_MS_MAX : SCAN_PROCESS_MS_MAX
  const late = setTimeout(() => end.abort(), patienceMs)
  let printed = ''
  try {
    if ('url' in address) {
      const send = openHttpRpc(address, end.signal)
      return await listOver(server, async (...request) => resultOf(await send(...request)))
    }
    const process = startProcess(address, end.signal)
    end.signal.addEventListener('abort', () => {
      printed = process.describeOutput()
    })
    try {
      return await listOver(server, process.ask)
    } finally {
      process.end()
    }
  } catch (error) {
    const { why, help } = end.signal.aborted
      ? { why: `no answer within ${patienceMs / 1_000} s${printed}`, help: helpFor(address) }
      : describeListingError(error as ListingError, address)
    throw new CliError('CLI_SCAN', `the tools of \`${server}\` cannot be listed: ${why}`, help)
  } finally {
    clearTimeout(late)
    end.abort()
  }
}

function helpFor(address: ServerAddress): string {
  return 'url' in address
    ? `check that ${address.url} is the address of an MCP server (Streamable HTTP), often with \`/mcp\` at its end`
    : 'run the server by itself to see what it prints'
}

type ListingError = Error & { readonly code?: string; readonly cause?: unknown }

/** The cause, and not the layer that reports it: `fetch failed` and `spawn ENOENT` alone do not help. */
function describeListingError(error: ListingError, address: ServerAddress) {
  if ('command' in address && error.code === 'ENOENT') {
    const why = `there is no program \`${address.command[0]}\``
    return { why, help: 'install it, or write its whole path; a folder in `cwd` must exist, too' }
  }
  if ('command' in address && error.code === 'EACCES')
    return { why: `\`${address.command[0]}\` may not be executed`, help: 'check its rights' }
  const cause = error.cause as { readonly code?: string; readonly message?: string } | undefined
  if ('url' in address && cause?.code === 'ERR_INVALID_URL') {
    const why = `\`${address.url}\` is not a URL`
    return { why, help: 'write it with its protocol, as in `http://127.0.0.1:3000/mcp`' }
  }
  if (!('url' in address) || cause === undefined)
    return { why: error.message, help: helpFor(address) }
  const why = `${address.url} cannot be reached: ${cause.code ?? cause.message ?? error.message}`
  return { why, help: NETWORK_HELP[cause.code ?? ''] ?? 'check the address and the network' }
}

const NETWORK_HELP: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start the server, or check the port',
  ENOTFOUND: 'the name of the host is not known: check its spelling',
  EAI_AGAIN: 'the name of the host could not be looked up: check the network',
  SELF_SIGNED_CERT_IN_CHAIN: 'set NODE_EXTRA_CA_CERTS to the file of its certificate authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'set NODE_EXTRA_CA_CERTS to the file of its certificate authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'set NODE_EXTRA_CA_CERTS to the file of its certificate',
}

async function listOver(server: string, ask: SendRpc): Promise<ToolDefinition[]> {
  const clientInfo = { name: 'sluice', version: '1' }
  const hello = await ask(
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
    true,
  )
  await ask('notifications/initialized', {}, false)
  const tools: ToolDefinition[] = []
  let cursor: string | undefined
  for (let page = 0; page < SCAN_PAGES_MAX; page++) {
    const result = await ask('tools/list', cursor === undefined ? {} : { cursor }, true)
    const listed = isObject(result) && Array.isArray(result.tools) ? result.tools : []
    for (const tool of listed as readonly JsonValue[]) {
      const definition = isObject(tool) ? { ...tool, server } : {}
      if (isDefinition(definition)) tools.push(definition)
    }
    cursor =
      isObject(result) && typeof result.nextCursor === 'string' ? result.nextCursor : undefined
    if (cursor === undefined) break
  }
  if (isObject(hello) && typeof hello.instructions === 'string')
    noteInstructions(tools, hello.instructions)
  return tools
}

function startProcess(
  { command, env = {}, cwd, client }: Extract<ServerAddress, { command: readonly string[] }>,
  signal: AbortSignal,
): { ask: SendRpc; end: () => void; describeOutput: () => string } {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environmentFor({
      own: process.env,
      named: readSecrets(env),
      client,
      platform: process.platform,
    }),
    ...pickDefined({ cwd }),
  })
  const rpc = new RpcLines((line) => child.stdin.write(line))
  let rest = ''
  let bytes = 0
  let printed = ''
  let wrongLine: string | undefined
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > SCAN_BYTES_MAX) return child.kill('SIGKILL')
    rest += chunk.toString('utf8')
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines)
      if (rpc.take(line) === 'not JSON' && line.trim() !== '') wrongLine ??= line.slice(0, 200)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString('utf8')).slice(-OUTPUT_LENGTH_MAX)
  })
  child.stdin.on('error', () => {})
  child.on('error', (error) => rpc.fail(error))
  // `close` and not `exit`: what it printed last may still be in the pipe.
  child.on('close', (code, by) => {
    const how = code === null ? `was ended by ${by}` : `exited with code ${code}`
    const lastLine = mainLine(printed)
    const isSilent = lastLine === undefined && wrongLine === undefined
    const errors = lastLine === undefined ? '' : `: ${lastLine}`
    rpc.fail(
      new Error(isSilent ? `it ${how} and printed nothing` : `it ${how}${errors}${wrongOutput()}`),
    )
  })
  const wrongOutput = () =>
    wrongLine === undefined
      ? ''
      : `; its standard output, which is for MCP messages only, has the text \`${wrongLine}\``
  const describeOutput = () => {
    const lastLine = mainLine(printed)
    return `${lastLine === undefined ? '' : `; it printed \`${lastLine}\``}${wrongOutput()}`
  }
  signal.addEventListener('abort', () => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), SCAN_END_MS_MAX)
    child.on('close', () => clearTimeout(late))
    if (child.exitCode !== null || child.signalCode !== null) clearTimeout(late)
    rpc.fail(new Error('too late'))
  })
  const ask: SendRpc = async (method, params, wantsAnswer) => {
    if (wantsAnswer) return resultOf(await rpc.ask(method, () => params))
    rpc.notify(method, params)
    return null
  }
  return { ask, end: () => void child.kill('SIGTERM'), describeOutput }
}

/** Throws if the response is an error. */
function resultOf({ error, result = null }: JsonObject): JsonValue {
  if (error !== undefined) throw new Error(JSON.stringify(error).slice(0, 300))
  return result
}

/** Of a program's stderr: the line that names the error, or the last one. npm names it after its code,
 * and ends with the place of a log. */
function mainLine(printed: string): string | undefined {
  const lines = printed.split('\n').map((line) => line.trim())
  return (
    lines.find((line) =>
      /^npm (error|ERR!) (?!code\b|errno\b|path\b|A complete log)\S.*\s/i.test(line),
    ) ??
    lines.find((line) => /^(\w*Error\b|error\b)/i.test(line)) ??
    lines.findLast(Boolean)
  )
}

/** Length of stderr that is kept: longer than the stack under the line that matters. */
const OUTPUT_LENGTH_MAX = 4_000
