// Connects to the servers of the configuration, in the protocol generation of the client: over HTTP with the
// login that the server needs, or as a process. One per gate; knows the generation of each server.

import { hash } from 'node:crypto'
import type { Caller } from '@sluice/access/identity/callers/caller'
import { readSecrets, SecretText } from '@sluice/access/identity/oauth/secret-text'
import type { SessionLabels } from '@sluice/protocol/agent-calls'
import type { ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import type { ServerConfig } from '../../config/config.ts'
import type { Isolation } from '../../isolation/isolation.ts'
import { environmentKey } from '../../processes/environment.ts'
import { ProcessQuota, type ProcessQuotaOptions } from '../../processes/process-quota.ts'
import type { Watcher } from '../../processes/watcher.ts'
import type { Log } from '../../shared/log.ts'
import { readSessionHandle } from '../../shared/session-handle.ts'
import type { ClientEnvironment } from '../../shared/transport.ts'
import { OverlaidUpstream } from '../adapters/overlaid-upstream.ts'
import { HttpUpstream } from '../http/http.ts'
import type { HttpPools } from '../http/http-pools.ts'
import { InProcessUpstream, type StartInProcess } from '../in-process.ts'
import { StdioUpstream } from '../stdio/stdio.ts'
import type { Upstream, UpstreamEvents, UpstreamSendOptions } from '../upstream.ts'
import type { Credentials } from './credentials.ts'
import type { ProcessPlaces } from './process-place.ts'
import { ReconnectingUpstream } from './reconnecting-upstream.ts'
import { type FindSpare, SharedServers } from './shared-servers.ts'

export interface ServerLinksParts {
  readonly pools: HttpPools
  readonly credentials: Credentials
  readonly watcher: Watcher
  readonly isolation: Isolation
  /** Servers that run in this process. */
  readonly builtins: Readonly<Record<string, StartInProcess>>
  /** The server as it is to be started from now on; undefined if it is gone. */
  readonly serverOf: (name: string) => ServerConfig | undefined
}

export interface ProcessOptions extends ProcessQuotaOptions {
  /** How long a process that sessions share stays without any. */
  readonly idleMs: number
}

export interface ConnectOptions {
  readonly clientGeneration: ProtocolGeneration
  /** Id of the principal. */
  readonly principal: string
  /** The present caller of the session: some servers want a token of each. */
  readonly who: () => Caller
  /** The agent that calls, where one does. */
  readonly agent?: string | undefined
  /** The labels of the session; a server in this process passes them on between sessions. */
  readonly labels: SessionLabels
  /** The key of the session; undefined if an agent calls. */
  readonly sessionKey?: string | undefined
  /** The handle of a session from before a restart of the gate, to go on with. */
  readonly handle?: string | undefined
  /** What the client has handed over for the server's process. */
  readonly environment?: ClientEnvironment | undefined
  /** How easily the session can do without its process; undefined: not now. */
  readonly spare: FindSpare
  readonly log: Log
}

interface LinkOptions extends ConnectOptions {
  readonly places?: ProcessPlaces
}

export class UpstreamConnector {
  readonly #parts: ServerLinksParts
  /** Which generations each server has shown to know, or not to. */
  readonly #generations = new Map<string, Partial<Record<ProtocolGeneration, boolean>>>()
  readonly #shared: SharedServers
  readonly #room: ProcessQuota
  /** Links whose processes can be replaced by another, by server. */
  readonly #processes = new Map<string, Set<ReconnectingUpstream>>()
  /** What the processes of a server were started with, if files have a part of it. */
  readonly #environments = new Map<string, string | undefined>()
  #leaving = false

  constructor(parts: ServerLinksParts, options: ProcessOptions) {
    this.#parts = parts
    this.#room = new ProcessQuota(options)
    this.#shared = new SharedServers(options.idleMs)
  }

  connect(
    name: string,
    config: ServerConfig,
    to: ConnectOptions,
    events: UpstreamEvents,
  ): Upstream {
    if (config.kind === 'builtin' || config.builtin === undefined)
      return this.#connect(name, config, to, events)
    const { builtin } = config
    const own = { ...to, handle: undefined }
    return new OverlaidUpstream(
      (inside) => this.#link(`${name} ${builtin}`, { kind: 'builtin', builtin }, own, inside),
      (inside) => this.#connect(name, config, to, inside),
      events,
    )
  }

  #connect(
    name: string,
    config: ServerConfig,
    to: ConnectOptions,
    events: UpstreamEvents,
  ): Upstream {
    if (config.kind !== 'stdio') return this.#link(name, config, to, events)
    const { clientGeneration, principal, spare, log } = to
    if (config.share === undefined)
      return this.#process(name, config, { ...to, places: this.#places(principal, spare) }, events)
    const owner = config.share === 'all' ? '' : principal
    // Another client's keys are in the environment of its process.
    const key = JSON.stringify([name, owner, environmentKey(to.environment)])
    const start = (all: FindSpare, inside: UpstreamEvents) => {
      const places = this.#places(owner, all)
      return this.#process(name, config, { ...to, clientGeneration: 'session', places }, inside)
    }
    const attach = (outside: UpstreamEvents) => this.#shared.attach(key, { spare, start }, outside)
    if (clientGeneration === 'session') return attach(events)
    return new ReconnectingUpstream(
      {
        name,
        clientGeneration,
        generations: { stateless: false },
        start: (_, inside) => attach(inside),
        isProcess: true,
        log: (text) => log('warn', text),
      },
      events,
    )
  }

  /** Somebody may wait for a place that can be had by now. */
  look(): void {
    this.#room.look()
  }

  #places(owner: string, spare: FindSpare): ProcessPlaces {
    return { enter: (user) => this.#room.enter(user, owner), spare }
  }

  #process(name: string, config: ServerConfig, to: LinkOptions, events: UpstreamEvents): Upstream {
    const link = this.#link(name, config, to, events)
    if (!this.#environments.has(name)) this.#environments.set(name, environmentOf(config))
    const links = this.#processes.get(name) ?? new Set()
    this.#processes.set(name, links.add(link))
    void link.ended.then(() => {
      links.delete(link)
      if (links.size > 0 || this.#processes.get(name) !== links) return
      this.#processes.delete(name)
      this.#environments.delete(name)
    })
    return link
  }

  /** Puts new processes, as the configuration has them now, in the place of those of a server. */
  restart(name: string, why: string): void {
    for (const link of this.#processes.get(name) ?? []) link.restart(why)
  }

  /** Replaces processes whose environment has a secret that was changed. */
  checkEnvironments(): void {
    for (const [name, before] of this.#environments) {
      const now = environmentOf(this.#parts.serverOf(name))
      if (now === before || now === undefined) continue
      this.#environments.set(name, now)
      this.restart(name, 'a secret of its environment was changed')
    }
  }

  /** It may be another server by now. */
  forget(name: string): void {
    const generations = this.#generations.get(name)
    delete generations?.session
    delete generations?.stateless
  }

  /** Whether it has shown to speak the newer generation. */
  isNewer(name: string): boolean {
    return this.#generations.get(name)?.stateless === true
  }

  /** Ends what is shared; every other link is its session's. */
  close(why: string): Promise<void> {
    return this.#shared.close(why)
  }

  #link(
    name: string,
    config: ServerConfig,
    { clientGeneration, handle, places, ...to }: LinkOptions,
    events: UpstreamEvents,
  ): ReconnectingUpstream {
    const generations = this.#generations.get(name) ?? {}
    this.#generations.set(name, generations)
    // A process is started as the configuration has it by then.
    const configNow = () => {
      const now = places && this.#parts.serverOf(name)
      return now?.kind === config.kind ? now : config
    }
    return new ReconnectingUpstream(
      {
        name,
        clientGeneration,
        generations,
        handle: handle === undefined ? undefined : readSessionHandle(handle).server,
        start: (generation, inside, handle) =>
          this.#start(name, configNow(), { generation, handle, ...to }, inside),
        isProcess: config.kind !== 'http',
        places,
        log: (text) => to.log('warn', text),
      },
      events,
    )
  }

  /** From now on sessions of servers over HTTP are left as they are: they go on after a restart. */
  leave(): void {
    this.#leaving = true
  }

  #start(
    name: string,
    config: ServerConfig,
    to: Omit<ConnectOptions, 'clientGeneration'> & { readonly generation: ProtocolGeneration },
    events: UpstreamEvents,
  ): Upstream {
    const { generation, handle, principal, who, agent, labels, sessionKey, log, environment } = to
    const { builtins, credentials, isolation, pools, watcher } = this.#parts
    if (config.kind === 'builtin') {
      const start = builtins[config.builtin]
      if (start === undefined) throw new Error(`\`builtin: ${config.builtin}\` does not run here`)
      return new InProcessUpstream(start, { owner: principal, agent, labels, sessionKey }, events)
    }
    if (config.kind === 'stdio') {
      const { command, env, clientVariables: listed, cwd, sandbox, messageBytesMax } = config
      const own = { command, env, listed, cwd, sandbox, messageBytesMax, client: environment }
      const options = { ...own, name, log, watcher, isolation }
      return new StdioUpstream(options, events)
    }
    const { url, headers, login, messageBytesMax } = config
    const isLeaving = () => this.#leaving
    const own = { name, url, generation, headers, handle, messageBytesMax }
    const options = { ...own, isLeaving, log, pools }
    const auth = login && {
      findCredential: (carried?: UpstreamSendOptions) => {
        // A secret may have been rotated since the link was made.
        const now = this.#parts.serverOf(name)
        const target = { url, login: (now?.kind === 'http' && now.login) || login }
        return credentials.of(name, target, carried?.passing?.caller ?? who())
      },
    }
    return new HttpUpstream({ ...options, ...auth }, events)
  }
}

/** Returns undefined if no file has a part of it, or one cannot be read. */
function environmentOf(config: ServerConfig | undefined): string | undefined {
  if (config?.kind !== 'stdio') return undefined
  if (!Object.values(config.env).some((one) => one instanceof SecretText)) return undefined
  try {
    return hash('sha256', JSON.stringify(readSecrets(config.env)))
  } catch {
    return undefined
  }
}
