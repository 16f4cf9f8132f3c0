// `sluice init --hooks`: lets the clients of this machine ask the gate before they use a tool. Adds a server
// and a grant for each client to sluice.yaml and the hooks to the client's settings, after showing every line.
// Without `--enforce` a client goes on if no gate answers; with it, it stops, so a gate is started first, and
// the client starts one with each session.

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { hashGrantToken, makeToken } from '@sluice/access/identity/callers/grant'
import { putEntries, readWritten } from '@sluice/gateway/config/edit-servers'
import { hookHeaderName } from '@sluice/gateway/config/keys'
import { CLIENT_NAMES, HOOK_CLIENTS, type HookClient } from '@sluice/gateway/hooks/hook-event'
import {
  HOOK_ANSWER_SECONDS,
  type HookSetup,
  listHookEntries,
  readHookEntry,
} from '@sluice/gateway/hooks/settings'
import { addObserveMode, isObserveOnly } from '@sluice/gateway/state/observe-mode'
import { attempt } from '@sluice/policy/core/attempt'
import { confirm } from '../terminal/ask.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readClientVersion } from './client-version.ts'
import { dataOf, gateAddress } from './config.ts'
import { changeFile } from './files/change-file.ts'
import { CLIENTS } from './files/client.ts'
import type { Machine } from './files/client-files.ts'
import { edit, listHooks, putHooks, removeHooks } from './files/json-hooks.ts'
import { hookFile, hookFolder } from './hook-file.ts'
import { type HookState, readHookState } from './hook-state.ts'
import { readHooked, writeRecord } from './move/move-log.ts'
import { PACKAGE, thisMachine } from './place.ts'
import { PLAIN_POLICY } from './plain-policy.ts'
import { type PackPlan, planPack } from './plan-pack.ts'
import { type Change, showChanges } from './show.ts'
import { writeChange } from './write-change.ts'

export interface HookOptions {
  readonly config: string
  readonly hooks: true | readonly string[]
  readonly enforce?: boolean
  /** The folder that stands for `/`: hooks go into the machine-wide files of the clients. */
  readonly managed?: string
  readonly yes?: true | readonly string[]
  readonly dryRun?: boolean
}

type ClientChange = Change & { readonly client: HookClient }
type Tokens = ReadonlyMap<HookClient, string>

/** Throws unless a person agrees: with their PIN if somebody has one, else at a terminal. */
export type ProveHooks = (data: string, what: string) => Promise<void>

export async function initHooks(
  options: HookOptions,
  prove: ProveHooks,
  output: Output,
): Promise<0 | 1> {
  const config = resolve(options.config)
  const machine = thisMachine([])
  const clients = chooseClients(options, machine)
  const tokens = new Map(clients.map((client) => [client, tokenFor(client, config, machine)]))
  // The files for all users are read by all of them.
  const mode = options.managed === undefined ? 0o600 : 0o644
  const own = gateChanges(config, tokens, { mode, blocks: isBlocking(options) })
  const hooked = clientChanges({ ...options, config }, own[0]?.after ?? '', tokens, machine).map(
    (change) => ({ ...change, mode }),
  )
  const changes = [...own, ...hooked].filter(({ before, after }) => before !== after)
  const pack = planPack(config, own, clients)
  showChanges(changes, [...tokens.values()], output)
  showPack(pack, output)
  output.value({ clients, changes: changes.map(({ file }) => file), pack: pack.kind })
  if (changes.length === 0) output.line('the hooks are there already')
  if (options.dryRun === true || (changes.length === 0 && pack.kind !== 'change')) return 0
  if (changes.length > 0 && !(await isAgreed(options, 'write these lines?', output))) return 1
  const isOpened = hooked.some(
    ({ file, before, after }) => blocks(before, file) && !blocks(after, file),
  )
  if (isOpened) await prove(dataOf(config), 'init --hooks')
  for (const change of own) await writeChange(change)
  const isPackAdded =
    pack.kind === 'change' &&
    (await isAgreed(options, 'add these rules to the policy, too?', output))
  if (isPackAdded) await writePack(pack.change)
  if (options.enforce === true) ensureGate(config)
  for (const change of hooked) await writeHooks(recordOf(config), change)
  tellNext(options, clients, output)
  if (pack.kind === 'change' && !isPackAdded)
    output.line('the clients have no rules of their own yet: run the command again to add them')
  if (isPackAdded && !isObserveOnly(pack.change.after))
    output.line(
      'the new rules may loosen the policy in force: `sluice policy apply` shows and applies them',
    )
  return 0
}

function chooseClients({ hooks, managed }: HookOptions, machine: Machine): HookClient[] {
  const known = HOOK_CLIENTS.join(', ')
  if (hooks === true || hooks.length === 0) {
    const there = HOOK_CLIENTS.filter(
      (client) => managed !== undefined || existsSync(hookFolder(client, machine)),
    )
    if (there.length > 0) return there
    const help = `name one: \`sluice init --hooks claude-code\` (${known})`
    throw new CliError('CLI_FILE', 'no client with hooks was found', help)
  }
  const other = hooks.find((name) => !(HOOK_CLIENTS as string[]).includes(name))
  if (other === undefined) return hooks as HookClient[]
  throw new ArgumentError(`no client with hooks is called \`${other}\``, `one of ${known}`)
}

