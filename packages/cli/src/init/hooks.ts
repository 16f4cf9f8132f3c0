// `sluice init --hooks`: lets the clients of this machine ask the gate before they use a tool. Adds a server
// and a grant for each client to sluice.yaml and the hooks to the client's settings, after showing every line.
// Without `--enforce` a client goes on if no gate answers; with it, it stops, so a gate is started first, and
// the client starts one with each session.

import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { hashGrantToken, makeToken } from '@sluice/access/identity/callers/grant'
import { putEntries, readWritten, type WrittenServer } from '@sluice/gateway/config/edit-servers'
import { hookHeaderName } from '@sluice/gateway/config/keys'
import type { HookSetup } from '@sluice/gateway/hooks/clients/coding-client'
import { HOOK_ANSWER_SECONDS, readHookEntry } from '@sluice/gateway/hooks/clients/hook-lines'
import {
  CODING_CLIENTS,
  HOOK_CLIENTS,
  type HookClient,
  isHookClient,
} from '@sluice/gateway/hooks/clients/table'
import { addObserveMode, isObserveOnly } from '@sluice/gateway/state/observe-mode'
import { attempt } from '@sluice/policy/structures/attempt'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { confirm } from '../terminal/ask.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { readClientVersion } from './client-version.ts'
import { dataOf, gateAddress, readGateState } from './config.ts'
import { changeFile } from './files/change-file.ts'
import type { Machine } from './files/client-files.ts'
import { edit, listHooks, putHooks, removeHooks, writePlugin } from './files/json-hooks.ts'
import { hookFile, hookFolder } from './hook-file.ts'
import { type HookState, readHookState } from './hook-state.ts'
import { readHooked, writeRecord } from './move/move-log.ts'
import { offerBox } from './offer-box.ts'
import { PACKAGE, thisMachine } from './place.ts'
import { PLAIN_POLICY } from './plain-policy.ts'
import { type PackPlan, planPack, policyOf } from './plan-pack.ts'
import { addQuiet, checkQuiet } from './plan-quiet.ts'
import { type Change, showChanges } from './show.ts'
import { writeChange } from './write-change.ts'

export interface HookOptions {
  readonly config: string
  readonly hooks: true | readonly string[]
  readonly enforce?: boolean
  /** `quiet: reads` goes into the policy. */
  readonly quiet?: boolean
  readonly yesOtherHooks?: boolean
  /** The clients were never tried with Sluice: what they do is observed. */
  readonly untested?: boolean
  /** Lines of the clients run in a box; without it a person at the terminal is asked. */
  readonly box?: boolean
  /** Folders of projects, whose hosts are offered for the box. */
  readonly project: readonly string[]
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
  const servers = await planServers(clients, { ...options, config }, output)
  const own = gateChanges(config, { tokens, servers, mode, blocks: isBlocking(options) })
  const hooked = clientChanges({ ...options, config }, own[0]?.after ?? '', tokens, machine).map(
    (change) => ({ ...change, mode }),
  )
  const policy = policyOf(config, own[0]?.after ?? '')
  const quiet = options.quiet === true ? planQuiet(options, { policy, own, hooked }, output) : []
  const changes = [...own, ...hooked, ...quiet].filter(({ before, after }) => before !== after)
  const pack = planPack(config, own, clients.filter(isTried))
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
  // On top of what has been written by now.
  for (const { file } of quiet) await writeChange(change(file, addQuiet(readText(file), file)))
  if (options.enforce === true) ensureGate(config)
  for (const change of hooked) await writeHooks(recordOf(config), change)
  printNext(options, { clients, isObserved: readGateState(config).isObserved }, output)
  if (pack.kind === 'change' && !isPackAdded)
    output.line('the clients have no rules of their own yet: run the command again to add them')
  if (quiet.length > 0 || (isPackAdded && !isObserveOnly(pack.change.after)))
    output.line(
      'the new rules may loosen the policy in force: `sluice policy apply` shows and applies them',
    )
  return 0
}

interface QuietPlace {
  /** The file of the policy. */
  readonly policy: string
  readonly own: readonly Change[]
  readonly hooked: readonly ClientChange[]
}

/** The change to the policy, if it has not the word yet. */
function planQuiet(
  { yesOtherHooks }: HookOptions,
  { policy, own, hooked }: QuietPlace,
  output: Output,
): Change[] {
  const others = hooked.map(({ client, file, before }) => {
    const listed = before === undefined ? [] : listHooks(before, file)
    const name = CODING_CLIENTS[client].events.before
    const foreign = listed.filter(
      ({ path, value }) => path[1] === name && readHookEntry(value) === undefined,
    )
    return [client, foreign] as const
  })
  checkQuiet(new Map(others), yesOtherHooks === true, output)
  const text = readIfThere(policy) ?? own.find(({ file }) => file === policy)?.after
  if (text === undefined)
    throw new CliError(
      'CLI_FILE',
      `there is no policy \`${policy}\``,
      'write one, see `sluice init`',
    )
  const after = addQuiet(text, policy)
  return after === text ? [] : [{ file: policy, before: text, after }]
}

