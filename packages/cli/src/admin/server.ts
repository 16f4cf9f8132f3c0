// `sluice server add | remove | list | restart | accept`: servers come and go while the gate runs. What
// would be started is shown whole before the PIN is asked for; no shell reads any of it.

import { dirname, resolve } from 'node:path'
import type { GateConfig } from '@sluice/gateway/config/config'
import { resolveCommand } from '@sluice/gateway/config/work-directory'
import { isHookClient } from '@sluice/gateway/hooks/clients/table'
import { checkWords } from '@sluice/gateway/operations/check-words'
import {
  ACCEPT_SERVER,
  LIST_SERVERS,
  PUT_SERVER,
  REMOVE_SERVER,
  RESTART_SERVER,
  type ServerList,
} from '@sluice/gateway/operations/servers'
import { SHOW_STATUS } from '@sluice/gateway/operations/status'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import type { OperationError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { Command } from 'commander'
import { addOperationCommand, askIfRunning } from '../connect/ask-operation.ts'
import { type ConfigOptions, loadConfig, parseConfigFor } from '../connect/load-config.ts'
import type { DataPlace } from '../connect/offline-parts.ts'
import { many, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, printable } from '../terminal/output.ts'

const ADD_OPTIONS = {
  '--url <url>': 'a server over HTTP',
  '--env <NAME=value>': many('environment of the command; may be repeated'),
  '--header <name=value>': many('sent to the url; may be repeated'),
  '--cwd <dir>': 'working directory of the command',
  '--login': 'the server uses OAuth: sign in with `sluice login NAME`',
  '--replace': 'change the server of this name',
} as const

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

const LOCK_EXAMPLES = `
Examples:
  sluice server lock notes --write ./notes --host api.notes.example
  sluice server lock notes --read ~/.config/notes --host db.internal:5432
  sluice server lock notes --add          also the hosts that it was refused
  sluice server lock claude-code --host packages.example    lines of a client run in a box

Writes \`sandbox\` under the server, in sluice.yaml, after you have seen every line and given your PIN (role admin).
From then on it sees the system's programs, its own packages and these lines, and reaches these hosts. Needs
Linux with bubblewrap; without it a locked server is not started.`

export function add(program: Command, answer: SetExitCode): void {
  const server = program.command('server').helpCommand(false).addHelpText('after', EXAMPLES)
  addAdd(server, answer)
  addLock(server, answer)
  const args = { name: '<name>' }
  addOperationCommand(server, answer, {
    row: REMOVE_SERVER,
    args,
    find: findServers,
    print: ({ server }, output) => output.line(`removed: ${printable(server)}`),
  })
  addOperationCommand(server, answer, {
    row: LIST_SERVERS,
    find: findServers,
    print: printServers,
  })
  addOperationCommand(server, answer, {
    row: RESTART_SERVER,
    args,
    find: findServers,
    print: ({ server }, output) =>
      output.line(`restarted: ${printable(server)}, once its open calls are answered`),
  })
  addOperationCommand(server, answer, {
    row: ACCEPT_SERVER,
    description: 'accept a server that an edit of sluice.yaml adds or changes',
    args,
    omit: ['digest'],
    examples: ACCEPT_EXAMPLES,
    find: findServers,
    ask: async (client, { name }, _, output) => {
      const digest = showPending(name, await client.ask(LIST_SERVERS, {}), output)
      return client.ask(ACCEPT_SERVER, { name, digest })
    },
    print: ({ server }, output) =>
      output.line(`${output.paint('green', 'accepted')}: ${printable(server)}`),
  })
}

function addLock(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: PUT_SERVER,
    name: 'lock',
    description: 'let a server do only what its `sandbox` names',
    args: { name: '<name>' },
    omit: ['entry', 'replaces', 'digest'],
    options: {
      '--read <path>': many('it may read this file or folder; may be repeated'),
      '--write <path>': many('it may read and write it; may be repeated'),
      '--host <name>': many('it may reach this host; may be repeated'),
      '--env <NAME>': many('of a client: its lines may see this variable; may be repeated'),
      '--add': 'also the hosts that it was refused',
    },
    examples: LOCK_EXAMPLES,
    find: findServers,
    ask: async (client, { name }, options, output) => {
      const { config, data } = client.place
      const before = config.writtenServers?.[name]
      const isClient = isHookClient(before?.builtin)
      if (before === undefined || (before.command === undefined && !isClient))
        throw new ArgumentError(
          `\`${name}\` is no server with a command and no client in ${config.file}`,
          '`sluice server list` shows what there is',
        )
      const status = options.add ? await askIfRunning(data, SHOW_STATUS, {}) : undefined
      const refused = status?.servers.find((each) => each.name === name)?.refusedHosts ?? []
      const there = isObject(before.sandbox) ? before.sandbox : {}
      const here = (paths: readonly string[]) => paths.map((path) => resolve(path))
      const sandbox = {
        read: merge(there.read, here(options.read)),
        write: merge(there.write, here(options.write)),
        hosts: merge(there.hosts, [...options.host, ...refused]),
        ...(isClient ? { env: merge(there.env, options.env) } : {}),
      }
      if (!isClient && options.env.length > 0)
        throw new ArgumentError('--env is for clients with hooks', 'write `env` under the server')
      output.remark(
        isClient
          ? `lines of \`${name}\` run in a box: their project, no home directory, and this:`
          : `\`${name}\` may do this, and nothing else:`,
      )
      showEntry(sandbox, output)
      output.remark('a refused host is an alert; a refused file is an error for the server alone')
      return client.ask(PUT_SERVER, { name, entry: { ...before, sandbox }, replaces: true })
    },
    print: ({ server, running }, output) => {
      const when = running ? '' : ' (no gate runs: it comes with the next start)'
      output.line(`${output.paint('green', 'locked')}: ${printable(server)}${when}`)
    },
  })
}

