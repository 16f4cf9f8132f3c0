// `sluice init --hooks`: lets the clients of this machine ask the gate before they use a tool. Adds a server
// and a grant for each client to sluice.yaml and the hooks to the client's settings, after showing every line.
// Without `--enforce` a client goes on if no gate answers; with it, it stops, so a gate is started first, and
// the client starts one with each session.

import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@sluice/policy/core/json'
import { readConfig } from '../gateway/config/config.ts'
import { putEntries, readWritten } from '../gateway/config/edit-servers.ts'
import { addObserveMode } from '../gateway/state/observe-mode.ts'
import { HOOK_CLIENTS, type HookClient } from '../hooks/hook-event.ts'
import { HOOK_ANSWER_SECONDS, listHookEntries, readHookEntry } from '../hooks/settings.ts'
import { hashGrantToken, makeToken } from '../identity/callers/grant.ts'
import { CliError } from '../terminal/errors.ts'
import type { Output } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { askerFor } from './ask.ts'
import { environmentWith } from './config.ts'
import { changeFile } from './files/change-file.ts'
import { CLIENTS } from './files/client.ts'
import type { Machine } from './files/client-files.ts'
import { edit, listHooks, putHooks, removeHooks } from './files/json-hooks.ts'
import { hookFile } from './hook-file.ts'
import { type HookedFile, readHooked, writeHooked } from './move/move-log.ts'
import { thisMachine } from './place.ts'
import { PLAIN_POLICY } from './plain-policy.ts'
import { type Change, showChanges } from './show.ts'

export interface HookOptions {
  readonly config: string
  readonly hooks: true | readonly string[]
  readonly enforce?: boolean
  /** The folder that stands for `/`: hooks go into the machine-wide files of the clients. */
  readonly managed?: string
  readonly yes?: true | readonly string[]
  readonly dryRun?: boolean
}

/** Machine-wide files, which only an administrator can write and users cannot override. */
const MANAGED: Readonly<Record<HookClient, string>> = {
  'claude-code': 'etc/claude-code/managed-settings.json',
  codex: 'etc/codex/requirements.toml',
  copilot: 'etc/github-copilot/policy.d/sluice.json',
  gemini: 'etc/gemini-cli/settings.json',
}

/** A managed file with the hooks, and what keeps users from adding others. */
function manage(client: HookClient, text: string, entries: HookEntries): string {
  if (client === 'codex') return writeCodexRequirements(entries)
  const hooked = putHooks(text, MANAGED[client], entries)
  return client === 'claude-code' ? edit(hooked, ['allowManagedHooksOnly'], true) : hooked
}

type HookEntries = ReturnType<typeof listHookEntries>

function writeCodexRequirements(entries: HookEntries): string {
  const tables = entries.map(([event, { hooks }]) => {
    const [{ command, timeout }] = hooks as unknown as [{ command: string; timeout: number }]
    return `\n[[hooks.${event}]]\nmatcher = "*"\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${JSON.stringify(command)}\ntimeout = ${timeout}\n`
  })
  return `# Written by \`sluice init --managed\`.\nallow_managed_hooks_only = true\n${tables.join('')}`
}

/** The servers of the gate, for clients that take a machine-wide list of them. */
function managedServers(root: string, url: string, config: string): WrittenHooks {
  const servers = Object.entries(readWritten(config, 'servers')).filter(
    ([, { builtin }]) => !HOOK_CLIENTS.some((client) => client === builtin),
  )
  const list = (form: (url: string) => JsonObject) =>
    Object.fromEntries(servers.map(([name]) => [name, form(`${url}/mcp/${name}`)]))
  const file = join(root, 'etc/claude-code/managed-mcp.json')
  const before = existsSync(file) ? readText(file) : undefined
  const after = edit(
    before ?? '{}\n',
    ['mcpServers'],
    list((at) => ({ type: 'http', url: at })),
  )
  return { client: 'claude-code', file, before, after }
}

type WrittenHooks = Omit<HookedFile, 'before'> & { readonly before: string | undefined }

