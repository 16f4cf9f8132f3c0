// Sixth step of a start: what operates the gate. Readiness and metrics, the gates that share a store, the
// commands of the local socket, `/api` and the console's page.

import type { JsonObject } from '@sluice/policy/values/json'
import type { CommandRegistry } from '../front/socket/command-registry.ts'
import type { SocketFront } from '../front/socket/socket.ts'
import { makeSocketPath } from '../front/socket/socket-path.ts'
import { MetricsWriter } from '../metrics/write-metrics.ts'
import { gaugesOf } from './gauges.ts'
import { connectCluster } from './join-cluster.ts'
import type { GateCalls } from './open-calls.ts'
import type { GateData } from './open-data.ts'
import type { GateIdentity } from './open-identity.ts'
import type { GateObservation } from './open-observation.ts'
import { openSocket } from './open-socket.ts'
import { type Readiness, readiness } from './readiness.ts'
import type { RunOptions } from './running-gate.ts'

interface EarlierSteps {
  readonly data: GateData
  readonly identity: GateIdentity
  readonly calls: GateCalls
  readonly observation: GateObservation
  readonly reload: () => void | Promise<void>
}

export interface GateAdmin {
  /** Whether calls can be recorded, and what a person should know. `sharedWhy` replaces what the shared store says of
   * itself: `/readyz` is read by anyone. */
  readonly ready: (sharedWhy?: string) => Readiness
  readonly metrics: MetricsWriter
  /** The local socket, for pipes and commands. */
  readonly socket: SocketFront
}

export async function openAdmin(
  { data, identity, calls, observation, reload }: EarlierSteps,
  { control: controlOf, parseConfig, piped, startAdmin }: RunOptions,
  closing: AsyncDisposableStack,
): Promise<GateAdmin> {
  const { freezes, late, policies, record, shared } = data
  const { approvals, base, idle, meter, page, peers, servers, watcher } = calls
  const { path, dispose } = makeSocketPath(data.config.data)
  closing.defer(dispose)
  if (piped) late.url = path
  const ready = (sharedWhy = shared?.why) =>
    readiness(record, { policies, servers, freezes, tls: late.tls, sharedWhy })
  const engine = approvals.engine
  const parts = { ...data, ...identity, ...calls, approvals: engine, cluster: shared, parseConfig }
  const isReady = () => ready().ok
  const gauges = gaugesOf({ ...parts, processes: () => watcher.size, isReady })
  const metrics = new MetricsWriter(meter, gauges)
  const url = () => late.url
  await connectCluster(shared, { ...parts, approvals, url, isReady })
  const control: CommandRegistry = controlOf({
    ...parts,
    isPiped: piped,
    words: () => late.site?.words ?? {},
    ready,
    reload,
    metrics,
    url,
    page: base,
    stop: (why) => idle.stop(why),
  })
  const run = (word: string, request: JsonObject) => control.run(word, request)
  late.site = startAdmin?.({
    ...parts,
    ...observation,
    isPiped: piped,
    isOtherUser: (socket) => peers.isOtherUser(socket),
    reload,
    url,
    control: run,
    openPage: async () => {
      await page?.open()
      return base()
    },
  })
  closing.defer(() => late.site?.close())
  closing.defer(() => page?.close())
  const onClients = (count: number) => idle.clients(count)
  const socket = openSocket({ ...parts, path, command: run, onClients })
  closing.defer(() => socket.close())
  await socket.listen()
  return { ready, metrics, socket }
}
