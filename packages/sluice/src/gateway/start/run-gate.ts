// Starts a gate and stops it: data directory, record, counters, servers' watcher, front. In this
// order, so that nothing is served before it can be recorded; and backwards when it ends, so that
// what is open can finish.

import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@sluice/policy/core/json'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { ApprovalLinks } from '../../identity/keys/approval-links.ts'
import { HandleSealer } from '../../identity/keys/handle-sealer.ts'
import { InstallationKey } from '../../identity/keys/installation-key.ts'
import { Logins } from '../../identity/oauth/logins.ts'
import { SessionTokens } from '../../identity/sessions/session-tokens.ts'
import { userKeyFiles } from '../../store/files/user-key.ts'
import { processClock } from '../../store/process-clock.ts'
import { SqliteAlertRows } from '../../store/sqlite/alert-rows.ts'
import { LimitsInUse } from '../alerts/limits-in-use.ts'
import type { GateConfig } from '../config/config.ts'
import { filesBeside, keysPath } from '../config/keys.ts'
import { ownFilesOf } from '../config/own-facts.ts'
import { startRetention } from '../data/apply-retention.ts'
import { BackgroundIndexer } from '../data/background-indexer.ts'
import { DataLock } from '../data/data-lock.ts'
import { openGateStore } from '../data/gate-store.ts'
import { LedgerVerification } from '../data/ledger-verification.ts'
import { openLedger } from '../data/open-ledger.ts'
import { restoreState } from '../data/restore-state.ts'
import { startSnapshots } from '../data/snapshot-state.ts'
import { HttpFront } from '../front/http/http-front.ts'
import { PageFront } from '../front/http/page-front.ts'
import { MetricsFront } from '../front/http/serve-metrics.ts'
import { TlsCertificate } from '../front/http/tls-certificate.ts'
import { createSessionIds } from '../front/sessions/sealed-session-ids.ts'
import type { CommandRegistry } from '../front/socket/command-registry.ts'
import type { SocketFront } from '../front/socket/socket.ts'
import { makeSocketPath } from '../front/socket/socket-path.ts'
import { Gate } from '../gate.ts'
import { CallInstrumentation } from '../metrics/instrument-calls.ts'
import { Meter } from '../metrics/meter.ts'
import { watchStalls } from '../metrics/watch-stalls.ts'
import { MetricsWriter } from '../metrics/write-metrics.ts'
import { ChildPeers } from '../processes/child-peers.ts'
import { cleanUpOrphans } from '../processes/orphan-cleanup.ts'
import { Watcher } from '../processes/watcher.ts'
import { DRAIN_MS } from '../shared/limits.ts'
import { watchFiles } from '../shared/watch-files.ts'
import { type CompiledDocuments, readDocumentsAside } from '../state/documents.ts'
import { describeFreezeTarget, FreezeStore } from '../state/freezes.ts'
import { Policies } from '../state/policies.ts'
import { readStoredDocuments } from '../state/stored-documents.ts'
import { lockPath, openPins } from '../tools/open-pins.ts'
import { StoredTools } from '../tools/stored-tools.ts'
import { HttpPools } from '../upstream/http/http-pools.ts'
import { LoginTokens } from '../upstream/servers/login-tokens.ts'
import { gaugesOf } from './gauges.ts'
import { IdleShutdown } from './idle-shutdown.ts'
import { connectCluster, joinCluster, objectTo, openAdmission } from './join-cluster.ts'
import { openAgentSessions } from './open-agent-sessions.ts'
import { openAlerts } from './open-alerts.ts'
import { approvalUrl, openApprovals } from './open-approvals.ts'
import { authenticateFor, openAuthenticator } from './open-authenticator.ts'
import { openChannels } from './open-channels.ts'
import { Forwarding } from './open-forwarding.ts'
import { openPeople } from './open-people.ts'
import { markOwn, openServers, readServers } from './open-servers.ts'
import { openSocket } from './open-socket.ts'
import { openSpans } from './open-spans.ts'
import { openTraces } from './open-traces.ts'
import { peopleBase } from './people-base.ts'
import { readiness } from './readiness.ts'
import { BuiltinAgents } from './run-agents.ts'
import type { RunningGate, RunOptions } from './running-gate.ts'
import { shareLogins } from './share-logins.ts'
import { warnOfClock } from './warn-of-clock.ts'
import { warnOfFirstPolicy } from './warn-of-first-policy.ts'

