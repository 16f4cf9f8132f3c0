// The running gate: servers, policy, counters and record put together, and a relay for every session
// that a front opens. Fronts and commands know the gate by this class alone.

import type { Facts, Principal } from '../core/call.ts'
import type { Counters, Usage } from '../core/counters.ts'
import { LOCAL_SLOTS } from '../identity/limits.ts'
import { Slots } from '../identity/slots.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { Spine } from './admit.ts'
import type { GateConfig, ServerConfig } from './config.ts'
import { KnownTools } from './known-tools.ts'
import type { Link } from './link.ts'
import { LedgerRecord } from './record-calls.ts'
import { Relay } from './relay.ts'
import { ToolList } from './tool-list.ts'
import { startHttpServer } from './upstream/http.ts'
import type { HttpPools } from './upstream/http-pools.ts'
import { startStdioServer } from './upstream/stdio.ts'
import type { Log, UpstreamLink } from './upstream/upstream.ts'
import type { Watcher } from './upstream/watcher.ts'

export interface GateParts {
  readonly config: GateConfig
  readonly policy: CompiledPolicy
  /** Name and digest of the policy, for the record. */
  readonly policyId: string
  readonly counters: Counters & Usage
  readonly ledger: Ledger
  readonly watcher: Watcher
  readonly pools: HttpPools
  /** The gate's own files, which no argument may name. */
  readonly ownPaths: readonly string[]
  readonly log: Log
}

/** A client's side of a session; fronts that speak revisions by themselves keep theirs here. */
export type ClientLink = Link & { revision?: string }

export class Gate {
  readonly #parts: GateParts
  readonly #spine: Spine
  readonly #record: LedgerRecord
  readonly #known = new KnownTools()
  readonly #slots = new Slots()
  readonly #relays = new Set<Relay>()

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#record = new LedgerRecord(parts.ledger, () => parts.policyId, parts.log)
    this.#spine = {
      policy: () => parts.policy,
      counters: parts.counters,
      record: this.#record,
      now: () => ({ wallMs: Date.now(), monotonicMs: performance.now() }),
    }
  }

  get slots(): Slots {
    return this.#slots
  }

  hasServer(name: string): boolean {
    return Object.hasOwn(this.#parts.config.servers, name)
  }

  /** Puts the gate between a client's session and a server. */
  open(name: string, client: ClientLink, principal: Principal): void {
    const config = this.#parts.config.servers[name] as ServerConfig
    const log: Log = (level, message, fields) =>
      this.#parts.log(level, message, { server: name, ...fields })
    const server = this.#connect(name, config, log)
    const use = this.#slots.open(principal.id, LOCAL_SLOTS, Date.now())
    const { ownPaths } = this.#parts
    const facts = (): Omit<Facts, 'tool'> => ({
      transport: config.kind,
      principal,
      agent: null,
      session: use.facts(Date.now()),
      ownPaths,
    })
    const tools: ToolList = new ToolList({
      server: name,
      known: this.#known,
      policy: this.#spine.policy,
      now: this.#spine.now,
      ask: (method, params) => relay.ask(method, params),
    })
    const relay: Relay = new Relay(client, server, {
      spine: this.#spine,
      server: name,
      facts,
      tools,
      onCall: () => use.used(Date.now()),
      onAnswer: (tool) => use.see(this.#parts.policy.labels.all(name, tool).flat()),
      outcome: (intent, startedMs, outcome) => this.#record.outcome(intent, startedMs, outcome),
      onRevision: (revision) => {
        client.revision = revision
      },
      onEnd: () => {
        use.release()
        this.#relays.delete(relay)
      },
      log: (text) => log('warn', text),
    })
    this.#relays.add(relay)
  }

  async close(why: string): Promise<void> {
    await Promise.all([...this.#relays].map((relay) => relay.end(why)))
  }

  #connect(name: string, config: ServerConfig, log: Log): UpstreamLink {
    if (config.kind === 'stdio')
      return startStdioServer({
        name,
        command: config.command,
        env: config.env,
        cwd: config.cwd,
        log,
        watcher: this.#parts.watcher,
      })
    return startHttpServer({
      name,
      url: config.url,
      headers: config.headers,
      log,
      pools: this.#parts.pools,
    })
  }
}
