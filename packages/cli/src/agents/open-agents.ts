// What the agents commands share: the options that say where agents live and which models there are,
// the agents reached through the gate that runs them or opened for one command and closed after it,
// and errors of the module as the command line's own. The module is loaded only by what runs agents.

import { resolve } from 'node:path'
import { LOCAL_USER } from '@sluice/access/identity/names'
import type { ProgressListener } from '@sluice/agents/runs/run-watch'
import type { Service } from '@sluice/agents/service/service'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import { DIRECTORY } from '../connect/find-data.ts'
import { waitForGate } from '../connect/run-on-owner.ts'
import {
  type AddCommand,
  type CommandDefinition,
  type CommandOptions,
  defineCommand,
  type ExitCode,
  type Flags,
  many,
  type OptionsOf,
} from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'
import { printable } from '../terminal/output.ts'
import type { AgentsApi, ProgressWatch } from './agents-api.ts'

export const AGENTS = {
  ...DIRECTORY,
  '--server <name>': ['name of the server in the gate that runs the agents', 'agents'],
  '--scripts <dir>': 'folder of `script:` models (default: <data>/scripts)',
  '--provider <name=url>': many('a server that speaks OpenAI chat completions'),
  '--price <model=in/out>': many('price of a million tokens of a model'),
} as const

export type AgentsOptions = OptionsOf<typeof AGENTS>

/** As the tools answer. */
export interface AgentToolView {
  readonly id: string
  readonly state: string
  readonly model: string
  readonly turnCount: number
  readonly fileCount: number
}

/** Agents of the command line and of `agents serve` are the local user's. */
export const OWNER = LOCAL_USER.id

async function openAgents(options: AgentsOptions): Promise<Service> {
  const { Service: Agents } = await import('@sluice/agents/service/service')
  const directory = resolve(options.data)
  if (isSharedCopy(directory))
    throw new CliError(
      'CLI_AGENTS',
      `the agents of \`${options.data}\` are in a shared store, and no gate runs here`,
      'start the gate, or use --data of one that runs',
    )
  return Agents.start({
    directory,
    models: {
      environment: process.env,
      providers: Object.fromEntries(options.provider.map(readProvider)),
      scripts: resolve(options.scripts ?? `${directory}/scripts`),
      prices: Object.fromEntries(options.price.map(readPrice)),
    },
    warn: (message) => process.stderr.write(`warn  ${printable(message)}\n`),
  })
}

function readProvider(text: string): [string, { url: string; keyFrom?: string }] {
  const [, name = '', url = ''] = /^([a-z][a-z0-9_-]{0,63})=(https?:\/\/.+)$/.exec(text) ?? []
  if (name === '')
    throw new ArgumentError(
      `--provider is \`${text}\``,
      'write a name and a URL, such as `lab=http://127.0.0.1:8000/v1`',
    )
  const keyFrom = `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`
  return [name, process.env[keyFrom] ? { url, keyFrom } : { url }]
}

function readPrice(text: string): [string, { inputMicros: number; outputMicros: number }] {
  const number = String.raw`(\d{1,9}(?:\.\d{1,6})?)`
  const form = new RegExp(`^([a-z][a-z0-9_-]{0,63}:[^=]+)=${number}/${number}$`)
  const [, model = '', input, output] = form.exec(text) ?? []
  if (model === '')
    throw new ArgumentError(
      `--price is \`${text}\``,
      'write a model and what a million tokens cost, in and out: `lab:llama3=0.25/1.5`',
    )
  return [model, { inputMicros: Number(input), outputMicros: Number(output) }]
}

type AgentsDefinition<Args, All> = Omit<CommandDefinition<Args, All>, 'run'> & {
  readonly run: (
    agents: AgentsApi,
    options: CommandOptions<Args, All>,
    output: Output,
  ) => Promise<ExitCode>
}

/** A command on the agents of a data directory. */
// biome-ignore lint/complexity/noBannedTypes: without a table there are no values
export function defineAgentsCommand<const Args extends Flags = {}, const All extends Flags = {}>({
  options: own,
  run,
  ...definition
}: AgentsDefinition<Args, All>): AddCommand {
  return defineCommand({
    ...definition,
    options: { ...AGENTS, ...own },
    run: (options, output) => {
      // Of two tables that are joined the compiler does not derive the options of each.
      const all = options as never
      return withAgents(all, (agents) => run(agents, all, output))
    },
  })
}

/** Runs `work` on the agents of the data directory, by the gate that has them or here. */
async function withAgents<T>(
  options: AgentsOptions,
  work: (agents: AgentsApi) => Promise<T>,
): Promise<T> {
  const { agentsOfGate } = await import('./gate-agents-api.ts')
  const directory = resolve(options.data)
  await waitForGate(directory)
  const there = await agentsOfGate(directory, options.server)
  if (there === undefined) return withService(options, (service) => workHere(service, work))
  const unused = [...options.provider, ...options.price, options.scripts ?? ''].some(Boolean)
  if (unused)
    process.stderr.write('a gate runs these agents: models are those of its configuration\n')
  try {
    return await work(there)
  } finally {
    await there.close()
  }
}

async function workHere<T>(service: Service, work: (agents: AgentsApi) => Promise<T>): Promise<T> {
  const { callTool } = await import('@sluice/agents/tools/all-tools')
  const { Gallery } = await import('@sluice/agents/tools/gallery')
  const gallery = new Gallery(service.steps)
  return work({
    service,
    close: async () => {},
    call: async <View>(tool: string, args: object, watch?: ProgressWatch) => {
      const onProgress: ProgressListener = {
        onEvent: ({ turn, message }) => watch?.onProgress(`turn ${turn}: ${message}`),
        ...(watch?.onText === undefined ? {} : { onText: (text) => watch.onText?.(text) }),
      }
      const signal = watch?.signal ?? new AbortController().signal
      const setting = { service, gallery, owner: OWNER, parent: undefined, signal, onProgress }
      return (await callTool(tool, args, setting)) as View
    },
  })
}

/** Opens the agents of the data directory and closes them, whatever happens. */
export async function withService<T>(
  options: AgentsOptions,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  let service: Service | undefined
  try {
    service = await openAgents(options)
    return await work(service)
  } catch (error) {
    throw toAgentsCliError(error)
  } finally {
    await service?.close()
  }
}

function toAgentsCliError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (!/^(AGENT|MODEL|TOOL|TEMPLATE|RVF|OUTCOME|PROGRAM|SANDBOX|STORE)_/.test(code ?? ''))
    return error
  const help = /STORE_LOCKED|database is locked/.test(message ?? '')
    ? 'another process runs the agents of this directory: stop it, or name the agents of the gate with --server'
    : 'docs/reference/errors.md says what to do about each code'
  return new CliError('CLI_AGENTS', `${message} (${code})`, help)
}
