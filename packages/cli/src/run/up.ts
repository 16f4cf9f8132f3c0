// `sluice up`: runs the gate on sluice.yaml until it is told to stop. One line on stdout when it
// serves; everything else is the log, on stderr.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '@sluice/agents/service/service'
import type { GateConfig } from '@sluice/gateway/config/config'
import type { AdminSite } from '@sluice/gateway/front/http/site'
import { SHOW_STATUS } from '@sluice/gateway/operations/status'
import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { tuneV8 } from '@sluice/gateway/start/tune-v8'
import { trustDataFolder } from '@sluice/ledger/store/files/private-folder'
import { attempt } from '@sluice/policy/structures/attempt'
import { askIfRunning } from '../connect/ask-operation.ts'
import { connectGate } from '../connect/gate-socket.ts'
import { loadConfig, loadDocuments, parseConfigFor } from '../connect/load-config.ts'
import { probePort } from '../connect/probe-port.ts'
import { startGate } from '../connect/start-gate.ts'
import { stopGate } from '../connect/stop-gate.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { FIRST_PIN_MS_MAX } from '../terminal/limits.ts'
import { LOG_FORMATS, makeLog } from '../terminal/log-lines.ts'
import { Output, printable } from '../terminal/output.ts'
import { GivenUpError, hasTerminal, terminal } from '../terminal/terminal.ts'
import { openSessions } from './stop.ts'

const EXAMPLES = `
Examples:
  sluice up                                  runs ./sluice.yaml
  sluice up --config gate/sluice.yaml --port 8080
  sluice up --log json                       a JSON object a line, on stderr
  sluice up --store postgres://sluice@db/sluice   one of several gates

The smallest sluice.yaml:
  version: 1
  servers:
    notes: { command: [npx, -y, "@modelcontextprotocol/server-memory"] }
  policy: ./policy.yaml

Point an MCP client at http://127.0.0.1:7433/mcp/notes, or at http://127.0.0.1:7433/mcp for all servers
at once, with tools called notes__read_graph. Without a policy everything is denied.`

const OPTIONS = {
  '--config <file>': ['the configuration', 'sluice.yaml'],
  '--port <n>': 'port, instead of the one in the configuration; 0 takes a free one',
  '--data <dir>': "the data directory, if it is not the configuration's",
  '--store <address>': 'share the store at postgres://… with other gates',
  '--log <form>': { doc: 'the log on stderr', choices: LOG_FORMATS },
  '--take-over': 'stop a gate that clients started and take its place',
  '--ensure': 'start it in the background if none runs, and wait until it serves',
  '--no-pin': 'do not ask for the first PIN, even on a terminal',
  '--trust-data': 'confirm in a terminal that an existing data directory is yours',
  '--piped': { doc: 'only for pipes; ends with its last client', hidden: true },
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'up',
  options: OPTIONS,
  json: false,
  examples: EXAMPLES,
  run: async (options) => {
    await (options.ensure === true ? ensureGate(options) : up(options))
  },
})

async function up(options: Options): Promise<void> {
  tuneV8()
  const output = new Output({})
  const config = loadConfig(options, output)
  const write = (line: string) => void process.stderr.write(line)
  const piped = options.piped === true
  const form = options.log ?? config.log
  const log = makeLog(form, write, { hasTime: piped })
  const documents = loadDocuments(config, output, log)
  if (options.trustData === true) await confirmData(config.data)
  // Loaded here: the other commands start in half the time without the gate. And before another gate is stopped, whose
  // clients would start the next one themselves.
  const { createCommands } = await import('@sluice/gateway/operations/commands')
  const { runGate, DataInUseError } = await import('@sluice/gateway/start/run-gate')
  const { agentsFor } = await import('./builtin-agents.ts')
  if (!piped) await makeWay(config, options.takeOver === true)
  if (!piped && options.pin) await offerFirstPin(config.data)
  let agents: Service | undefined
  const startAgents = agentsFor(config, log, (service) => {
    agents = service
  })
  const startAdmin = (parts: AdminParts) => adminSite(parts, () => agents)
  const parseConfig = parseConfigFor(options)
  const run = { control: createCommands, piped, log, startAgents, startAdmin, parseConfig }
  const gate = await runGate(config, documents, run).catch((error: Error) => {
    // A pipe wants a gate, not this one.
    if (piped && error instanceof DataInUseError) return undefined
    throw new CliError('CLI_START', error.message, adviseStart(error, config.data))
  })
  if (gate === undefined) return log('info', 'another gate has the data directory')
  // Before anybody can know that it runs, and tell it to stop.
  const stopped = stopSignal()
  const ready = `sluice ready ${gate.url}`
  // Containers merge both streams, and a reader of JSON gets nothing else.
  if (form === 'json') makeLog(form, (line) => void process.stdout.write(line))('info', ready)
  else process.stdout.write(`${ready}\n`)
  if (process.stderr.isTTY && !piped)
    process.stderr.write(
      `clients: ${gate.url}/mcp for all servers, ${gate.url}/mcp/NAME for one; the page: \`sluice console\`\n`,
    )
  const why = await Promise.race([stopped, gate.idle])
  // A second signal ends what the gate still waits for; a third is the system's.
  void stopSignal().then((signal) => {
    log('warn', `stopping at once (${signal})`)
    gate.cut()
  })
  log('info', `stopping (${why})`)
  await gate.stop()
}

