// Third step of a start: everything that a call goes through. Servers and their processes, tools and pins,
// approvals and their channels, what is measured, the gate itself and the agents inside it.

import { join } from 'node:path'
import type { AlertChannel } from '@sluice/access/approvals/alert'
import { ApprovalLinks } from '@sluice/access/identity/keys/approval-links'
import { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import { CREDENTIAL_SWEEP_EVERY_MS } from '@sluice/access/identity/limits'
import { userKeyFiles } from '@sluice/ledger/store/files/user-key'
import { processClock } from '@sluice/ledger/store/process-clock'
import { Listeners } from '@sluice/policy/structures/listeners'
import type { JsonObject } from '@sluice/policy/values/json'
import { LimitsInUse } from '../alerts/limits-in-use.ts'
import { boxSettingsOf } from '../config/builtin-tools.ts'
import type { GateConfig } from '../config/config.ts'
import { filesBeside, keyFilesOf, keysPath } from '../config/keys.ts'
import { withReal } from '../config/work-directory.ts'
import { PageFront } from '../front/http/page-front.ts'
import { Gate } from '../gate.ts'
import { type Boxes, openBoxes } from '../isolation/boxes.ts'
import { Isolation } from '../isolation/isolation.ts'
import { Snapshots } from '../isolation/snapshots.ts'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import { watchStalls } from '../metrics/watch-stalls.ts'
import { ChildPeers } from '../processes/child-peers.ts'
import { cleanUpOrphans } from '../processes/orphan-cleanup.ts'
import { Watcher } from '../processes/watcher.ts'
import type { CallRecorder } from '../recordings/call-recorder.ts'
import { GATE_STOPPING } from '../shared/transport.ts'
import type { Servers } from '../state/servers.ts'
import { Views } from '../state/views.ts'
import type { ActiveLockFile } from '../tools/active-lock-file.ts'
import type { NewTools } from '../tools/new-tools.ts'
import { openPins } from '../tools/open-pins.ts'
import type { Pins } from '../tools/pins.ts'
import { ServerNotes } from '../tools/server-notes.ts'
import { StoredTools } from '../tools/stored-tools.ts'
import { HttpPools } from '../upstream/http/http-pools.ts'
import { Credentials } from '../upstream/servers/credentials.ts'
import { IdleShutdown } from './idle-shutdown.ts'
import { openAdmission } from './join-cluster.ts'
import { approvalUrl, type OpenedApprovals, openApprovals } from './open-approvals.ts'
import { openChannels } from './open-channels.ts'
import type { GateData } from './open-data.ts'
import { HOOK_SCRIPT, HookParts, LINE_SCRIPT } from './open-hooks.ts'
import type { GateIdentity } from './open-identity.ts'
import { openRecorder } from './open-recorder.ts'
import { openServers } from './open-servers.ts'
import { openSpans } from './open-spans.ts'
import { peopleBase } from './people-base.ts'
import { BuiltinAgents } from './run-agents.ts'
import type { RunOptions } from './running-gate.ts'

interface EarlierSteps {
  readonly data: GateData
  readonly identity: GateIdentity
}

/** Everything that a call goes through. */
export interface GateCalls extends OpenedProcesses {
  readonly meter: Meter
  readonly watch: CallInstrumentation
  readonly tools: StoredTools
  readonly pins: Pins
  readonly lock: ActiveLockFile
  readonly newTools: NewTools
  readonly limits: LimitsInUse
  readonly recorder: CallRecorder
  readonly credentials: Credentials
  readonly approvals: OpenedApprovals
  /** Where approvers are notified. */
  readonly channels: readonly AlertChannel[]
  readonly agents: BuiltinAgents
  readonly hooks: HookParts
  readonly gate: Gate
  /** Ends a gate for pipes that nobody uses any more. */
  readonly idle: IdleShutdown
  /** The console of a gate for pipes; undefined for others. */
  readonly page: PageFront | undefined
  /** The address at which people reach the console; undefined if there is none. */
  readonly base: () => string | undefined
}

/** Servers, and the processes and connections behind them. */
interface OpenedProcesses {
  readonly watcher: Watcher
  readonly pools: HttpPools
  readonly peers: ChildPeers
  readonly servers: Servers
  readonly views: Views
  /** Files of the gate, which no server may reach. */
  readonly own: readonly string[]
  readonly isolation: Isolation
  readonly boxes: Boxes
  readonly snapshots: Snapshots
  /** A locked server tried a host that its sandbox does not name. */
  readonly onRefusedHost: Listeners<[server: string, host: string]>['subscribe']
  /** A protected file was replaced while a box ran. */
  readonly onReplacedFile: Listeners<[server: string, file: string]>['subscribe']
}

export async function openCalls(
  { data, identity }: EarlierSteps,
  { piped, startAgents }: RunOptions,
  closing: AsyncDisposableStack,
): Promise<GateCalls> {
  const { config, freezes, key, late, ledger, log, outages, policies } = data
  const { restored, shared, store } = data
  const processes = await openProcesses(data, closing)
  const { boxes, peers, servers, views } = processes
  const meter = new Meter()
  closing.defer(watchStalls(meter, log))
  const watch = new CallInstrumentation(
    meter,
    await openSpans(config.otlp, config.cluster?.name, closing),
  )
  const tools = new StoredTools(store, log)
  closing.defer(() => tools.flush())
  const { pins, lock, newTools } = openPins(config, { store, ledger, log }, servers)
  closing.defer(() => newTools.flush())
  const hooks = new HookParts({ servers, views, boxes, ledger, log })
  // Clients with hooks need a gate for as long as they run, which it cannot see: it stays.
  const idle = new IdleShutdown(piped && !hooks.isUsed)
  const page = piped ? openPage(data, peers, idle) : undefined
  const base = (): string | undefined =>
    page === undefined ? peopleBase(config.publicUrl, late.url) : peopleBase(undefined, page.url)
  const { approvals, channels } = await openApproving({ data, identity }, base, closing)
  const agents = new BuiltinAgents(startAgents)
  const recorder = openRecorder(config.data, { key, ledger, log }, closing)
  const limits = new LimitsInUse(shared?.usage)
  const credentials = openCredentials({ data, identity }, base, closing)
  const gate = new Gate({
    config,
    policies: () => policies.now,
    ...restored,
    ...processes,
    builtins: {
      agents: (...link) => agents.connect('connect', ...link),
      code: (...link) => agents.connect('connectCode', ...link),
      ...hooks.builtins,
    },
    ...hooks.listeners,
    seals: new HandleSealer(key),
    credentials,
    ledger,
    freezes,
    notes: new ServerNotes(store, log),
    tools,
    watch,
    pins,
    recorder,
    approvals: approvals.engine,
    approvalUrl: (id) => approvalUrl(base(), id),
    sharedSessions: shared?.sessions,
    admission: limits.watch(openAdmission(shared, { ...restored, approvals, ledger })),
    ownPaths: [...new Set([...processes.own, HOOK_SCRIPT, LINE_SCRIPT].flatMap(withReal))],
    log,
    outages,
  })
  late.gate = gate
  const hookGate = hooks.open(gate)
  closing.defer(() => hookGate.close())
  closing.defer(() => gate.close(GATE_STOPPING))
  policies.onChange(() => gate.policyChanged())
  // The policy may be another than the one that an earlier gate asked by.
  gate.policyChanged()
  lock.onChange((now) => {
    pins.setLock(now)
    gate.policyChanged()
  })
  const { authenticator } = identity
  const services = { authenticator, approvals: approvals.engine, shared: shared?.agents }
  closing.defer(await agents.start(servers, gate, services))
  const observed = { meter, watch, tools, pins, lock, newTools, limits, recorder }
  const served = { credentials, approvals, channels, agents, hooks, gate }
  return { ...processes, ...observed, ...served, idle, page, base }
}

/** What the gate signs in with at servers, and the sweep of logins that have ended. */
function openCredentials(
  { data: { config, ledger, log, shared }, identity: { logins } }: EarlierSteps,
  base: GateCalls['base'],
  closing: AsyncDisposableStack,
): Credentials {
  const { nowMs } = processClock
  const record = (detail: JsonObject): void => {
    void ledger.event({ atMs: nowMs(), name: 'credential', detail }).catch(() => {})
  }
  const sweeper = setInterval(() => logins.sweep(nowMs()), CREDENTIAL_SWEEP_EVERY_MS).unref()
  closing.defer(() => clearInterval(sweeper))
  const { issuers } = config
  const connectAt = (server: string) => {
    const console = base()
    return console && `${console}/connect/${server}`
  }
  return new Credentials({ logins, log, record, nowMs, issuers, connectAt, alone: shared?.alone })
}

/** The console of a gate for pipes. */
function openPage({ late, outages }: GateData, peers: ChildPeers, idle: IdleShutdown): PageFront {
  return new PageFront({
    site: () => late.site,
    peers,
    onOutage: outages.ofRequest,
    onConnections: (count) => idle.pages(count),
  })
}

async function openProcesses(
  { config, files, late, ledger, log }: GateData,
  closing: AsyncDisposableStack,
): Promise<OpenedProcesses> {
  const leftovers = join(config.data, 'servers.json')
  await cleanUpOrphans(leftovers)
  const watcher = new Watcher({ file: leftovers, log })
  closing.defer(() => watcher.close())
  const pools = new HttpPools()
  closing.defer(() => pools.close())
  const peers = new ChildPeers(watcher)
  const servers = openServers(config, { ledger, log })
  const views = new Views(config.views)
  const beside = [...filesBeside(config), ...keyFilesOf(config.grants)]
  const own = [config.data, config.file, ...userKeyFiles(), ...beside, ...files]
  const refusedHosts = new Listeners<[server: string, host: string]>()
  refusedHosts.subscribe((server, host) => {
    log('warn', 'a locked server tried a host that its sandbox does not name', { server, host })
    const event = { atMs: processClock.nowMs(), name: 'sandbox', detail: { server, host } }
    void ledger.event(event).catch(() => {})
  })
  const isOwnPort = (port: number) =>
    URL.canParse(late.url) && new URL(late.url).port === String(port)
  const isolation = await Isolation.open({
    config,
    own,
    keys: keysPath(config.file),
    onRefused: (server, host) => refusedHosts.emit(server, host),
    isOwnPort,
  })
  if (isolation.why !== undefined && hasProcesses(config)) log('warn', isolation.why)
  const snapshots = new Snapshots({ data: config.data, own }, processClock.nowMs)
  const replacedFiles = new Listeners<[server: string, file: string]>()
  replacedFiles.subscribe((server, file) => {
    log('warn', 'a protected file was replaced while a box ran: the box was ended', {
      server,
      file,
    })
    const event = { atMs: processClock.nowMs(), name: 'sandbox', detail: { server, file } }
    void ledger.event(event).catch(() => {})
  })
  const boxes = await openBoxes({
    data: config.data,
    script: LINE_SCRIPT,
    hidden: [config.data, ...userKeyFiles(), ...beside],
    readOnly: [config.file, ...files],
    settingsOf: (client) => boxSettingsOf(servers.find(client)),
    snapshots,
    isOwnPort,
    onRefused: (server, host) => refusedHosts.emit(server, host),
    onReplaced: (server, file) => replacedFiles.emit(server, file),
  })
  closing.defer(() => boxes.close())
  const listeners = {
    onRefusedHost: refusedHosts.subscribe,
    onReplacedFile: replacedFiles.subscribe,
  }
  return { watcher, pools, peers, servers, views, own, isolation, boxes, snapshots, ...listeners }
}

function hasProcesses({ servers }: GateConfig): boolean {
  return Object.values(servers).some(({ kind }) => kind === 'stdio')
}

async function openApproving(
  {
    data: { config, key, ledger, log, sessions, shared, store },
    identity: { people },
  }: EarlierSteps,
  base: () => string | undefined,
  closing: AsyncDisposableStack,
) {
  const approvals = openApprovals({
    data: config.data,
    store,
    ledger,
    log,
    people,
    issuers: config.issuers,
    nameSession: (id) => sessions.nameOf(id),
    shared,
  })
  people.onRemove(() => approvals.engine.peopleChanged())
  closing.defer(() => approvals.end())
  const links = new ApprovalLinks(key)
  const channels = await openChannels(
    config.channels,
    {
      add: (notifier) => approvals.engine.add(notifier),
      linkFor: ({ id, expiresAtMs }, approver) => {
        const link = { approval: id, approver, untilMs: expiresAtMs }
        return people.find(approver) && links.address(base(), link)
      },
      log,
    },
    closing,
  )
  return { approvals, channels }
}