function chooseClients(options: HookOptions, machine: Machine): HookClient[] {
  const { hooks, managed } = options
  const known = HOOK_CLIENTS.filter(isTried).join(', ')
  if (hooks === true || hooks.length === 0) {
    const there = HOOK_CLIENTS.filter(isTried).filter((client) =>
      managed === undefined
        ? existsSync(hookFolder(client, machine))
        : CODING_CLIENTS[client].settings.managed !== undefined,
    )
    if (there.length > 0) return there
    const help = `name one: \`sluice init --hooks claude-code\` (${known})`
    throw new CliError('CLI_FILE', 'no client with hooks was found', help)
  }
  const other = hooks.find((name) => !isHookClient(name))
  if (other !== undefined)
    throw new ArgumentError(`no client with hooks is called \`${other}\``, `one of ${known}`)
  const clients = hooks.filter(isHookClient)
  for (const client of clients) checkClient(client, options)
  return clients
}

function isTried(client: HookClient): boolean {
  return CODING_CLIENTS[client].isUntested !== true
}

/** Throws if a client cannot have the hooks that are wanted. */
function checkClient(client: HookClient, options: HookOptions): void {
  const { untested = false, managed } = options
  if (managed !== undefined && CODING_CLIENTS[client].settings.managed === undefined)
    throw new ArgumentError(
      `${client} has no settings for a whole machine that Sluice knows`,
      `leave it out of --managed, and run \`sluice init --hooks ${client}\` as each user`,
    )
  if (untested === isTried(client))
    throw new ArgumentError(
      untested
        ? `${client} was tried with Sluice, so --untested is not for it`
        : `${client} was never tried with Sluice: what is known of it is from its documents`,
      untested
        ? `\`sluice init --hooks ${client}\``
        : `to see what it sends, and enforce nothing: \`sluice init --untested --hooks ${client}\``,
    )
  if (untested && isBlocking(options))
    throw new ArgumentError(
      `--enforce is not for ${client}: whether it stops without a gate was never tried`,
      'leave --enforce out',
    )
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

/** The entry of each client. One that is there stays as it is: a person may have given it a box by now. */
async function planServers(
  clients: readonly HookClient[],
  { config, project, box = false, dryRun, yes }: HookOptions,
  output: Output,
): Promise<WrittenServer[]> {
  const there = readWritten(readIfThere(config) ?? '', 'servers')
  const open = clients.filter(
    (client) =>
      there[client]?.sandbox === undefined &&
      CODING_CLIENTS[client].abilities.rewrites &&
      (box || there[client] === undefined),
  )
  const silent = yes !== undefined || dryRun === true
  const offer = { clients: open, projects: project, wanted: box, silent }
  const sandbox = open.length === 0 ? undefined : await offerBox(offer, output)
  return clients.map((client) => ({
    name: client,
    entry: {
      ...(there[client]?.builtin === client ? there[client] : { builtin: client }),
      ...(sandbox !== undefined && open.includes(client) ? { sandbox } : {}),
    },
  }))
}

interface GatePlan {
  readonly tokens: Tokens
  readonly servers: readonly WrittenServer[]
  /** Of the files with tokens. */
  readonly mode: number
  readonly blocks: boolean
}

/** sluice.yaml with a server and a grant for each client, a policy if there is none, and the tokens of scripts. */
function gateChanges(config: string, { tokens, servers, mode, blocks }: GatePlan): Change[] {
  const before = readIfThere(config)
  const grants = [...tokens].map(([client, token]) => {
    // Of a script nobody knows who started it, so its prompts are not the user's.
    const prompt = asksItself(client) ? { prompt: true } : {}
    const policy = isTried(client) ? 'policy' : OBSERVED
    const entry = { hash: hashOf(token), policy, hooks: client, ...prompt }
    return { name: `${client}-hooks`, entry }
  })
  const fresh = before ?? 'version: 1\nservers: {}\npolicy: ./policy.yaml\n'
  const withServers = putEntries(fresh, 'servers', servers)
  const withGrants = withServers && putEntries(withServers, 'grants', grants)
  const isObserved = grants.some(({ entry }) => entry.policy === OBSERVED)
  const after = withGrants && isObserved ? addObserved(withGrants) : withGrants
  if (after === undefined)
    throw new CliError(
      'CLI_FILE',
      `\`${config}\` is written in a way that nothing can be put into`,
      'put `servers:`, `grants:` and `policies:` on lines of their own',
    )
  const policy = join(dirname(config), 'policy.yaml')
  const isNew = before === undefined && !existsSync(policy)
  // A client that asks by itself does it by a script where a hook over HTTP may not block.
  const scripts = [...tokens].filter(([client]) => !asksItself(client) || blocks)
  return [
    change(config, after),
    ...(isNew ? [change(policy, addObserveMode(PLAIN_POLICY))] : []),
    ...(isObserved
      ? [change(join(dirname(config), `${OBSERVED}.yaml`), addObserveMode(PLAIN_POLICY))]
      : []),
    ...scripts.map(([client, token]) => ({
      ...change(headerFile(config, client), `Authorization: Bearer ${token}\n`),
      mode,
    })),
  ]
}

/** sluice.yaml with the policy of clients that were never tried; undefined if it cannot be put in. */
function addObserved(text: string): string | undefined {
  const line = `  ${OBSERVED}: ./${OBSERVED}.yaml\n`
  if (text.includes(line)) return text
  if (!/^policies:/m.test(text)) return `${text.trimEnd()}\npolicies:\n${line}`
  const after = text.replace(/^policies:[ \t]*\n/m, (head) => `${head}${line}`)
  return after === text ? undefined : after
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
      version: blocks && asksItself(client) ? readClientVersion(client) : undefined,
    }
    const { listEntries, settings } = CODING_CLIENTS[client]
    const entries = listEntries(setup)
    const forMachine = managed === undefined ? undefined : settings.managed
    const file =
      managed === undefined || forMachine === undefined
        ? hookFile(client, machine)
        : join(managed, forMachine.file)
    if (settings.plugin !== undefined) {
      const plugin = readText(join(PACKAGE, 'bin', settings.plugin))
      return { client, ...change(file, writePlugin(plugin, entries)) }
    }
    if (forMachine?.write !== undefined)
      return { client, ...change(file, forMachine.write(entries)) }
    let after = putHooks(readIfThere(file) ?? settings.emptyFile, file, entries)
    for (const [name, value] of Object.entries(forMachine?.members ?? {}))
      after = edit(after, [name], value)
    return { client, ...change(file, after) }
  })
  return managed === undefined ? changes : [...changes, ...managedServers(managed, url, text)]
}

