// What the agents commands share: the options that say where agents live and which models there are,
// the service opened for one command and closed after it, and errors of the room as the command
// line's own. The room is loaded only by what runs agents.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Service } from '../agents/service.ts'
import { LOCAL_USER } from '../identity/names.ts'
import { CliError } from './errors.ts'
import { printable } from './output.ts'

export interface AgentsOptions {
  readonly data: string
  readonly scripts?: string
  readonly provider: readonly string[]
  readonly json?: boolean
}

/** Agents of the command line and of `agents serve` are the local user's. */
export const OWNER = LOCAL_USER.id

export function addAgentsOptions(command: Command): Command {
  const gather = (value: string, all: readonly string[]): readonly string[] => [...all, value]
  return command
    .option('--data <dir>', 'the data directory', './.sluice')
    .option('--scripts <dir>', 'where `script:` models are; <data>/scripts unless said')
    .option('--provider <name=url>', 'a server that speaks OpenAI chat completions', gather, [])
}

export async function openAgents(options: AgentsOptions): Promise<Service> {
  const { Service: Agents } = await import('../agents/service.ts')
  const directory = resolve(options.data)
  return Agents.start({
    directory,
    models: {
      environment: process.env,
      providers: Object.fromEntries(options.provider.map(readProvider)),
      scripts: resolve(options.scripts ?? `${directory}/scripts`),
      prices: {},
    },
    warn: (message) => process.stderr.write(`warn  ${printable(message)}\n`),
  })
}

function readProvider(text: string): [string, { url: string; keyFrom?: string }] {
  const [, name = '', url = ''] = /^([a-z][a-z0-9_-]{0,63})=(https?:\/\/.+)$/.exec(text) ?? []
  if (name === '')
    throw new CliError(
      'CLI_ARGUMENT',
      `--provider is \`${text}\``,
      'write a name and a URL, such as `lab=http://127.0.0.1:8000/v1`',
    )
  const keyFrom = `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`
  return [name, process.env[keyFrom] ? { url, keyFrom } : { url }]
}

/** Runs `work` on the agents of the data directory and closes them, whatever happens. */
export async function withAgents<T>(
  options: AgentsOptions,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  let service: Service | undefined
  try {
    service = await openAgents(options)
    return await work(service)
  } catch (error) {
    throw told(error)
  } finally {
    await service?.close()
  }
}

function told(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (!/^(AGENT|MODEL|TOOL|TEMPLATE|RVF|OUTCOME|PROGRAM|SANDBOX|STORE)_/.test(code ?? ''))
    return error
  const help =
    message?.includes('STORE_LOCKED') === true
      ? 'another process runs the agents of this directory: ask it, or stop it'
      : 'docs/errors.md says what to do about each code'
  return new CliError('CLI_AGENTS', `${message} (${code})`, help)
}