export { DataInUseError } from '../data/data-lock.ts'

export async function runGate(
  config: GateConfig,
  documents: CompiledDocuments,
  { control: controlOf, piped, log, startAgents, startAdmin, parseConfig }: RunOptions,
): Promise<RunningGate> {
  /** What has to be undone, the first last. */
  const undo: (() => void | Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
  }
  try {
    const lock = DataLock.take(config.data)
    undo.push(() => lock.release())
    undo.push(warnOfClock(log))
    const shared = await joinCluster(config, documents, log)
    undo.push(() => shared?.close())
    const record = await openLedger(config, log, shared?.log)
    const { ledger, signer } = record
    const signedBy = signer.publicKey
    undo.push(() => record.close())
    undo.push(() => shared?.admission.drain())
    await shared?.follow(ledger)
    const store = openGateStore(config.data)
    undo.push(() => store.close())
    await shared?.mirror(store)
    const freezes = new FreezeStore(store)
    for (const frozen of freezes.list) log('warn', `${describeFreezeTarget(frozen)} is frozen`)
    const isFirstPolicy = readStoredDocuments(store).length === 0
    if (isFirstPolicy) warnOfFirstPolicy(config.data, log)
    const policies = new Policies(documents, {
      store,
      ledger,
      log,
      nowMs: Date.now,
      tools: () => gate.knownTools,
      ...(shared === undefined ? {} : { objectTo }),
    })
    const key = shared?.key ?? InstallationKey.at(config.data)
    const sessions = openAgentSessions(config, { store, key, log, shared }, undo)
    const restored =
      shared === undefined
        ? restoreState(config.data, policies.now, signer, sessions)
        : { counters: new MemoryCounters(), sessions }
    sessions.onBegin(({ id, principal, kind, client, servers }) => {
      const detail = { session: id, principal, kind, client, servers: [...servers] }
      void ledger.event({ atMs: Date.now(), name: 'session', detail }).catch(() => {})
    })
    undo.push(startSnapshots({ data: config.data, ...restored, key: signer, ledger, log }))
    const event = (name: string) => {
      const known = { policy: policies.now.local.id, documents: policies.describe(), signedBy }
      const detail = name === 'start' && isFirstPolicy ? { ...known, isFirstPolicy } : known
      void ledger.event({ atMs: Date.now(), name, detail }).catch(() => {})
    }
    event('start')
    undo.push(() => event('stop'))
    const leftovers = join(config.data, 'servers.json')
    await cleanUpOrphans(leftovers)
    const watcher = new Watcher({ file: leftovers, log })
    undo.push(() => watcher.close())
    const pools = new HttpPools()
    undo.push(() => pools.close())
    const files = [...documents.documents.values()].map(({ file }) => file)
    const peers = new ChildPeers(await markOwn(config, log))
    const servers = openServers(config, { ledger, log, peers })
    const ownFiles = ownFilesOf(config.data, [
      config.file,
      config.data,
      ...userKeyFiles(),
      ...filesBeside(config),
      ...files,
    ])
    const seals = new HandleSealer(key)
    const sessionTokens = new SessionTokens(key)
    const people = openPeople(config.data, log, undo)
    const meter = new Meter()
    undo.push(watchStalls(meter, log))
    const watch = new CallInstrumentation(meter, await openSpans(config.otlp, undo))
    const tools = new StoredTools(store, log)
    undo.push(() => tools.flush())
    const logins = Logins.open(config.data, shared?.key)
    undo.push(() => logins.close())
    if (shared !== undefined) undo.push(shareLogins(shared, logins))
    const alone = shared?.alone
    const tokens = new LoginTokens({ logins, log, nowMs: processClock.nowMs, alone })
    const { pins, lock: lockFile, newTools } = openPins(config, { store, ledger, log }, servers)
    undo.push(() => newTools.flush())
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
    undo.push(() => approvals.end())
    const agents = new BuiltinAgents(startAgents)
    const builtins = { agents: agents.connect }
    const traces = openTraces(config.data, { key, ledger, log }, undo)
    const stores = {
      ...restored,
      builtins,
      seals,
      tokens,
      ledger,
      freezes,
      tools,
      watch,
      pins,
      traces,
    }
    let url = ''
    const idle = new IdleShutdown(piped)
    const onConnections = (count: number) => idle.pages(count)
    const page = piped ? new PageFront({ site: () => site, peers, onConnections }) : undefined
    const base = (): string | undefined =>
      page === undefined ? peopleBase(config.publicUrl, url) : peopleBase(undefined, page.url)
    const asking = {
      approvals: approvals.engine,
      approvalUrl: (id: string) => approvalUrl(base(), id),
    }
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
      undo,
    )
    const limits = new LimitsInUse(shared?.usage)
    const gate = new Gate({
      config,
      policies: () => policies.now,
      ...stores,
      ...asking,
      sharedSessions: shared?.sessions,
      admission: limits.watch(openAdmission(shared, { ...restored, approvals, ledger })),
      watcher,
      pools,
      ownFiles,
      servers,
      log,
    })
    undo.push(() => gate.close('the gate is stopping'))
    const seen = { gate, meter, servers, pins, newTools, limits, cluster: shared }
    const verification = new LedgerVerification({ directory: config.data, key: signedBy, log })
    undo.push(() => verification.close())
    const alertRows = shared?.alerts ?? new SqliteAlertRows(store)
    const told = { ledger, verification, rows: alertRows, channels, log, base }
    const alerts = openAlerts({ config, ...seen, ...told }, undo)
    const isQuiet = () => !gate.isBusy
    const index = new BackgroundIndexer({ directory: config.data, ledger, isQuiet, log })
    undo.push(() => index.close())
    const keeping = { config: config.ledger, ledger, policies: () => policies.now, log }
    undo.push(startRetention({ ...keeping, sessions, approvals: approvals.engine }))
    policies.onChange(() => gate.policyChanged())
    // The policy may be another than the one that an earlier gate asked by.
    gate.policyChanged()
    lockFile.onChange((now) => {
      pins.setLock(now)
      gate.policyChanged()
    })
    let tls: TlsCertificate | undefined
    const reload = () => {
      lockFile.look()
      tls?.look()
      if (parseConfig !== undefined) servers.reload(() => readServers(config.file, parseConfig))
      return policies.reload(() => readDocumentsAside(config))
    }
    const watched = [...files, lockPath(config), config.file, keysPath(config.file)]
    undo.push(watchFiles([...new Set(watched)], reload))
    // On a terminal it means that the person is gone.
    if (!process.stdin.isTTY) {
      process.on('SIGHUP', reload)
      undo.push(() => void process.off('SIGHUP', reload))
    }
    const opening = { config, policies: () => policies.now, gate, ledger, log }
    const { authenticator, grants } = await openAuthenticator(opening, undo)
    undo.push(
      await agents.start(servers, gate, {
        authenticator,
        approvals: approvals.engine,
        shared: shared?.agents,
      }),
    )
    const { path, dispose } = makeSocketPath(config.data)
    undo.push(dispose)
    const ready = (sharedWhy = shared?.why) =>
      readiness(record, { policies, servers, freezes, tls, sharedWhy })
    if (piped) url = path
    const metrics = new MetricsWriter(
      meter,
      gaugesOf({
        servers,
        gate,
        ledger,
        freezes,
        policies,
        approvals: approvals.engine,
        processes: () => watcher.size,
      }),
    )
    const stopGate = (why: string) => idle.stop(why)
    const reached = { ready, reload, metrics, url: () => url, page: base, stop: stopGate }
    const parts = {
      config,
      gate,
      servers,
      parseConfig,
      ledger,
      freezes,
      policies,
      pins,
      lock: lockFile,
      people,
      grants,
      authenticator,
      traces,
      log,
      isPiped: piped,
      cluster: shared,
      approvals: approvals.engine,
    }
    const own = { publicKey: signedBy, url: () => url, isReady: () => ready().ok }
    await connectCluster(shared, { ...parts, ...own, approvals })
    const control: CommandRegistry = controlOf({
      ...parts,
      ...reached,
      words: () => site?.words ?? {},
    })
    const run = (word: string, request: JsonObject) => control.run(word, request)
    const site = startAdmin?.({
      ...parts,
      key,
      meter,
      watch,
      tools,
      newTools,
      limits,
      alerts,
      alertRows,
      verification,
      isOtherUser: (socket) => peers.isOtherUser(socket),
      reload,
      url: () => url,
      control: run,
      openPage: async () => {
        await page?.open()
        return base()
      },
    })
    undo.push(
      () => site?.close(),
      () => page?.close(),
    )
    const socket = openSocket({
      ...parts,
      path,
      peers,
      command: run,
      onClients: (count) => idle.clients(count),
    })
    undo.push(() => socket.close())
    await socket.listen()
    if (piped) {
      undo.push(() => drain(gate, socket))
      undo.push(() => approvals.engine.close())
      return { url, idle: idle.end, approvals: approvals.engine, stop }
    }
    tls = config.tls && new TlsCertificate(config.tls, log)
    if (tls !== undefined) undo.push(tls.watch())
    const certificate = tls
    const scheme = tls === undefined ? 'http' : 'https'
    const forwarding = shared && new Forwarding(config, shared, undo)
    const front = new HttpFront({
      host: config.host,
      port: config.port,
      kindOf: (name) => gate.kindOf(name),
      open: (name, link, who, origin) => gate.open(name, link, who, origin),
      readSessionToken: (token) => sessionTokens.read(token),
      sessionNames: createSessionIds(seals, config.cluster?.name),
      forwarder: forwarding?.forwarder,
      authenticate: authenticateFor(config, authenticator),
      tls,
      names: { ...config, certificate: () => certificate?.certificate },
      metrics: metricsFront(config, metrics),
      site,
      onRead: (ms) => meter.steps.read.observe(ms),
      peers,
      ready: () => ready(shared?.publicWhy),
      nowMs: () => performance.now(),
    })
    undo.push(() => front.close())
    undo.push(() => gate.leave())
    undo.push(() => drain(gate, socket))
    undo.push(() => approvals.engine.close())
    undo.push(() => agents.handOver(DRAIN_MS))
    undo.push(() => front.stopTaking())
    const { port } = await front.listen()
    await forwarding?.listen(front)
    // Without other gates there is nothing that a load balancer could choose instead.
    if (shared !== undefined) undo.push(() => front.announceStop())
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    url = `${scheme}://${host}:${port}`
    return { url, idle: idle.end, approvals: approvals.engine, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Lets open calls finish. */
async function drain(gate: Gate, socket: SocketFront): Promise<void> {
  await Promise.race([socket.announceStop(), sleep(DRAIN_MS)])
  await gate.drain(DRAIN_MS)
}

function metricsFront({ metricsToken }: GateConfig, writer: MetricsWriter) {
  return metricsToken === undefined ? undefined : new MetricsFront(metricsToken, writer)
}
