// The running gate: servers, policy, counters and record put together, and a relay for every session
// that a front opens. Fronts and commands know the gate by this class alone.

import { randomUUID } from 'node:crypto'
import type { Principal } from '../core/call.ts'
import type { Counters, Usage } from '../core/counters.ts'
import { LOCAL_SLOTS } from '../identity/limits.ts'
import type { Slots } from '../identity/slots.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { CompiledPolicy } from '../policy/policy.ts'
import type { Spine } from './admit.ts'
import type { GateConfig, ServerConfig } from './config.ts'
import { KnownTools } from './known-tools.ts'
import { labelsOf } from './labels-of.ts'
import type { ClientLink } from './link.ts'
import type { Freezes } from './operate/freezes.ts'
import { refuseFrozen } from './operate/refuse-frozen.ts'
import { LedgerRecord } from './record-calls.ts'
import { Relay } from './relay.ts'
import { SeenLists } from './seen-lists.ts'
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
  readonly slots: Slots
  readonly ledger: Ledger
  readonly freezes: Freezes
  readonly watcher: Watcher
  readonly pools: HttpPools
  /** The gate's own files, which no argument may name. */
  readonly ownPaths: readonly string[]
  readonly log: Log
}

export class Gate {
  readonly #parts: GateParts
  readonly #spine: Spine
  readonly #record: LedgerRecord
  readonly #known = new KnownTools()
  readonly #relays = new Set<Relay>()

  constructor(parts: GateParts) {
    this.#parts = parts
    this.#record = new LedgerRecord(parts.ledger, () => parts.policyId, parts.log)
    this.#spine = {
      policy: () => parts.policy,
      frozen: (who) => parts.freezes.of(who),
      counters: parts.counters,
      record: this.#record,
      now: () => ({ wallMs: Date.now(), monotonicMs: performance.now() }),
      newId: randomUUID,
    }
  }

  /** How a server is reached; undefined where there is none of this name. */
  kindOf(name: string): ServerConfig['kind'] | undefined {
    const { servers } = this.#parts.config
    return Object.hasOwn(servers, name) ? servers[name]?.kind : undefined
  }

  /** Puts the gate between a client's session and a server. */
  open(name: string, client: ClientLink, principal: Principal): void {
    const { config, freezes, ownPaths, slots } = this.#parts
    const serverConfig = config.servers[name] as ServerConfig
    const log: Log = (level, message, fields) =>
      this.#parts.log(level, message, { server: name, ...fields })
    const { policy, now } = this.#spine
    const frozen = () => freezes.of({ server: name, principal: principal.id, agent: null })
    const already = frozen()
    // Not even started: that is an effect too.
    if (already !== undefined) return refuseFrozen(client, already)
    const server = this.#connect(name, serverConfig, log)
    const slot = slots.open(principal.id, LOCAL_SLOTS, Date.now())
    const relay = new Relay(client, server, {
      spine: this.#spine,
      server: name,
      facts: () => ({
        transport: serverConfig.kind,
        principal,
        agent: null,
        session: slot.facts(Date.now()),
        ownPaths,
      }),
      frozen,
      lists: (ask) => new SeenLists({ server: name, known: this.#known, policy, now, ask }),
      onAsked: () => slot.asked(Date.now()),
      onCall: () => slot.used(),
      onAnswer: (method, called) =>
        slot.see(labelsOf(policy(), { server: name, method, name: called })),
      record: ({ intent }, startedMs, outcome) => this.#record.outcome(intent, startedMs, outcome),
      onEnd: () => slot.release(),
      log: (text) => log('warn', text),
    })
    this.#relays.add(relay)
    void server.ended.then(() => this.#relays.delete(relay))
  }

  /** After a freeze: ends what is open and may no longer be. Says how many calls that were. */
  interrupt(): number {
    let calls = 0
    for (const relay of [...this.#relays])
      if (relay.frozen !== undefined) calls += relay.interrupt(relay.frozen)
    return calls
  }

  /** How much goes on with one server. */
  figures(server: string): { readonly sessions: number; readonly openRequests: number } {
    const relays = [...this.#relays].filter((relay) => relay.server === server)
    const openRequests = relays.reduce((sum, relay) => sum + relay.openRequests, 0)
    return { sessions: relays.length, openRequests }
  }

  /** Waits until every request is answered, for a while. */
  async drain(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs
    const isBusy = () => [...this.#relays].some(({ openRequests }) => openRequests > 0)
    while (isBusy() && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 10))
  }

  /** Ends every session, and waits until nothing of any server is left. */
  async close(why: string): Promise<void> {
    await Promise.all([...this.#relays].map((relay) => relay.end(why)))
  }

  #connect(name: string, config: ServerConfig, log: Log): UpstreamLink {
    const { watcher, pools } = this.#parts
    if (config.kind === 'http') {
      const { url, headers } = config
      return startHttpServer({ name, url, headers, log, pools })
    }
    const { command, env, cwd } = config
    return startStdioServer({ name, command, env, cwd, log, watcher })
  }
}