/** The token that the client has, if sluice.yaml knows it; else a new one. */
function tokenFor(client: HookClient, config: string, machine: Machine): string {
  const files = [hookFile(client, machine), headerFile(config, client)]
  const [token = ''] = TOKEN.exec(files.map((file) => readIfThere(file) ?? '').join()) ?? []
  const grants = readWritten(readIfThere(config) ?? '', 'grants')
  return grants[`${client}-hooks`]?.hash === hashOf(token) ? token : makeToken()
}

function hashOf(token: string): string {
  return `sha256:${hashGrantToken(token)?.toString('hex')}`
}

/** sluice.yaml with a server and a grant for each client, a policy if there is none, and the tokens of scripts. */
function gateChanges(
  config: string,
  tokens: Tokens,
  { mode, blocks }: { readonly mode: number; readonly blocks: boolean },
): Change[] {
  const before = readIfThere(config)
  const servers = [...tokens.keys()].map((client) => ({ name: client, entry: { builtin: client } }))
  const grants = [...tokens].map(([client, token]) => {
    // Of a script nobody knows who started it, so its prompts are not the user's.
    const prompt = client === 'claude-code' ? { prompt: true } : {}
    const entry = { hash: hashOf(token), policy: 'policy', hooks: client, ...prompt }
    return { name: `${client}-hooks`, entry }
  })
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
  const isNew = before === undefined && !existsSync(policy)
  // Claude Code asks by itself, unless a hook over HTTP may not block there.
  const scripts = [...tokens].filter(([client]) => client !== 'claude-code' || blocks)
  return [
    change(config, after),
    ...(isNew ? [change(policy, addObserveMode(PLAIN_POLICY))] : []),
    ...scripts.map(([client, token]) => ({
      ...change(headerFile(config, client), `Authorization: Bearer ${token}\n`),
      mode,
    })),
  ]
}

/** The settings of each client with its hooks; `text` is what sluice.yaml is going to be. */
function clientChanges(
  options: HookOptions,
  text: string,
  tokens: Tokens,
  machine: Machine,
): ClientChange[] {
  const { config, managed } = options
  const { local: url } = gateAddress(config, text, [])
  const quote = (...words: string[]) =>
    words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  const changes = [...tokens].map(([client, token]) => {
    const at = `${url}/hooks/${client}`
    const script = quote(join(PACKAGE, 'bin/sluice-hook'), at, headerFile(config, client))
    const blocks = isBlocking(options)
    const setup: HookSetup = {
      url: at,
      token,
      ask: `${script} ${HOOK_ANSWER_SECONDS}`,
      start: `${quote(process.execPath, SLUICE)} up --ensure --config ${quote(config)}`,
      blocks,
      // Asked for only where something depends on it.
      version: blocks && client === 'claude-code' ? readClientVersion(client) : undefined,
    }
    const entries = listHookEntries(client, setup)
    const isManaged = managed !== undefined
    const file = isManaged ? join(managed, CLIENT_NAMES[client].managed) : hookFile(client, machine)
    if (client === 'codex' && isManaged)
      return { client, ...change(file, writeCodexRequirements(entries)) }
    const base = readIfThere(file) ?? (client === 'copilot' ? '{ "version": 1 }\n' : '')
    const after = putHooks(base, file, entries)
    const isAlone = client === 'claude-code' && isManaged
    return {
      client,
      ...change(file, isAlone ? edit(after, ['allowManagedHooksOnly'], true) : after),
    }
  })
  return managed === undefined ? changes : [...changes, managedServers(managed, url, text)]
}

function isBlocking({ enforce, managed }: HookOptions): boolean {
  return enforce === true || managed !== undefined
}

function writeCodexRequirements(entries: ReturnType<typeof listHookEntries>): string {
  const tables = entries.map(([event, { hooks }]) => {
    const [{ command, timeout }] = hooks as unknown as [{ command: string; timeout: number }]
    return `\n[[hooks.${event}]]\nmatcher = "*"\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${JSON.stringify(command)}\ntimeout = ${timeout}\n`
  })
  return `# Written by \`sluice init --managed\`.\nallow_managed_hooks_only = true\n${tables.join('')}`
}

/** The servers of the gate, for the client that takes a machine-wide list of them. */
function managedServers(root: string, url: string, config: string): ClientChange {
  const servers = Object.entries(readWritten(config, 'servers'))
    .filter(([, { builtin }]) => !HOOK_CLIENTS.some((client) => client === builtin))
    .map(([name]) => [name, { type: 'http', url: `${url}/mcp/${name}` }])
  const file = join(root, 'etc/claude-code/managed-mcp.json')
  const after = edit(readIfThere(file) ?? '{}\n', ['mcpServers'], Object.fromEntries(servers))
  return { client: 'claude-code', ...change(file, after) }
}

const SLUICE = join(PACKAGE, 'bin/sluice.js')
/** Of a grant, in whatever it stands. */
const TOKEN = /sluice_[0-9a-f]{64}/

