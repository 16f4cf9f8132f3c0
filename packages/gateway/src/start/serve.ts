// Last step of a start: serves clients, over pipes alone or over HTTP too. The end of the gate begins here: what
// is first in `listClosingSteps` ends first.

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { HandleSealer } from '@sluice/access/identity/keys/handle-sealer'
import { SessionTokens } from '@sluice/access/identity/sessions/session-tokens'
import { processClock } from '@sluice/ledger/store/process-clock'
import { SqliteStepChains } from '@sluice/ledger/store/sqlite/step-chains'
import { HttpFront } from '../front/http/http-front.ts'
import { MetricsFront } from '../front/http/serve-metrics.ts'
import { RegistryFront } from '../front/http/serve-registry.ts'
import { TriggersFront } from '../front/http/serve-triggers.ts'
import { TlsCertificate } from '../front/http/tls-certificate.ts'
import { createSessionIds } from '../front/sessions/sealed-session-ids.ts'
import { STOP_PIPES_MS } from '../shared/limits.ts'
import { StopDeadline } from '../shared/stop-deadline.ts'
import type { GateAdmin } from './open-admin.ts'
import { authenticateFor } from './open-authenticator.ts'
import type { GateCalls } from './open-calls.ts'
import type { GateData } from './open-data.ts'
import { Forwarding } from './open-forwarding.ts'
import type { GateIdentity } from './open-identity.ts'
import type { RunningGate, RunOptions } from './running-gate.ts'

interface EarlierSteps {
  readonly data: GateData
  readonly identity: GateIdentity
  readonly calls: GateCalls
  readonly admin: GateAdmin
}

export async function serve(
  steps: EarlierSteps,
  { piped }: RunOptions,
  closing: AsyncDisposableStack,
): Promise<RunningGate> {
  const { config, late, log, shared } = steps.data
  const { calls } = steps
  const { approvals, idle } = calls
  // A gate for pipes alone, unless clients ask it by hooks: these come over HTTP.
  const forwarding = shared && new Forwarding(config, shared, closing)
  const deadline = new StopDeadline(config.stopWithinMs)
  if (piped && !calls.hooks.isUsed) {
    await forwarding?.listen()
    for (const step of listClosingSteps(steps, deadline).reverse()) closing.defer(step)
  } else {
    late.tls = config.tls && new TlsCertificate(config.tls, log)
    if (late.tls !== undefined) closing.defer(late.tls.watch())
    const front = createFront(steps)
    const fronts = { front, forwarding }
    for (const step of listClosingSteps(steps, deadline, fronts).reverse()) closing.defer(step)
    const { port } = await front.listen()
    await forwarding?.listen(front)
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    late.url = `${late.tls === undefined ? 'http' : 'https'}://${host}:${port}`
  }
  const stop = () => closing.disposeAsync()
  const cut = () => deadline.cut()
  return { url: late.url, idle: idle.end, approvals: approvals.engine, stop, cut }
}

/** How a gate ends, first to last: nothing that an open call needs is closed before the call has ended. */
function listClosingSteps(
  { data: { shared }, calls: { agents, approvals, gate }, admin: { socket } }: EarlierSteps,
  deadline: StopDeadline,
  fronts?: { readonly front: HttpFront; readonly forwarding: Forwarding | undefined },
): (() => void | Promise<void>)[] {
  const settle = [
    () => approvals.engine.close(),
    // A pipe that does not end its side, and has no call open, has had time enough to do so.
    () => {
      const told = sleep(STOP_PIPES_MS, undefined, { ref: false }).then(() => gate.drain(deadline))
      return deadline.wait(Promise.race([socket.announceStop(), told]))
    },
    () => gate.drain(deadline),
    // Its timer would keep the process from ending.
    () => deadline.cut(),
  ]
  if (fronts === undefined) return [() => deadline.begin(), ...settle]
  const { front, forwarding } = fronts
  return [
    () => deadline.begin(),
    // Without other gates there is nothing that a load balancer could choose instead.
    () => (shared === undefined ? undefined : front.announceStop(deadline)),
    () => forwarding?.stopEndingTaken(),
    () => front.stopTaking(),
    () => agents.handOver(deadline.over),
    ...settle,
    () => gate.leave(),
    () => front.close(),
  ]
}

function createFront({ data, identity, calls, admin }: EarlierSteps): HttpFront {
  const { config, key, late, outages, shared } = data
  const { agents, gate, meter, peers } = calls
  const hasAgents = Object.values(config.servers).some(({ builtin }) => builtin === 'agents')
  const { ready, metrics } = admin
  const { metricsToken } = config
  const sessionTokens = new SessionTokens(key)
  const authenticate = authenticateFor(config, identity.authenticator)
  return new HttpFront({
    host: config.host,
    port: config.port,
    kindOf: (name) => gate.kindOf(name),
    views: () => gate.viewNames,
    readMode: (server, text) => gate.readMode(server, text),
    open: (name, link, who, origin) => gate.open(name, link, who, origin),
    readSessionToken: (token) => sessionTokens.read(token),
    sessionNames: createSessionIds(new HandleSealer(key), config.cluster?.name),
    forwarder: shared?.forwarder,
    authenticate,
    hooks: calls.hooks.front({ authenticate }),
    acs: calls.hooks.acsFront({
      agents: identity.authenticator,
      chains: shared?.steps ?? new SqliteStepChains(data.store, processClock.nowMs),
      approvals: calls.approvals.engine,
      ledger: data.ledger,
      nowMs: processClock.nowMs,
    }),
    triggers: hasAgents
      ? new TriggersFront({ target: () => agents.triggers, nowMs: processClock.nowMs })
      : undefined,
    tls: late.tls,
    names: { ...config, certificate: () => late.tls?.certificate },
    metrics: metricsToken === undefined ? undefined : new MetricsFront(metricsToken, metrics),
    registry:
      config.registry === undefined
        ? undefined
        : new RegistryFront({
            namespace: config.registry,
            names: () => gate.serverNames,
            url: () => config.publicUrl ?? late.url,
            startedAt: new Date(),
          }),
    site: late.site,
    onOutage: outages.ofRequest,
    onRead: (ms) => meter.steps.read.observe(ms),
    peers,
    ready: () => ready(shared?.publicWhy),
    nowMs: () => performance.now(),
  })
}