/** For hooks of clients, which need a gate before they ask. */
async function ensureGate(options: Options): Promise<void> {
  const { data, file, host, port } = loadConfig(options, new Output({}))
  const socket = (existsSync(data) && (await connectGate(data))) || (await startGate(data, file))
  socket.destroy()
  // Hooks come over HTTP, which a gate serves a moment after its socket. Not by `probePort`: it listens there
  // itself, and a gate that begins to meanwhile finds its port taken and ends.
  for (let tries = 0; tries < ENSURE_TRIES_MAX; tries++) {
    const http = connect(port, host)
    const isServed = await once(http, 'connect').catch(() => undefined)
    http.destroy()
    if (isServed !== undefined) return
    await sleep(ENSURE_PAUSE_MS)
  }
  throw new CliError(
    'CLI_START',
    `the gate does not serve ${host}:${port}`,
    'is it one that pipes have started before there were hooks? run `sluice stop`',
  )
}

const ENSURE_TRIES_MAX = 100
const ENSURE_PAUSE_MS = 50

/** What to do about a gate that could not start; the error may say it itself. */
function adviseStart(
  error: Error & { readonly help?: string; readonly code?: string },
  data: string,
): string {
  if (error.help !== undefined) return error.help
  if (error.code === 'EADDRINUSE') return 'stop the process that uses it, or pass another --port'
  if (error.code === 'EACCES')
    return 'ports below 1024 need rights of their own: pass another --port'
  if (error.code === 'ENOSPC') return `free some space on the disk of ${data}`
  return '`sluice up --help` shows the options'
}

/** A gate that clients started has the data directory: if nobody uses it, it ends; else the person
 * decides, since its clients wait until the new one serves. */
async function makeWay({ data, host, port, tls }: GateConfig, takesOver: boolean): Promise<void> {
  if (!existsSync(data)) return
  const status = await askIfRunning(data, SHOW_STATUS)
  if (status?.isPiped !== true) return
  const clients = openSessions(status)
  if (clients.length > 0 && !takesOver)
    throw new CliError(
      'CLI_START',
      `clients have started a gate on ${data} (process ${status.pid}) and use it`,
      `run \`sluice up --take-over\`: they go on with the new gate; or close them first: ${clients.map(({ name }) => String(name)).join('; ')}`,
    )
  // A gate that could not start in its place would leave them without any.
  const code = await probePort(host, port, tls !== undefined)
  if (code !== undefined)
    throw new CliError(
      'CLI_START',
      code === 'EADDRINUSE' ? `port ${port} is in use` : `port ${port} cannot be used (${code})`,
      adviseStart(Object.assign(new Error(), { code }), data),
    )
  process.stderr.write(
    `taking the place of the gate that clients started (process ${status.pid})\n`,
  )
  await stopGate(data)
}

/** At the terminal itself: a script or a file of the project cannot say it. */
async function confirmData(data: string): Promise<void> {
  if (!existsSync(data))
    throw new CliError('CLI_FILE', `\`${data}\` is not there`, 'leave --trust-data out')
  const typed = await terminal.ask(
    `${printable(data)} decides which policy is in force and who may approve.\nContinue only if your own gate made it, not if it came with a project or an archive.\nType \`trust\` to use it: `,
  )
  if (typed?.trim() !== 'trust')
    throw new CliError('CLI_TERMINAL', 'the data directory was not confirmed', 'nothing was done')
  trustDataFolder(data)
}

/** Before an agent can reach the gate, and its shell the command line. A user who starts it without a
 * terminal, or would rather not, is told how to do it later. */
async function offerFirstPin(data: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY || !hasTerminal()) return
  const { askFirstPin, peopleOffline } = await import('../connect/prove-person.ts')
  const { DataLock } = await import('@sluice/gateway/data/data-lock')
  using lock = attempt(() => DataLock.take(data))
  // Another gate has it, or it cannot be written: the start says so.
  if (lock === undefined) return
  const { anybody } = await peopleOffline(data, { do: 'people' })
  if (anybody === true) return
  const why = 'Calls that a rule holds wait for a person. Nobody can approve any yet.'
  await askFirstPin((request) => peopleOffline(data, request), {
    why,
    withinMs: FIRST_PIN_MS_MAX,
  }).catch((error: Error) => {
    // Ctrl-C ends the command as everywhere else; another error is no reason not to start.
    if (error instanceof GivenUpError) throw error
    process.stderr.write(`sluice: ${error.message}\n`)
  })
}

function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM']
    if (process.stdin.isTTY) signals.push('SIGHUP')
    for (const signal of signals) process.once(signal, () => resolve(signal))
  })
}

/** `agents`: undefined if the gate runs none. */
function adminSite(parts: AdminParts, agents: () => Service | undefined): AdminSite {
  let loading: Promise<AdminSite> | undefined
  let loaded: AdminSite | undefined
  const site = (): Promise<AdminSite> => {
    loading ??= import('@sluice/console/start-admin').then(({ startAdmin }) => {
      loaded = startAdmin(parts, agents)
      return loaded
    })
    return loading
  }
  return {
    serve: async (request, response) => (await site()).serve(request, response),
    words: {
      console: async (request) => (await site()).words.console?.(request) ?? {},
      invite: async (request) => (await site()).words.invite?.(request) ?? {},
    },
    close: () => loaded?.close(),
  }
}