export async function initHooks(options: HookOptions, output: Output): Promise<0 | 1> {
  const config = resolve(options.config)
  const machine = thisMachine([])
  const { managed } = options
  const clients =
    managed !== undefined && options.hooks === true
      ? [...HOOK_CLIENTS]
      : chooseClients(options.hooks, machine)
  const tokens = new Map(clients.map((client) => [client, tokenFor(client, config, machine)]))
  const mode = managed === undefined ? 0o600 : 0o644
  const own = gateChanges(config, tokens, mode)
  const text = own[0]?.after ?? ''
  const { url } = gateAddress(config, text)
  const hooked: WrittenHooks[] = clients.map((client) => {
    const file = managed === undefined ? hookFile(client, machine) : join(managed, MANAGED[client])
    const before = existsSync(file) ? readText(file) : undefined
    const setup = {
      url: `${url}/hooks/${client}`,
      token: tokens.get(client) ?? '',
      ...commandLines(config, client, url),
      blocks: options.enforce === true || managed !== undefined,
    }
    const base = before ?? (client === 'copilot' ? '{ "version": 1 }\n' : '')
    const entries = listHookEntries(client, setup)
    const after =
      managed === undefined ? putHooks(base, file, entries) : manage(client, base, entries)
    return { client, file, before, after }
  })
  if (managed !== undefined) hooked.push(managedServers(managed, url, text))
  const changes: Change[] = [
    ...own,
    ...hooked.map(({ before, ...one }) => ({
      ...one,
      ...(before === undefined ? {} : { before }),
    })),
  ].filter(({ before, after }) => before !== after)
  showChanges(changes, [...tokens.values()], output)
  output.value({ clients, changes: changes.map(({ file }) => file) })
  if (changes.length === 0) output.line('the hooks are there already')
  if (options.dryRun === true || changes.length === 0) return 0
  if (!(await isAgreed(options, output))) return 1
  for (const { file, after, mode } of own) writeWhole(file, after, mode)
  if (options.enforce === true) ensureGate(config)
  const record = recordOf(config)
  for (const one of hooked) await writeHooks(record, one, mode)
  tellNext(options, clients, output)
  return 0
}

function chooseClients(named: true | readonly string[], machine: Machine): HookClient[] {
  if (named !== true && named.length > 0)
    return named.map((name) => {
      const client = HOOK_CLIENTS.find((one) => one === name)
      if (client !== undefined) return client
      throw new CliError(
        'CLI_ARGUMENT',
        `no client with hooks is called \`${name}\``,
        `one of ${HOOK_CLIENTS.join(', ')}`,
      )
    })
  const there = HOOK_CLIENTS.filter((client) => {
    const folder = dirname(hookFile(client, machine))
    return existsSync(client === 'copilot' ? dirname(folder) : folder)
  })
  if (there.length > 0) return there
  throw new CliError(
    'CLI_FILE',
    'no client with hooks was found',
    `name one: \`sluice init --hooks claude-code\` (${HOOK_CLIENTS.join(', ')})`,
  )
}

/** The token that the client has, if sluice.yaml knows it; else a new one. */
function tokenFor(client: HookClient, config: string, machine: Machine): string {
  const grants = existsSync(config) ? readWritten(readText(config), 'grants') : {}
  const files = [hookFile(client, machine), headerFile(config, client)].filter((file) =>
    existsSync(file),
  )
  const [token] = files.flatMap((file) => /sluice_[0-9a-f]{64}/.exec(readText(file)) ?? [])
  const isKnown = token !== undefined && grants[`${client}-hooks`]?.hash === hashOf(token)
  return isKnown ? token : makeToken()
}

function hashOf(token: string): string {
  return `sha256:${hashGrantToken(token)?.toString('hex')}`
}

/** sluice.yaml with a server and a grant for each client, a policy if there is none, and the tokens of scripts. */
function gateChanges(
  config: string,
  tokens: ReadonlyMap<HookClient, string>,
  mode: number,
): Change[] {
  const before = existsSync(config) ? readText(config) : undefined
  const servers = [...tokens.keys()].map((client) => ({ name: client, entry: { builtin: client } }))
  // Of a script nobody knows who started it, so its prompts are not the user's.
  const grants = Array.from(tokens, ([client, token]) => ({
    name: `${client}-hooks`,
    entry: {
      hash: hashOf(token),
      policy: 'policy',
      hooks: client,
      ...(client === 'claude-code' ? { prompt: true } : {}),
    },
  }))
  const fresh = before ?? 'version: 1\nservers: {}\npolicy: ./policy.yaml\n'
  const withServers = putEntries(fresh, 'servers', servers)
  const after = withServers && putEntries(withServers, 'grants', grants)
  if (after === undefined)
    throw new CliError(
      'CLI_FILE',
      `\`${config}\` is written in a way that nothing can be put into`,
      'put `servers:` and `grants:` on lines of their own',
    )
  const policy = join(dirname(config), 'policy.yaml')
  const scripts = [...tokens].filter(([client]) => client !== 'claude-code')
  return [
    { file: config, ...(before === undefined ? {} : { before }), after },
    ...(before === undefined && !existsSync(policy)
      ? [{ file: policy, after: addObserveMode(PLAIN_POLICY) }]
      : []),
    ...scripts.map(([client, token]) => {
      const file = headerFile(config, client)
      const known = existsSync(file) ? { before: readText(file) } : {}
      return { file, ...known, after: `Authorization: Bearer ${token}\n`, mode }
    }),
  ]
}

