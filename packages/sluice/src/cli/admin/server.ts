// `sluice server add | remove | list | restart | accept`: servers come and go while the gate runs. What
// would be started is shown whole before the PIN is asked for; no shell reads any of it.

import { dirname, resolve } from 'node:path'
import { isObject, type JsonObject, type JsonValue, listObjects } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import type { OperationError } from '../../core/operation-error.ts'
import type { GateConfig } from '../../gateway/config/config.ts'
import { resolveCommand } from '../../gateway/config/work-directory.ts'
import { checkWords } from '../../operations/check-words.ts'
import { runOperation } from '../../operations/run-operation.ts'
import { createServerOperations } from '../../operations/servers.ts'
import { makePrivateFolder } from '../../store/files/private-folder.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, printable } from '../../terminal/output.ts'
import {
  addConfigOptions,
  type ConfigOptions,
  loadConfig,
  parseConfigFor,
} from '../connect/load-config.ts'
import { withOfflineParts } from '../connect/offline-parts.ts'
import { addProofOption, provePerson } from '../connect/prove-person.ts'
import { runOnOwner } from '../connect/run-on-owner.ts'

interface AddOptions extends ConfigOptions {
  readonly url?: string
  readonly env: readonly string[]
  readonly header: readonly string[]
  readonly cwd?: string
  readonly login?: boolean
  readonly replace?: boolean
}

const EXAMPLES = `
Examples:
  sluice server add notes -- npx -y @modelcontextprotocol/server-memory
  sluice server add github --url https://api.githubcopilot.com/mcp/ --login
  sluice server add db --env 'DB_URL=\${DB_URL}' -- node ./db-server.js
  sluice server list                  what is behind the gate, and what waits for a person
  sluice server restart notes
  sluice server remove notes

Changes sluice.yaml, comments and all else as they were, and the running gate at once: other servers and
their sessions go on, and clients are told that lists have changed. Adding a server is running its code:
the whole command is shown, then your PIN is asked for at the terminal (role admin).`

const ACCEPT_EXAMPLES = `
Examples:
  sluice server list              what waits
  sluice server accept notes

A server that an edit of sluice.yaml adds or changes while the gate runs is not started before a person
has seen it: an agent with a file tool could have written it. What an edit takes away is gone at once.`

export function addServer(program: Command, answer: SetExitCode): void {
  const server = program.command('server').helpCommand(false).addHelpText('after', EXAMPLES)
  const many = (value: string, before: readonly string[]): string[] => [...before, value]
  addConfigOptions(
    addProofOption(server.command('add').description('add a server, or change one'))
      .argument('<name>', 'small letters, digits and `-`')
      .argument('[command...]', 'the program and its arguments, after --')
      .option('--url <url>', 'a server over HTTP')
      .option('--env <NAME=value>', 'environment of the command; may be repeated', many, [])
      .option('--header <name=value>', 'sent to the url; may be repeated', many, [])
      .option('--cwd <dir>', 'working directory of the command')
      .option('--login', 'the server uses OAuth: sign in with `sluice login NAME`')
      .option('--replace', 'change the server of this name'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, command: string[], options: AddOptions) => {
      answer(await add(name, command, options))
    })
  addConfigOptions(server.command('remove').description('remove a server'))
    .argument('<name>', 'the server')
    .action(async (name: string, options: ConfigOptions) => answer(await remove(name, options)))
  addConfigOptions(
    server.command('list').description('the servers, and what waits for a person'),
  ).action(async (options: ConfigOptions) => answer(await list(options)))
  addConfigOptions(
    server.command('restart').description('start the processes of a server again, once idle'),
  )
    .argument('<name>', 'the server')
    .action(async (name: string, options: ConfigOptions) => answer(await restart(name, options)))
  addConfigOptions(
    addProofOption(
      server
        .command('accept')
        .description('accept a server that an edit of sluice.yaml adds or changes'),
    ),
  )
    .argument('<name>', 'the server')
    .addHelpText('after', ACCEPT_EXAMPLES)
    .action(async (name: string, options: ConfigOptions) => answer(await accept(name, options)))
}

async function add(name: string, words: readonly string[], options: AddOptions): Promise<0> {
  const output = new Output(options)
  const config = loadConfig(options, output)
  const entry = entryOf(words, options, config.file)
  const before = config.writtenServers?.[name]
  if (before !== undefined && options.replace !== true)
    throw new CliError(
      'CLI_ARGUMENT',
      `\`${name}\` is in ${options.config} already`,
      'take another name, or say --replace',
    )
  output.remark(
    `${before === undefined ? 'adds' : 'changes'} \`${name}\` in ${printable(config.file)}:`,
  )
  showEntry(entry, output)
  const request = { do: 'server-put', name, entry, replaces: options.replace === true }
  const response = await ask(config, options, request, true)
  output.value(response)
  output.line(`${output.paint('green', String(response.how))}: ${printable(name)}${when(response)}`)
  return 0
}

async function remove(name: string, options: ConfigOptions): Promise<0> {
  const output = new Output(options)
  const response = await ask(loadConfig(options, output), options, { do: 'server-remove', name })
  output.value(response)
  output.line(`removed: ${printable(name)}`)
  return 0
}

