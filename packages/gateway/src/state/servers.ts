// The servers behind the gate, and how they change while it runs. An edit of sluice.yaml takes a server
// away, or changes its times, at once; what it adds, or would start or reach differently, waits for a
// person, since an agent with a file tool could have written it. Asked by the gate for every session.

import { hash } from 'node:crypto'
import { type Person, toActor } from '@sluice/access/identity/person'
import { recordFirst } from '@sluice/ledger/record-first'
import type { GateEvent } from '@sluice/ledger/records/record'
import { Listeners } from '@sluice/policy/structures/listeners'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { getOwn, type JsonObject } from '@sluice/policy/values/json'
import { hookClientOf, hookSourceOf } from '../config/builtin-tools.ts'
import type { GateConfig, ServerConfig } from '../config/config.ts'
import { SERVER_RETURN_MS } from '../config/limits.ts'
import type { StateOptions } from '../shared/state-options.ts'

export type ServersConfig = Pick<GateConfig, 'servers' | 'writtenServers'>

export interface ServerChange {
  readonly name: string
  /** Undefined: it was not there, or is there no longer. */
  readonly before: ServerConfig | undefined
  readonly after: ServerConfig | undefined
}

export interface PendingServer {
  readonly name: string
  readonly how: 'added' | 'changed'
  readonly config: ServerConfig
  /** As sluice.yaml has it, variables not filled in. */
  readonly written: JsonObject
  /** Of what would be started or reached, variables filled in. */
  readonly digest: string
  /** What a person does to put it in force. */
  readonly help: string
}

export interface ServersOptions extends Omit<StateOptions, 'store'> {
  /** Monotonic time. */
  readonly steadyMs: () => number
  /** Before a server that was not there at the start may be started. */
  readonly prepare: (name: string, config: ServerConfig) => Promise<void>
}

interface ActiveServer {
  readonly config: ServerConfig
  readonly written: JsonObject
}

export class Servers {
  readonly #options: ServersOptions
  readonly #changed = new Listeners<[change: ServerChange]>()
  readonly onChange = this.#changed.subscribe
  #now: ReadonlyMap<string, ActiveServer>
  readonly #pending = new Map<string, PendingServer>()
  /** Taken out by an edit, not by a person's command. */
  readonly #goneByEdit = new Map<string, { readonly digest: string; readonly atMs: number }>()
  #broken = ''