function merge(lines: JsonValue | undefined, more: readonly string[]): string[] {
  return [...new Set([...(Array.isArray(lines) ? lines.map(String) : []), ...more])]
}

function addAdd(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: PUT_SERVER,
    name: 'add',
    description: 'add a server, or change one',
    args: { name: '<name>', entry: '[command...]' },
    omit: ['replaces', 'digest'],
    options: ADD_OPTIONS,
    examples: EXAMPLES,
    find: findServers,
    ask: (client, { name, entry: words }, options, output) => {
      const { config } = client.place
      const entry = entryOf(words as readonly string[], options, config.file)
      const before = config.writtenServers?.[name]
      const replaces = options.replace === true
      if (before !== undefined && !replaces)
        throw new ArgumentError(
          `\`${name}\` is in ${options.config} already`,
          'take another name, or say --replace',
        )
      const how = before === undefined ? 'adds' : 'changes'
      output.remark(`${how} \`${name}\` in ${printable(config.file)}:`)
      showEntry(entry, output)
      return client.ask(PUT_SERVER, { name, entry, replaces })
    },
    print: ({ server, how, running }, output) => {
      const when = running ? '' : ' (no gate runs: it comes with the next start)'
      output.line(`${output.paint('green', how)}: ${printable(server)}${when}`)
    },
  })
}

type ServersPlace = DataPlace & { readonly config: GateConfig }

/** The data directory of the configuration, made if there is none yet. */
function findServers(options: ConfigOptions, output: Output): ServersPlace {
  const config = loadConfig(options, output)
  makePrivateFolder(config.data)
  const serverFile = { file: config.file, parse: parseConfigFor(options) }
  return { data: config.data, config, serverFile }
}

function printServers({ servers, pending, why }: ServerList, output: Output): void {
  for (const { name, entry } of servers) output.line(`${printable(name)}: ${describe(entry)}`)
  for (const { name, how, entry, help } of pending)
    output.line(
      `${output.paint('yellow', 'waits')} ${printable(name)} (${how}): ${describe(entry)}; ${printable(help)}`,
    )
  if (why?.startsWith('the servers are as they were')) output.remark(`warning: ${printable(why)}`)
}

/** Returns the digest of what was shown. */
function showPending(name: string, { pending, running }: ServerList, output: Output): string {
  const waiting = pending.find((one) => one.name === name)
  if (waiting === undefined)
    throw new ArgumentError(
      `\`${name}\` does not wait`,
      running
        ? '`sluice server list` shows what does'
        : 'no gate runs: the next start takes sluice.yaml as it is',
    )
  const { how, before, entry, digest } = waiting
  output.remark(`sluice.yaml ${how === 'added' ? 'adds' : 'changes'} \`${name}\`:`)
  if (before !== undefined) {
    const isSame = JSON.stringify(before) === JSON.stringify(entry)
    output.remark(isSame ? 'as written before, but a variable in it has another value' : 'before')
    if (!isSame) showEntry(before, output)
    output.remark('now')
  }
  showEntry(entry, output)
  return digest
}

function entryOf(
  words: readonly string[],
  { url, env, header, cwd, login }: OptionsOf<typeof ADD_OPTIONS>,
  file: string,
): JsonObject {
  if ((url === undefined) === (words.length === 0))
    throw new ArgumentError(
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
    throw new ArgumentError(message, help)
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
      throw new ArgumentError(`${option} is \`${pair}\``, 'write NAME=value')
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

function describe({ command, url, builtin }: JsonObject): string {
  return printable(
    describeValue(command ?? url ?? (builtin === undefined ? '' : `builtin ${builtin}`)),
  )
}