function headerFile(config: string, client: HookClient): string {
  return join(dirname(config), `sluice.${client}.header`)
}

function gateAddress(config: string, text: string): { url: string } {
  const read = readConfig({ file: config, text }, environmentWith(config, []))
  const { host, port } = read.config ?? { host: '127.0.0.1', port: 7433 }
  return { url: `http://${host}:${port}` }
}

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url))
const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

function commandLines(config: string, client: HookClient, url: string) {
  const script = [join(BIN, 'sluice-hook'), `${url}/hooks/${client}`, headerFile(config, client)]
  const up = [process.execPath, join(BIN, 'sluice.js')]
  return {
    ask: `${script.map(quote).join(' ')} ${HOOK_ANSWER_SECONDS}`,
    start: `${up.map(quote).join(' ')} up --ensure --config ${quote(config)}`,
  }
}

async function isAgreed({ yes }: HookOptions, output: Output): Promise<boolean> {
  if (yes !== undefined) return true
  const asker = askerFor(output.json)
  const agreed = (await asker?.yes('write these lines?')) ?? false
  asker?.close()
  if (!agreed) output.line('nothing was written: see --yes')
  return agreed
}

/** A hook that blocks is written only if a gate answers. */
function ensureGate(config: string): void {
  try {
    const args = [join(BIN, 'sluice.js'), 'up', '--ensure', '--config', config]
    execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: Buffer }
    throw new CliError(
      'CLI_START',
      `no gate can be started, so no hook that blocks was written: ${stderr?.toString().trim() || message}`,
      'fix that, or leave --enforce out',
    )
  }
}

function writeWhole(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
}

async function writeHooks(
  record: string,
  { client, file, before, after }: WrittenHooks,
  mode: number,
): Promise<void> {
  if (before === after) return
  const known = readHooked(record)
  const earlier = known.find((one) => one.file === file && one.after === before)
  const entry = {
    client,
    file,
    before: earlier === undefined ? (before ?? null) : earlier.before,
    after,
  }
  writeHooked(record, [...known.filter((one) => one.file !== file), entry])
  if (before === undefined) return writeWhole(file, after, mode)
  await changeFile(file, (text) => (text === before ? after : undefined))
}

function recordOf(config: string): string {
  return join(dirname(config), 'sluice.hooked.json')
}

function tellNext({ enforce }: HookOptions, clients: readonly HookClient[], output: Output): void {
  output.line(
    enforce === true
      ? 'from the next session on these clients stop if no gate answers; each session starts one: `sluice init --undo` takes it back'
      : 'from the next session on these clients ask the gate, and go on if none answers; `sluice init --hooks --enforce` makes them stop',
  )
  output.line(
    'a gate that runs reads the new servers and grants when it is started again: `sluice stop`, then `sluice up`',
  )
  if (clients.includes('codex'))
    output.line('Codex asks you to trust the new hooks: open `/hooks` in it')
}

/** Each file as it was, byte for byte, or without our hooks if somebody has changed it since. */
export async function undoHooks(config: string, isDry: boolean, output: Output): Promise<number> {
  const record = recordOf(resolve(config))
  const hooked = readHooked(record)
  for (const { client, file, before, after } of hooked) {
    if (!existsSync(file)) continue
    const undone = (text: string) => (text === after ? (before ?? '') : removeHooks(text, file))
    output.line(`${isDry ? 'would restore' : 'restored'}  ${CLIENTS[client]}: hooks  ${file}`)
    if (isDry) continue
    const isOurs = before === null && readFileSync(file, 'utf8') === after
    if (isOurs && !lstatSync(file).isSymbolicLink()) rmSync(file)
    else await changeFile(file, undone)
  }
  if (!isDry) writeHooked(record, [])
  return hooked.length
}

export interface HooksReport {
  readonly client: HookClient
  readonly file: string
  /** Whether the client asks the gate; undefined if it does not. */
  readonly asks?: { readonly blocks: boolean }
  /** Hooks that others have put there, which may change a call after the gate has judged it. */
  readonly foreign: number
}

export function inspectHooks(): HooksReport[] {
  const machine = thisMachine([])
  return HOOK_CLIENTS.flatMap((client): HooksReport[] => {
    const file = hookFile(client, machine)
    if (!existsSync(file)) return []
    const entries = listHooks(readText(file), file)
    const ours = entries.flatMap(({ value }) => readHookEntry(value) ?? [])
    const asks = ours.length === 0 ? {} : { asks: { blocks: ours.some(({ blocks }) => blocks) } }
    return [{ client, file, ...asks, foreign: entries.length - ours.length }]
  })
}
