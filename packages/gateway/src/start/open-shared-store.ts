// The shared store of a gate: connections, tables, admission, the state that gates share, and the copy of
// this gate's chain in its own data directory. Opened by run-gate.ts before anything is served; without
// `store:` nothing of it is loaded.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ApprovalEngine } from '@sluice/access/approvals/engine'
import { identityFile } from '@sluice/access/identity/identity-file'
import { InstallationKey } from '@sluice/access/identity/keys/installation-key'
import { Logins } from '@sluice/access/identity/oauth/logins'
import { SharedSessions } from '@sluice/access/identity/sessions/shared-sessions'
import type { Ledger } from '@sluice/ledger/ledger'
import type { EntryHider } from '@sluice/ledger/records/hide-entry'
import type { Names } from '@sluice/ledger/records/names'
import { type DecisionEntry, type LedgerEntry, outcomeEntry } from '@sluice/ledger/records/record'
import type { SharedLog } from '@sluice/ledger/shared-log'
import { GATE_BEAT_MS, SWEEP_EVERY_MS } from '@sluice/ledger/store/limits'
import { parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { PostgresAdmissionStore } from '@sluice/ledger/store/postgres/admission'
import { PostgresAlertRows } from '@sluice/ledger/store/postgres/alert-rows'
import { ClockComparison } from '@sluice/ledger/store/postgres/clock-comparison'
import { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import { GateDirectory, type GateReport } from '@sluice/ledger/store/postgres/gate-directory'
import { Leases } from '@sluice/ledger/store/postgres/leases'
import { checkStoreVersion, migrate } from '@sluice/ledger/store/postgres/migrate'
import { PeerRows } from '@sluice/ledger/store/postgres/peers'
import { digestCounter, readUsage } from '@sluice/ledger/store/postgres/read-usage'
import { SessionRows } from '@sluice/ledger/store/postgres/session-rows'
import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'
import { SharedRows } from '@sluice/ledger/store/postgres/shared-rows'
import { SharedState } from '@sluice/ledger/store/postgres/shared-state'
import { PostgresStepChains } from '@sluice/ledger/store/postgres/step-chains'
import { processClock } from '@sluice/ledger/store/process-clock'
import type { MirroredTable } from '@sluice/ledger/store/sqlite/mirrored-tables'
import { openDatabase } from '@sluice/ledger/store/sqlite/open'
import { OperationError } from '@sluice/policy/structures/operation-error'
import type { SharedUsage } from '../alerts/limits-in-use.ts'
import type { ClusterConfig } from '../config/cluster.ts'
import type { GateConfig } from '../config/config.ts'
import { longestSessionWindowMs } from '../config/sessions.ts'
import { deriveKey, describeMark, writeMark } from '../data/cluster-keys.ts'
import { eraseDerived } from '../data/erase-derived.ts'
import { createHider } from '../data/open-ledger.ts'
import {
  SHARED_GATE_TABLES,
  SHARED_GRANT_TABLES,
  SHARED_LOGIN_TABLES,
  SHARED_MARK,
  SHARED_NAME_TABLES,
  SHARED_PEOPLE_TABLES,
} from '../data/shared-tables.ts'
import { RequestForwarder } from '../front/forward/forward-requests.ts'
import type { Log } from '../shared/log.ts'
import { readPackageVersion } from '../shared/package-version.ts'
import type { RunAlone } from '../upstream/servers/credentials.ts'
import { checkLength, SharedChain } from './shared-chain.ts'

/** What a gate has before it joins. */
export interface OwnParts {
  readonly log: Log
  readonly names: Names
}

export class SharedStore {
  readonly admission: PostgresAdmissionStore<DecisionEntry>
  readonly state: SharedState
  readonly directory: GateDirectory
  readonly sessions: SharedSessions
  readonly peers: PeerRows
  readonly forwarder: RequestForwarder
  readonly agents: SharedAgents
  readonly alerts: PostgresAlertRows
  readonly steps: PostgresStepChains
  readonly hider: EntryHider
  readonly #names: Names
  readonly #log: Log
  readonly #leases: Leases
  /** The key of the cluster: another gate opens what one has sealed. */
  readonly key: InstallationKey
  /** The address at which other gates reach this one; empty until it listens. */
  peer = ''
  /** The approvals, once they are open. */
  approvals: Pick<ApprovalEngine, 'usesMax'> | undefined
  readonly #connections: PostgresConnections
  readonly #config: GateConfig & { readonly cluster: ClusterConfig }
  #identity: DatabaseSync | undefined
  readonly #chain: SharedChain
  #report: (() => GateReport) | undefined
  readonly #clock = new ClockComparison()
  /** Gates that the log has named as lost. */
  #lost: ReadonlySet<string> = new Set()
  #timer: NodeJS.Timeout | undefined
  #sweeper: NodeJS.Timeout | undefined

  private constructor(
    config: GateConfig & { readonly cluster: ClusterConfig },
    { log, names }: OwnParts,
  ) {
    this.#names = names
    this.#log = log
    const { key, name: gate, store } = config.cluster
    this.#config = config
    const connections = new PostgresConnections(parsePostgresUrl(store))
    this.#connections = connections
    this.key = new InstallationKey(deriveKey(key, 'sealing'))
    this.state = new SharedState(
      new SharedRows({
        connections,
        gate,
        key: deriveKey(key, 'rows'),
        epoch: () => this.admission.epoch,
      }),
    )
    logFaults(this.state, log)
    this.hider = createHider(this.key, names)
    const encodeEntry = (entry: LedgerEntry) => this.hider.encode(entry)
    this.admission = new PostgresAdmissionStore<DecisionEntry>({
      connections,
      gate,
      encodeIntent: (entry) => checkLength(encodeEntry({ ...entry, kind: 'intent' })),
      encodeUndone: (intent) =>
        encodeEntry(
          outcomeEntry(intent, { atMs: Date.now(), status: 'cancelled', givenBack: true }),
        ),
      encodeOutage: (detail) =>
        encodeEntry({ kind: 'event', atMs: Date.now(), name: 'outage', detail: { ...detail } }),
      usesOf: ({ id, isStanding }) =>
        this.approvals === undefined ? 0 : this.approvals.usesMax(id, isStanding),
      version: () => this.state.version,
      stamp: () => this.state.stamp,
      objection: () => this.clockFault,
      settle: () => this.state.settle(),
      catchUp: () => this.state.catchUp(),
      readCopy: (after) => this.#chain.readCopy(after),
      encodeRestored: (detail) =>
        encodeEntry({ kind: 'event', atMs: Date.now(), name: 'failover', detail: { ...detail } }),
      onFailover: () => this.sessions.restore(),
      refreshSessions: (owners) => this.sessions.refresh(owners),
      onWritten: (records) => this.#chain.copy(records),
      onState: (state, why) =>
        state === 'open'
          ? log('info', 'calls are admitted by the shared store')
          : state !== 'closed' && log('error', `no call is admitted: ${why}`),
    })
    this.sessions = new SharedSessions({
      rows: new SessionRows(connections, gate),
      answersKey: this.key.derive('session memory', 32),
      idleMs: config.sessions.idleMs,
      windowMs: longestSessionWindowMs(config),
      nowMs: processClock.steadyMs,
    })
    this.peers = new PeerRows(connections, gate)
    const forwarder = new RequestForwarder({
      gate,
      keyOf: (peer) => this.peerKey(peer),
      store: this.peers,
    })
    this.forwarder = forwarder
    this.agents = {
      address: parsePostgresUrl(store),
      gate,
      connections,
      bundleSeed: deriveKey(key, 'bundles'),
      ask: (peer, body, signal) => forwarder.askAgents(peer, body, signal),
      clockFault: () => this.clockFault,
    }
    this.alerts = new PostgresAlertRows({ connections, key: deriveKey(key, 'alerts') })
    this.steps = new PostgresStepChains(connections)
    this.#leases = new Leases(connections, gate)
    this.directory = new GateDirectory(connections, gate, () => this.admission.epoch)
    const { admission } = this
    this.#chain = new SharedChain({ admission, connections, data: config.data, encodeEntry, gate })
  }

  static async open(
    config: GateConfig & { readonly cluster: ClusterConfig },
    own: OwnParts,
  ): Promise<SharedStore> {
    const shared = new SharedStore(config, own)
    try {
      await migrate(shared.#connections)
      await shared.#mark()
      await shared.#checkKey()
      shared.#clock.note(await shared.directory.readTime())
      const { openFrom } = await shared.admission.start()
      // From now on this gate is counted; before, a newer one may have removed what it needs.
      await checkStoreVersion(shared.#connections)
      await shared.#chain.open(openFrom)
      return shared
    } catch (error) {
      await shared.close()
      throw error
    }
  }

  get log(): SharedLog {
    return this.#chain.log
  }

  /** Brings the copy of the chain up to date; calls that an earlier run left open are unknown. */
  follow(ledger: Ledger): Promise<void> {
    return this.#chain.follow(ledger)
  }

  /** Puts the shared rows in place of those of the data directory, and follows changes of both. */
  async mirror(store: DatabaseSync): Promise<void> {
    const identity = openDatabase(identityFile(this.#config.data))
    this.#identity = identity
    const { tables } = this.state
    tables.add(store, SHARED_GATE_TABLES)
    tables.add(identity, [...SHARED_GRANT_TABLES, ...SHARED_LOGIN_TABLES, ...SHARED_PEOPLE_TABLES])
    // Made before this directory belonged to a cluster, or while its gate did not run.
    const logins = Logins.open(this.#config.data, this.key)
    const storeOwn = logins.holdOwn()
    const names = this.#names.list()
    tables.add(this.#names.database, SHARED_NAME_TABLES)
    await this.state.load()
    storeOwn()
    logins.close()
    this.watch(store, SHARED_GATE_TABLES)
    this.watch(this.#names.database, SHARED_NAME_TABLES)
    // Made before they reached the store. Of somebody who was forgotten the store has a row.
    this.#names.addMissing(names)
    const had = new Set(names.flatMap(({ name, token }) => (name === null ? [] : [token])))
    const isForgotten = this.#names
      .list()
      .some(({ name, token }) => name === null && had.has(token))
    if (isForgotten) eraseDerived(this.#config.data)
  }

  /** Notices what this gate changes in these tables. */
  watch(database: DatabaseSync, tables: readonly MirroredTable[]): void {
    this.state.tables.watch(
      database,
      tables.map(({ name }) => name),
    )
  }

  /** Does work that only one gate may do at a time, by what the others have stored, and stores it. */
  readonly alone: RunAlone = (name, work) =>
    this.#leases.run(name, async (lease) => {
      await this.state.catchUp()
      const result = await work(lease)
      await this.state.settle()
      return result
    })

  /** Begins to announce this gate and to look for changes of others. */
  async begin(report: () => GateReport): Promise<void> {
    this.#report = report
    const beat = () => this.beat()
    await this.state.settle()
    await beat()
    this.state.onMoved(() => void beat().catch(() => {}))
    this.state.startPolling()
    this.#timer = setInterval(() => void beat().catch(() => {}), GATE_BEAT_MS).unref()
    const sweep = () =>
      void this.directory
        .sweep()
        .then(() => this.#logLostGates())
        .catch(() => {})
    this.#sweeper = setInterval(sweep, SWEEP_EVERY_MS).unref()
  }

  /** Alerts tell a person of it; this is for the log of the other gates. */
  async #logLostGates(): Promise<void> {
    const lost = (await this.directory.list()).filter(
      ({ isLive, state }) => !isLive && state !== 'stopped',
    )
    for (const { name, seenAt } of lost)
      if (!this.#lost.has(name)) this.#log('warn', 'a gate is lost', { gate: name, seenAt })
    this.#lost = new Set(lost.map(({ name }) => name))
  }

  async beat(): Promise<void> {
    if (this.#report === undefined) return
    const { version } = this.state
    const { epoch } = this.admission
    // Nothing is passed on to a gate that admits nothing: others take its sessions over.
    const peer = this.clockFault === undefined ? this.peer : ''
    const beat = await this.directory.beat({ ...this.#report(), version, peer })
    if (beat.time !== undefined) this.#clock.note(beat.time)
    this.peers.beat()
    await this.admission.compareTimeline(beat.timeline, epoch)
  }

  /** Derives the key for connections to a gate of this cluster. */
  peerKey(gate: string): Buffer {
    return deriveKey(this.#config.cluster.key, `connections to ${gate}`)
  }

  /** Why calls are not admitted, or not by what other gates have changed. */
  get why(): string | undefined {
    return this.admission.why || this.state.why || this.clockFault
  }

  /** The same for anybody who asks `/readyz`: without the address of the store, which is in `why`. */
  get publicWhy(): string | undefined {
    const hasFault = this.admission.why !== '' || this.state.why !== undefined
    return hasFault ? 'calls cannot be recorded in the shared store' : this.clockFault
  }

  /** Says what is wrong with the store itself. What concerns this gate alone, such as a wrong clock, is left out. */
  get fault(): string | undefined {
    if (this.admission.state === 'unknown')
      return `the shared store ${this.admission.isRefused ? 'refuses to write' : 'does not answer'}`
    if (this.admission.state !== 'open' || this.state.why === undefined) return undefined
    return 'changes of other gates cannot be read from the shared store'
  }

  readonly usage: SharedUsage = {
    digest: digestCounter,
    read: (counters) => readUsage(this.#connections, counters),
  }

  /** Grants, approvals and tokens expire by the clock of each gate: it must not be another one. */
  get clockFault(): string | undefined {
    return this.#clock.fault
  }

  async close(): Promise<void> {
    this.#clock.close()
    this.forwarder.close()
    clearInterval(this.#timer)
    clearInterval(this.#sweeper)
    await this.state.settle().catch(() => {})
    this.state.close()
    this.sessions.close()
    await this.admission.close()
    await this.directory.leave().catch(() => {})
    await this.#connections.close()
    this.#identity?.close()
  }

  /** A gate with another key must not take the name of one that runs. */
  async #checkKey(): Promise<void> {
    const { key, name: gate } = this.#config.cluster
    const parts = { connections: this.#connections, gate, key: deriveKey(key, 'rows') }
    await new SharedRows({ ...parts, epoch: () => 0 }).readNews(() => {})
  }

  /** A directory belongs to one gate of one store, or to none. */
  async #mark(): Promise<void> {
    const { cluster, data } = this.#config
    const file = join(data, SHARED_MARK)
    const [row] = await this.#connections.query('SELECT id FROM sluice.control')
    const mine = describeMark(String(row?.id), cluster.name)
    if (existsSync(file)) {
      if (readFileSync(file, 'utf8') === mine) return
      throw new OperationError(
        `\`${data}\` belongs to another gate, or to another shared store`,
        'name another data directory: everything that counts is in the shared store',
      )
    }
    if (existsSync(join(data, 'ledger.db')))
      throw new OperationError(
        `\`${data}\` was used without a shared store`,
        'move it there with `sluice store move`, or name a new data directory with `data:` or --data',
      )
    writeMark(data, mine)
  }
}

function logFaults(state: SharedState, log: Log): void {
  state.onFault((why) =>
    why === undefined
      ? log('info', 'changes of other gates are read again')
      : log('error', 'changes of other gates cannot be read', { why }),
  )
}

/** Digests the configuration that is not in the store; gates of one cluster should have the same. */
function digestConfig({ writtenServers }: GateConfig): string {
  return createHash('sha256')
    .update(JSON.stringify(writtenServers ?? {}))
    .digest('hex')
    .slice(0, 12)
}

export function toGateReport(
  config: GateConfig,
  state: { readonly ok: boolean; readonly url: string; readonly publicKey: string },
): Omit<GateReport, 'version'> {
  return {
    state: state.ok ? 'ready' : 'not ready',
    release: readPackageVersion(),
    config: digestConfig(config),
    address: state.url,
    key: state.publicKey,
  }
}