async function restart(name: string, options: ConfigOptions): Promise<0> {
  const output = new Output(options)
  const response = await ask(loadConfig(options, output), options, { do: 'server-restart', name })
  output.value(response)
  output.line(`restarted: ${printable(name)}, once its open calls are answered`)
  return 0
}

async function list(options: ConfigOptions): Promise<0> {
  const output = new Output(options)
  const response = await ask(loadConfig(options, output), options, { do: 'server-list' })
  output.value(response)
  for (const { name, entry } of listObjects(response.servers))
    output.line(`${printable(String(name))}: ${describe(entry)}`)
  for (const { name, how, entry } of listObjects(response.pending))
    output.line(
      `${output.paint('yellow', 'waits')} ${printable(String(name))} (${how}): ${describe(entry)}; \`sluice server accept ${name}\``,
    )
  if (typeof response.why === 'string' && response.why.startsWith('the servers are as they were'))
    output.remark(`warning: ${printable(response.why)}`)
  return 0
}

async function accept(name: string, options: ConfigOptions): Promise<0> {
  const output = new Output(options)
  const config = loadConfig(options, output)
  const seen = await ask(config, options, { do: 'server-list' })
  const pending = listObjects(seen.pending).find((one) => one.name === name)
  if (pending === undefined)
    throw new CliError(
      'CLI_ARGUMENT',
      `\`${name}\` does not wait`,
      seen.running === true
        ? '`sluice server list` shows what does'
        : 'no gate runs: the next start takes sluice.yaml as it is',
    )
  output.remark(`sluice.yaml ${pending.how === 'added' ? 'adds' : 'changes'} \`${name}\`:`)
  if (isObject(pending.before)) {
    const isSame = JSON.stringify(pending.before) === JSON.stringify(pending.entry)
    output.remark(isSame ? 'as written before, but a variable in it has another value' : 'before')
    if (!isSame) showEntry(pending.before, output)
    output.remark('now')
  }
  showEntry(isObject(pending.entry) ? pending.entry : {}, output)
  const request = { do: 'server-accept', name, digest: pending.digest ?? null }
  const response = await ask(config, options, request, true)
  output.value(response)
  output.line(`${output.paint('green', 'accepted')}: ${printable(name)}`)
  return 0
}

/** Over the running gate, or alone under the lock of the data directory. */
async function ask(
  config: GateConfig,
  options: ConfigOptions,
  operation: JsonObject & { readonly do: string },
  needsProof = false,
): Promise<JsonObject> {
  const { data, file } = config
  makePrivateFolder(data)
  const request = needsProof ? { ...operation, proof: await provePerson(data, options) } : operation
  return runOnOwner(data, request, () =>
    withOfflineParts({ data }, async (offline) => {
      const { ledger, nowMs } = offline
      const parts = { file, parse: parseConfigFor(options), ledger, nowMs }
      const row = createServerOperations(parts).find(({ socket }) => socket === request.do)
      return row === undefined ? {} : runOperation(row, offline, request)
    }),
  )
}

function entryOf(
  words: readonly string[],
  { url, env, header, cwd, login }: AddOptions,
  file: string,
): JsonObject {
  if ((url === undefined) === (words.length === 0))
    throw new CliError(
      'CLI_ARGUMENT',
      'a server has a command or a url, one of them',
      '`sluice server add NAME -- PROGRAM ARGUMENTS…`, or --url URL',
    )
  if (url !== undefined)
    return {
      url,
      ...(header.length === 0 ? {} : { headers: pairs('--header', header) }),
      ...(login === true ? { auth: 'login' } : {}),
    }
  try {
    checkWords(words)
  } catch (error) {
    const { message, help } = error as OperationError
    throw new CliError('CLI_ARGUMENT', message, help)
  }
  const here = process.cwd()
  // As the person who types it means it: relative to where they are.
  const command = dirname(file) === here ? [...words] : resolveCommand(words, here)
  return {
    command,
    ...(env.length === 0 ? {} : { env: pairs('--env', env) }),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
  }
}

function pairs(option: string, words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((pair) => {
      const [, name, value] = /^([^=\s]+)=(.*)$/s.exec(pair) ?? []
      if (name !== undefined && value !== undefined) return [name, value]
      throw new CliError('CLI_ARGUMENT', `${option} is \`${pair}\``, 'write NAME=value')
    }),
  )
}

function showEntry(entry: JsonObject, output: Output): void {
  for (const [key, value] of Object.entries(entry))
    output.remark(`  ${printable(key)}: ${printable(describeValue(value))}`)
}

/** Word by word, so that it can be seen where one ends. */
function describeValue(value: JsonValue): string {
  if (Array.isArray(value)) return value.map((word) => quote(String(word))).join(' ')
  if (isObject(value))
    return Object.entries(value)
      .map(([key, one]) => `${key}=${quote(String(one))}`)
      .join(' ')
  return String(value)
}

function quote(word: string): string {
  return /^[\w@%+=:,./{}$-]+$/.test(word) ? word : JSON.stringify(word)
}

function describe(entry: JsonValue | undefined): string {
  const { command, url, builtin } = isObject(entry) ? entry : {}
  return printable(
    describeValue(command ?? url ?? (builtin === undefined ? '' : `builtin ${builtin}`)),
  )
}

function when({ running }: JsonObject): string {
  return running === true ? '' : ' (no gate runs: it comes with the next start)'
}