function isBlocking({ enforce, managed }: HookOptions): boolean {
  return enforce === true || managed !== undefined
}

/** The client connects to the gate itself, so that the gate knows who said a prompt. */
function asksItself(client: HookClient): boolean {
  return CODING_CLIENTS[client].sender === 'client'
}

/** The servers of the gate, for clients that take a machine-wide list of them. */
function managedServers(root: string, url: string, config: string): ClientChange[] {
  const servers = Object.entries(readWritten(config, 'servers'))
    .filter(([, { builtin }]) => !isHookClient(builtin))
    .map(([name]) => [name, { type: 'http', url: `${url}/mcp/${name}` }])
  return HOOK_CLIENTS.flatMap((client) => {
    const list = CODING_CLIENTS[client].settings.managed?.servers
    if (list === undefined) return []
    const file = join(root, list)
    const after = edit(readIfThere(file) ?? '{}\n', ['mcpServers'], Object.fromEntries(servers))
    return [{ client, ...change(file, after) }]
  })
}

/** The policy of clients that were never tried. */
const OBSERVED = 'observed'
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
  return { file, ...pickDefined({ before }), after }
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

interface HookedGate {
  readonly clients: readonly HookClient[]
  /** Its policy enforces nothing yet. */
  readonly isObserved: boolean
}

function printNext({ enforce }: HookOptions, gate: HookedGate, output: Output): void {
  const { clients, isObserved } = gate
  output.line(
    enforce === true
      ? 'from the next session on these clients stop if no gate answers; each session starts one: `sluice init --undo` takes it back'
      : 'from the next session on these clients ask the gate, and go on if none answers; `sluice init --hooks --enforce` makes them stop',
  )
  if (isObserved)
    output.line(
      'the policy only observes yet: every call passes, and what the rules would have said is on record; `sluice enforce` turns them on',
    )
  output.line(
    'a gate that runs reads the new servers and grants when it is started again: `sluice stop`, then `sluice up`',
  )
  for (const client of clients) {
    const { afterInit } = CODING_CLIENTS[client]
    if (afterInit !== undefined) output.line(afterInit)
  }
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
    output.line(
      `${isDry ? 'would restore' : 'restored'}  ${CODING_CLIENTS[client].title}: hooks  ${file}`,
    )
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
  /** Its own sandbox is turned on, whose shell cannot enter a box. */
  readonly hasSandbox: boolean
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
    const hasSandbox = /"sandbox"\s*:\s*\{[^{}]*"enabled"\s*:\s*true/.test(text)
    return [{ client, file, ...asks, ...unreadableBy(client, text), foreign, hasSandbox }]
  })
}

/** Sluice reads comments and last commas; most clients do not. */
function unreadableBy(client: HookClient, text: string): { readonly unreadable?: string } {
  if (CODING_CLIENTS[client].settings.readsComments) return {}
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
