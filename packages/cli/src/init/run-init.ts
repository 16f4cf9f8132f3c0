// One run of `sluice init`: agree, ask the servers for their tools, write the gate's files, move the entries
// of the clients. Starts nothing that was not agreed to.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { classify } from '@sluice/catalogue/classify/classify'
import { countTools, summaryOf } from '@sluice/catalogue/pages/server-page'
import { readConfig } from '@sluice/gateway/config/config'
import { keysPath, writeKeys } from '@sluice/gateway/config/keys'
import { addObserveMode } from '@sluice/gateway/state/observe-mode'
import { inspectDefinition } from '@sluice/guard/inspect-definition'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { suggestKnownPolicy } from '../packs/known-fields.ts'
import { askerFor, type QuestionPrompt } from '../terminal/ask.ts'
import type { OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { askServers } from './ask-servers.ts'
import { showClosing } from './closing.ts'
import {
  addServers,
  checkDataOf,
  environmentWith,
  gateAddress,
  nameFound,
  newConfig,
  readGateState,
} from './config.ts'
import { CLIENTS } from './files/client.ts'
import { ClientError } from './files/errors.ts'
import { ClientTokens } from './move/client-tokens.ts'
import type { DiscoveredServer, DiscoveryResult } from './move/find-servers.ts'
import { gateEntry } from './move/gate-entry.ts'
import { type EntryMove, moveAll, moveEntries } from './move/move-entries.ts'
import type { MovedEntry } from './move/move-log.ts'
import type { NamedServer } from './move/name-servers.ts'
import { isFoundByCommands } from './place.ts'
import { PLAIN_POLICY } from './plain-policy.ts'
import { type Change, maskChanges, showChanges, showFound, startOf } from './show.ts'
import { writeChange } from './write-change.ts'

export const INIT_OPTIONS = {
  '--config <file>': ['what to write', 'sluice.yaml'],
  '--project <dirs...>': ['project folders to search for client files', ['.']],
  '--yes [names...]': 'agree to all servers in your own files, or to those named',
  '--move': 'put the gate in front: change the entries of the clients',
  '--via <way>': {
    doc: 'how the clients reach the gate',
    choices: ['stdio', 'url'],
    unset: 'stdio',
  },
  '--observe': 'enforce nothing yet: record what the policy would say about each call',
  '--view <name>': 'write an entry for a view of the gate, and do nothing else',
  '--client <name>': {
    doc: 'with --view: into the file of this client, and not of the project',
    choices: Object.keys(CLIENTS),
  },
  '--hooks [clients...]': 'let clients ask the gate before they use a tool of their own',
  '--box': 'with --hooks: lines of the clients run in a box, if there can be one here',
  '--enforce': 'with --hooks: the clients stop if no gate answers',
  '--quiet':
    'with --hooks: the gate answers what clients ask about local reads and about what an approver approved',
  '--yes-other-hooks': 'with --quiet: agree to hooks of other programs, which can change a call',
  '--untested': 'with --hooks NAME: a client that was never tried with Sluice; nothing is enforced',
  '--managed [root]': 'as --hooks --enforce, in the machine-wide files of the clients',
  '--dry-run': 'show every line that would change, and change nothing',
  '--undo': 'restore the entries of the clients',
  '--reveal': 'with --dry-run: show keys too',
} as const

type InitOptions = OptionsOf<typeof INIT_OPTIONS>

interface InitResult {
  readonly servers: readonly NamedServer[]
  readonly tools: readonly ToolDefinition[]
  readonly moved: readonly MovedEntry[]
  readonly changes: readonly Change[]
}

interface WritePlan {
  readonly servers: readonly NamedServer[]
  readonly tools: readonly ToolDefinition[]
  readonly before: string | undefined
  readonly asker: QuestionPrompt | undefined
}

export class Init {
  readonly #options: InitOptions
  readonly #record: string
  readonly #output: Output
  readonly #config: string
  /** All that were found, with their names at the gate. */
  #named: readonly NamedServer[] = []
  /** Servers of a project that the user has agreed to one by one: as if named with \`--yes\`. */
  readonly #agreedByName = new Set<string>()
  readonly #left: { readonly name: string; readonly file: string; readonly because: string }[] = []

  constructor(options: InitOptions, output: Output) {
    this.#options = options
    this.#output = output
    this.#config = resolve(options.config)
    this.#record = join(dirname(this.#config), 'sluice.moved.json')
  }

  async run(discovery: DiscoveryResult): Promise<0 | 1> {
    checkDataOf(this.#config)
    const before = existsSync(this.#config) ? readText(this.#config) : undefined
    if (this.#options.observe === true) this.#checkObserve()
    const named = nameFound(discovery.servers, before)
    this.#named = named
    showFound(discovery, named, this.#output)
    this.#leave(discovery)
    const asker = this.#options.dryRun === true ? undefined : askerFor(this.#output.json)
    try {
      const agreed = await this.#agree(named, asker)
      const { servers, tools } = await this.#scan(agreed)
      if (servers.length === 0) return this.#nothing(discovery, named)
      return await this.#write(discovery, { servers, tools, before, asker })
    } finally {
      asker?.close()
    }
  }

  /** An enforced policy is not made to observe by a command that needs no proof. */
  #checkObserve(): void {
    const policy = join(dirname(this.#config), 'policy.yaml')
    const there = [this.#config, policy].find((file) => existsSync(file))
    if (there === undefined) return
    throw new CliError(
      'CLI_FILE',
      `--observe is for a new policy, and \`${there}\` is there`,
      'add `mode: shadow` to the policy by hand and run `sluice policy apply`, or name another --config',
    )
  }

  #leave({ servers, broken }: DiscoveryResult): void {
    for (const { from, entry, reading } of servers)
      if ('stays' in reading)
        this.#left.push({ name: entry.name, file: from.file, because: reading.stays })
    for (const { from, error } of broken)
      this.#left.push({ name: '', file: from.file, because: error.message })
  }

  /** Which servers may be started. */
  async #agree(
    named: readonly NamedServer[],
    asker: QuestionPrompt | undefined,
  ): Promise<NamedServer[]> {
    const { yes, dryRun } = this.#options
    const names = Array.isArray(yes) ? (yes as readonly string[]) : []
    for (const name of names) {
      if (!named.some((one) => one.name === name)) throw unknownName(name, named)
      this.#agreedByName.add(name)
    }
    const agreed: NamedServer[] = []
    let isAll = false
    for (const one of named) {
      const own = one.found.some(({ from }) => from.scope === 'user')
      if (names.length > 0) {
        if (names.includes(one.name)) agreed.push(one)
      } else if (yes === true || dryRun === true) {
        if (own) agreed.push(one)
      } else if (asker !== undefined) {
        const question = `${one.server.url !== undefined ? 'connect to' : 'start'} \`${one.name}\` to list its tools?`
        const command = `\n  ${startOf(one.server)}\n`
        // A project's server may be a stranger's: each is asked for by itself.
        if (!own) {
          if (!(await asker.yes(`${question} It came with the project.${command}`))) continue
          agreed.push(one)
          this.#agreedByName.add(one.name)
          continue
        }
        const answer: 'yes' | 'no' | 'all' = isAll
          ? 'all'
          : await asker.yesOrAll(question + command)
        isAll = answer === 'all'
        if (answer !== 'no') agreed.push(one)
      }
    }
    return agreed
  }

  async #scan(agreed: readonly NamedServer[]) {
    // Without a word nothing is started: a dry run then knows the servers and not their tools.
    if (this.#options.dryRun === true && this.#options.yes === undefined)
      return { servers: agreed, tools: [] }
    const { servers, tools, failed } = await askServers(agreed, this.#output)
    for (const { server, because } of failed)
      for (const { entry, from } of server.found)
        this.#left.push({ name: entry.name, file: from.file, because })
    return { servers, tools }
  }

  async #write(
    discovery: DiscoveryResult,
    { servers, tools, before, asker }: WritePlan,
  ): Promise<0 | 1> {
    const written = this.#written(servers, tools, before)
    const moves = this.#moves(servers, written.config)
    const secrets = this.#options.reveal === true ? [] : written.secrets
    if (this.#options.dryRun === true) {
      const changes = [...written.changes, ...clientChanges(moves)]
      showChanges(changes, secrets, this.#output)
      this.#print(discovery, { servers, tools, moved: [], changes: maskChanges(changes, secrets) })
      return 0
    }
    for (const change of written.changes) await writeChange(change)
    const files = new Set(moves.map(({ from }) => from.file))
    const wanted =
      this.#options.move ??
      (await asker?.yes(
        `put the gate in front of ${plural(moves.length, 'entry', 'entries')} in ${plural(files.size, 'file')}?`,
      )) ??
      false
    const moved: MovedEntry[] = []
    for (const file of wanted ? files : []) {
      const own = moves.filter(({ from }) => from.file === file)
      let because = 'it was changed meanwhile'
      const done = await moveEntries(this.#record, own).catch((error: Error) => {
        // The other clients are moved all the same.
        if (!(error instanceof ClientError)) throw error
        because = `${error.message}; ${error.help}`
        return []
      })
      moved.push(...done)
      for (const { path } of own)
        if (!done.some((one) => one.path === path))
          this.#left.push({ name: path.at(-1) ?? '', file, because })
    }
    this.#print(discovery, { servers, tools, moved, changes: written.changes })
    return wanted && moved.length === 0 && files.size > 0 ? 1 : 0
  }

  /** The files of the gate, as they are to be. */
  #written(
    servers: readonly NamedServer[],
    tools: readonly ToolDefinition[],
    before: string | undefined,
  ): { changes: Change[]; config: string; secrets: string[] } {
    const config =
      before === undefined ? newConfig(servers) : addServers(this.#config, before, servers)
    const changes: Change[] = [{ file: this.#config, ...pickDefined({ before }), after: config }]
    const policy = join(dirname(this.#config), 'policy.yaml')
    if (before === undefined && existsSync(policy))
      this.#output.remark(
        `${policy} was there and stays: \`sluice scan --config\` suggests another`,
      )
    else if (before === undefined) changes.push({ file: policy, after: this.#policyFor(tools) })
    const keys = new Map(servers.flatMap((server) => [...server.keys]))
    const file = keysPath(this.#config)
    const own = existsSync(file) ? readText(file) : undefined
    if (keys.size > 0)
      changes.push({
        file,
        after: writeKeys(own ?? '', keys),
        mode: 0o600,
        ...(own === undefined ? {} : { before: own }),
      })
    const environment = environmentWith(this.#config, servers)
    const { problems } = readConfig({ file: this.#config, text: config }, environment)
    for (const { severity, message, help } of problems)
      if (severity === 'warning') this.#output.remark(`${message}; ${help}, see --config`)
    return { changes, config, secrets: [...keys.values()] }
  }

  #policyFor(tools: readonly ToolDefinition[]): string {
    const suggested = tools.length > 0 ? suggestKnownPolicy(tools).yaml : PLAIN_POLICY
    return this.#options.observe === true ? addObserveMode(suggested) : suggested
  }

  #moves(servers: readonly NamedServer[], config: string): EntryMove[] {
    const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
    const isUrl = this.#options.via === 'url'
    const { url, data } = gateAddress(this.#config, config, servers)
    const tokens = new ClientTokens(data, this.#options.dryRun === true)
    const stateHome = process.env.XDG_STATE_HOME
    const base = { sluice: [process.execPath, bin], config: this.#config, stateHome }
    const move = (server: string, { from, entry }: DiscoveredServer): EntryMove => {
      const gate = isUrl ? { ...base, url, sessionToken: tokens.tokenFor(from) } : base
      const now = gateEntry(from.client, server, gate, entry.value)
      return { from, path: entry.path, server, was: entry.value, now }
    }
    return servers.flatMap(({ name, found }) =>
      found
        // A project's file belongs to everybody who works on it: only by its name.
        .filter(({ from }) => from.scope === 'user' || this.#agreedByName.has(name))
        .map((one) => move(name, one)),
    )
  }

  #nothing(discovery: DiscoveryResult, named: readonly NamedServer[]): 1 {
    this.#print(discovery, { servers: [], tools: [], moved: [], changes: [] })
    if (discovery.servers.length === 0)
      this.#output.line(`no MCP server is set up in ${Object.values(CLIENTS).join(', ')}`)
    else if (named.length > 0 && this.#options.yes === undefined)
      this.#output.line('no server was agreed to, so nothing was started or written: see --yes')
    else if (named.length > 0) {
      const names = new Set(named.flatMap((one) => one.found.map(({ entry }) => entry.name)))
      for (const { name, because } of this.#left)
        if (names.has(name)) this.#output.line(printable(`${name}: ${because}`))
      this.#output.line(
        'no server listed its tools, so nothing was written and no client was changed',
      )
    }
    return 1
  }

  #print(discovery: DiscoveryResult, { servers, tools, moved, changes }: InitResult): void {
    const isDry = this.#options.dryRun === true
    this.#output.value({
      found: discovery.servers.map(({ from, entry, reading }) => ({
        client: from.client,
        file: from.file,
        scope: from.scope,
        name: entry.name,
        ...('stays' in reading ? { stays: reading.stays } : {}),
      })),
      servers: servers.map(({ name, server }) => ({ name, ...server })),
      tools: tools.map((tool) => ({ server: tool.server, name: tool.name, ...classify(tool) })),
      moved: moved.map(({ client, file, path, server }) => ({ client, file, path, server })),
      left: this.#left,
      [isDry ? 'changes' : 'wrote']: isDry ? changes : changes.map(({ file }) => file),
    })
    if (servers.length === 0) return
    if (isDry) return this.#output.line('nothing was changed')
    for (const { file } of changes) this.#output.line(`wrote ${file}`)
    this.#output.line(summaryOf(countTools(tools)))
    showClosing(
      {
        found: discovery.servers,
        named: this.#named,
        held: tools.flatMap(describeHeld),
        moved,
        left: this.#left,
        isUrl: this.#options.via === 'url',
        ...readGateState(this.#config),
        option: isFoundByCommands(this.#config) ? '' : ` --config ${this.#config}`,
      },
      this.#output,
    )
  }
}

/** The tool, with the reason, if its definition would wait for a person. */
function describeHeld(tool: ToolDefinition): string[] {
  const { severity, findings } = inspectDefinition(tool)
  const worst = findings.find((finding) => finding.severity === severity)
  if (severity !== 'hold' && severity !== 'refuse') return []
  return [`${tool.server}/${tool.name}: ${worst?.kind} at ${worst?.at}`]
}

/** All moves of each file, on what it says now. */
function clientChanges(moves: readonly EntryMove[]): Change[] {
  return [...new Set(moves.map(({ from }) => from.file))].map((file) => {
    const before = readFileSync(file, 'utf8')
    const own = moves.filter(({ from }) => from.file === file)
    return { file, before, after: moveAll(before, own).text }
  })
}

function unknownName(name: string, named: readonly NamedServer[]): CliError {
  const all = named.map((one) => one.name).join(', ') || 'none'
  return new ArgumentError(`no server here is called \`${name}\``, `there are: ${all}`)
}