  /** `given` at a start is taken as it is: the user who starts the gate decides what it runs. */
  constructor(servers: ServersConfig, options: ServersOptions) {
    this.#options = options
    this.#now = new Map(
      Object.entries(servers.servers).map(([name, config]) => [
        name,
        { config, written: servers.writtenServers?.[name] ?? {} },
      ]),
    )
  }

  find(name: string): ServerConfig | undefined {
    return this.#now.get(name)?.config
  }

  writtenOf(name: string): JsonObject | undefined {
    return this.#now.get(name)?.written
  }

  get names(): readonly string[] {
    return [...this.#now.keys()]
  }

  /** Without those that stand for what asks the gate by itself: clients with hooks, agents of ACS. */
  get callable(): readonly string[] {
    return this.names.filter((name) => hookSourceOf(this.find(name)) === undefined)
  }

  get entries(): readonly (readonly [string, ServerConfig])[] {
    return [...this.#now].map(([name, { config }]) => [name, config] as const)
  }

  /** The first server with `builtin: code`. */
  get codeServer(): string | undefined {
    return this.entries.find(([, { builtin }]) => builtin === 'code')?.[0]
  }

  get pending(): readonly PendingServer[] {
    return [...this.#pending.values()]
  }

  /** For a person: what waits, or why sluice.yaml is not what is in force; else empty. */
  get why(): string {
    if (this.#broken !== '') return `the servers are as they were: ${this.#broken}`
    const names = this.pending.map(({ name }) => `\`${name}\``)
    if (names.length === 0) return ''
    const [first] = this.pending
    return `sluice.yaml changes ${names.join(', ')}, not in force yet: ${first?.help}`
  }

  /** What sluice.yaml says now; if reading it throws, the error is reported and nothing changes. */
  reload(read: () => ServersConfig): void {
    let config: ServersConfig
    try {
      config = read()
    } catch (error) {
      const { message } = error as Error
      if (message !== this.#broken)
        this.#options.log('error', 'sluice.yaml is not taken', { why: message })
      this.#broken = message
      return
    }
    this.#broken = ''
    this.#offer(config)
  }

  /** A person has confirmed what waits, having seen this very digest. */
  async accept(name: string, digest: string, by: Person): Promise<PendingServer> {
    const pending = this.#pending.get(name)
    if (pending === undefined)
      throw new OperationError(`\`${name}\` does not wait`, '`sluice server list` shows what does')
    if (pending.digest !== digest)
      throw new OperationError(`\`${name}\` was changed again`, 'look at it once more')
    checkStartable({ ...pending, before: this.find(name) })
    await this.#options.prepare(name, pending.config)
    // Recorded before it can be started.
    const { written } = pending
    await recordFirst(
      this.#options.ledger,
      this.#event({ how: 'accepted', name, written, digest, by }),
    )
    if (this.#pending.get(name) !== pending)
      throw new OperationError(`\`${name}\` was changed again`, 'look at it once more')
    this.#put(name, pending)
    return pending
  }

  /** What a person has put into sluice.yaml by a command, which is recorded and prepared. */
  confirm(servers: ServersConfig, name: string): void {
    this.#broken = ''
    const config = getOwn(servers.servers, name)
    if (config === undefined) this.#remove(name)
    else this.#put(name, { config, written: servers.writtenServers?.[name] ?? {} })
    this.#goneByEdit.delete(name)
    this.#offer(servers)
  }

  prepare(name: string, config: ServerConfig): Promise<void> {
    return this.#options.prepare(name, config)
  }

  #event(event: ServerEvent): GateEvent {
    return { atMs: this.#options.nowMs(), name: 'server', detail: toServerEvent(event) }
  }

  #record(event: ServerEvent): void {
    void this.#options.ledger.event(this.#event(event)).catch(() => {})
  }

  #offer({ servers, writtenServers }: ServersConfig): void {
    const { log, steadyMs } = this.#options
    for (const name of [...this.#pending.keys()])
      if (!Object.hasOwn(servers, name)) this.#pending.delete(name)
    for (const [name, { config }] of this.#now) {
      if (Object.hasOwn(servers, name)) continue
      this.#goneByEdit.set(name, { digest: digestOfServer(config), atMs: steadyMs() })
      this.#remove(name)
      this.#record({ how: 'removed', name })
      log('warn', 'a server was taken out of sluice.yaml: it is gone', { server: name })
    }
    for (const [name, config] of Object.entries(servers))
      this.#offerOne(name, config, writtenServers?.[name] ?? {})
  }

  #offerOne(name: string, config: ServerConfig, written: JsonObject): void {
    const { log, steadyMs } = this.#options
    const digest = digestOfServer(config)
    const current = this.find(name)
    const gone = this.#goneByEdit.get(name)
    const isBack = gone?.digest === digest && steadyMs() - gone.atMs < SERVER_RETURN_MS
    if (isBack || (current !== undefined && digestOfServer(current) === digest)) {
      this.#pending.delete(name)
      this.#goneByEdit.delete(name)
      // How long it may take and stay idle: nothing is started or reached differently.
      if (current !== undefined) this.#set(name, { config, written })
      else {
        this.#record({ how: 'returned', name, written, digest })
        this.#put(name, { config, written })
      }
      return
    }
    if (this.#pending.get(name)?.digest === digest) return
    const how = current === undefined ? 'added' : 'changed'
    const isAcceptable = !needsRestart(config, current)
    const help = isAcceptable ? `\`sluice server accept ${name}\`` : RESTART_HELP
    this.#pending.set(name, { name, how, config, written, digest, help })
    log('warn', `sluice.yaml has a server that was ${how}: it waits for a person`, {
      server: name,
      help,
    })
    this.#record({ how: 'waiting', name, written, digest })
  }

  #put(name: string, server: ActiveServer): void {
    const before = this.find(name)
    this.#pending.delete(name)
    this.#set(name, { config: server.config, written: server.written })
    this.#changed.emit({ name, before, after: server.config })
  }

  #remove(name: string): void {
    const before = this.find(name)
    this.#pending.delete(name)
    this.#now = new Map([...this.#now].filter(([one]) => one !== name))
    if (before !== undefined) this.#changed.emit({ name, before, after: undefined })
  }

  #set(name: string, server: ActiveServer): void {
    this.#now = new Map(this.#now).set(name, server)
  }
}

/** What happened to an entry of `servers:`, and by whom if a person did it. */
interface ServerEvent {
  readonly how: string
  readonly name: string
  readonly written?: JsonObject | undefined
  readonly digest?: string | undefined
  readonly by?: Person | undefined
}

/** For the ledger: the command as it is written, and of environment and headers only the names, since
 * their values may be secrets. */
export function toServerEvent({ how, name, written, digest, by }: ServerEvent): JsonObject {
  return {
    how,
    server: name,
    ...(written === undefined ? {} : { entry: withoutValues(written) }),
    ...(digest === undefined ? {} : { digest }),
    ...(by === undefined ? {} : { by: toActor(by) }),
  }
}

export function withoutValues(written: JsonObject): JsonObject {
  const { env, headers, auth, ...plain } = written
  const names = (value: JsonObject[string] | undefined): string[] =>
    typeof value === 'object' && value !== null ? Object.keys(value) : []
  return {
    ...plain,
    ...(env === undefined ? {} : { env: names(env) }),
    ...(headers === undefined ? {} : { headers: names(headers) }),
    ...(auth === undefined ? {} : { auth: typeof auth === 'string' ? auth : names(auth) }),
  }
}

/** Of everything that says what is started or reached, variables filled in. */
export function digestOfServer(config: ServerConfig): string {
  const { timeoutMs: _, ...rest } = config
  const { idleMs: __, ...settings } = { idleMs: undefined, ...rest }
  const text = JSON.stringify(settings, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return `sha256:${hash('sha256', text)}`
}

const RESTART_HELP = 'restart the gate, it is a part of it'

/** A part of the gate is started once. Only what a client's lines may do can change, which the next box takes. */
function needsRestart(config: ServerConfig, before: ServerConfig | undefined): boolean {
  if (config.builtin === undefined) return false
  return hookClientOf(config) === undefined || before?.builtin !== config.builtin
}

/** Throws for a server that comes into force at a start only. */
export function checkStartable({
  name,
  config,
  before,
}: {
  readonly name: string
  readonly config: ServerConfig
  readonly before: ServerConfig | undefined
}): void {
  if (!needsRestart(config, before)) return
  throw new OperationError(
    `\`${name}\` has a part of the gate (\`builtin: ${config.builtin}\`)`,
    'it comes with the next start of the gate',
  )
}