function headerFile(config: string, client: HookClient): string {
  return join(dirname(config), hookHeaderName(client))
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readText(file) : undefined
}

function change(file: string, after: string): Change {
  const before = readIfThere(file)
  return { file, ...(before === undefined ? {} : { before }), after }
}

function showPack(pack: PackPlan, output: Output): void {
  if (pack.kind === 'change') output.line(printable(pack.summary))
  if (pack.kind === 'impossible') output.remark(pack.why)
}

/** A new policy has been written by now. */
async function writePack({ file, after }: Change): Promise<void> {
  await writeChange(change(file, after))
}

async function isAgreed({ yes }: HookOptions, question: string, output: Output): Promise<boolean> {
  if (yes !== undefined) return true
  const agreed = await confirm(question, output)
  if (!agreed) output.line('nothing of this was written: see --yes')
  return agreed
}

/** A hook that blocks is written only if a gate answers. */
function ensureGate(config: string): void {
  try {
    const args = [SLUICE, 'up', '--ensure', '--config', config]
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

/** The record is written first, and has what was there before the first of our changes. */
async function writeHooks(record: string, written: ClientChange): Promise<void> {
  const { client, file, before = null, after } = written
  if (before === after) return
  const known = readHooked(record)
  const earlier = known.find((one) => one.file === file && one.after === before)
  const mode = earlier?.mode ?? statSync(file, { throwIfNoEntry: false })?.mode
  const entry = {
    client,
    file,
    before: earlier === undefined ? before : earlier.before,
    after,
    ...(mode === undefined ? {} : { mode: mode & 0o777 }),
  }
  writeRecord(record, [...known.filter((one) => one.file !== file), entry])
  // Before the token is in it.
  if (before !== null && written.mode === 0o600 && TOKEN.test(after)) chmodSync(file, 0o600)
  await writeChange(written)
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

/** Each file as it was, byte for byte, or without our hooks if somebody has changed it since. Hooks that block are
 * what stops an agent without a gate, so a person has to agree. */
export async function undoHooks(
  config: string,
  isDry: boolean,
  prove: ProveHooks,
  output: Output,
): Promise<number> {
  const record = recordOf(resolve(config))
  const hooked = readHooked(record)
  if (!isDry && hooked.some(({ file }) => blocks(readIfThere(file), file)))
    await prove(dataOf(resolve(config)), 'init --undo')
  for (const { client, file, before, after, mode } of hooked) {
    const now = readIfThere(file)
    if (now === undefined) continue
    output.line(`${isDry ? 'would restore' : 'restored'}  ${CLIENTS[client]}: hooks  ${file}`)
    if (isDry) continue
    const isOurs = before === null && now === after && !lstatSync(file).isSymbolicLink()
    if (isOurs) rmSync(file)
    else {
      await changeFile(file, (text) => (text === after ? (before ?? '') : removeHooks(text, file)))
      if (mode !== undefined) chmodSync(file, mode)
    }
    rmSync(headerFile(resolve(config), client), { force: true })
  }
  if (!isDry) writeRecord(record, [])
  return hooked.length
}

/** Whether a client with this file stops if no gate answers. A file of another form than JSON is one of the whole
 * machine, whose hooks always block. */
function blocks(text: string | undefined, file: string): boolean {
  if (text === undefined) return false
  return attempt(
    () => listHooks(text, file).some(({ value }) => readHookEntry(value)?.blocks === true),
    true,
  )
}

export interface HooksReport {
  readonly client: HookClient
  readonly file: string
  /** Undefined if the client asks no gate. */
  readonly asks?: HookState
  /** Why the client may not read the file at all. */
  readonly unreadable?: string
  /** Hooks that others have put there, which may change a call after the gate has decided on it. */
  readonly foreign: number
}

export function inspectHooks(): HooksReport[] {
  return HOOK_CLIENTS.flatMap((client): HooksReport[] => {
    const file = hookFile(client, thisMachine([]))
    const text = readIfThere(file)
    if (text === undefined) return []
    const entries = listHooks(text, file)
    const ours = entries.filter(({ value }) => readHookEntry(value) !== undefined)
    const asks = ours.length === 0 ? {} : { asks: readHookState(client, ours) }
    const foreign = entries.length - ours.length
    return [{ client, file, ...asks, ...unreadableBy(client, text), foreign }]
  })
}

/** Sluice reads comments and last commas; of the clients only Gemini CLI does. */
function unreadableBy(client: HookClient, text: string): { readonly unreadable?: string } {
  if (client === 'gemini') return {}
  try {
    JSON.parse(text)
    return {}
  } catch (error) {
    return { unreadable: (error as Error).message }
  }
}

/** Whether the hooks of a client go to the gate at one of these addresses. The port tells gates of a machine
 * apart; the same one has several names. */
export function asksGateAt({ asks }: HooksReport, urls: readonly string[]): boolean {
  const portOf = (url: string) => attempt(() => new URL(url).port, '')
  return asks !== undefined && urls.some((url) => portOf(url) === portOf(asks.url))
}
