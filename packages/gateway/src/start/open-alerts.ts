// The alerts of a gate that starts: what is watched, and the channels they go out on.

import type { AlertChannel } from '@sluice/access/approvals/alert'
import type { Ledger } from '@sluice/ledger/ledger'
import type { AlertRows } from '@sluice/ledger/store/alert-rows'
import { processClock } from '@sluice/ledger/store/process-clock'
import { Alerts } from '../alerts/alerts.ts'
import { ALERT_LOOK_MS, ALERT_LOOK_MS_MIN, ALERT_WORDS_LENGTH } from '../alerts/limits.ts'
import { listNames } from '../alerts/list-names.ts'
import { GateWatch } from '../alerts/watch-gate.ts'
import type { GateConfig } from '../config/config.ts'
import type { LedgerVerification } from '../data/ledger-verification.ts'
import type { HookIncident } from '../front/hooks/hook-gate.ts'
import type { Log } from '../shared/log.ts'
import type { GateCalls } from './open-calls.ts'
import type { ClusterOperations } from './run-admin.ts'

export interface OpenAlertsParts
  extends Pick<
      GateCalls,
      'gate' | 'meter' | 'servers' | 'onRefusedHost' | 'onReplacedFile' | 'pins' | 'newTools'
    >,
    Pick<GateCalls, 'hooks' | 'limits'> {
  readonly config: Pick<GateConfig, 'alerts' | 'cluster' | 'data'>
  readonly channels: readonly AlertChannel[]
  readonly ledger: Ledger
  readonly rows: AlertRows
  readonly verification: LedgerVerification
  readonly cluster: ClusterOperations | undefined
  readonly log: Log
  readonly base: () => string | undefined
}

export function openAlerts(parts: OpenAlertsParts, closing: AsyncDisposableStack): Alerts {
  const { config, channels, gate, ledger, cluster, log, base } = parts
  const wanted = channels.filter(({ channel }) =>
    config.alerts.channels.some((name) => name === channel),
  )
  const { nowMs } = processClock
  const alerts = new Alerts({
    config: config.alerts,
    channels: wanted,
    ledger,
    rows: parts.rows,
    log,
    nowMs,
    base,
    gate: config.cluster?.name ?? '',
  })
  const lookMs = Math.max(ALERT_LOOK_MS_MIN, Math.min(ALERT_LOOK_MS, config.alerts.everyMs))
  const watch = new GateWatch({
    config: config.alerts,
    lookMs,
    alerts,
    meter: parts.meter,
    servers: () => parts.servers.names,
    notes: gate.notes,
    pendingDefinitions: () => parts.pins.pending,
    isDecided: (digest) => parts.pins.isDecided(digest),
    limits: (share, watched) => parts.limits.listNearlyFull(share, watched, clockNow()),
    newTools: () => parts.newTools.list(),
    ledgerState: () => ledger.state,
    verified: () => parts.verification.last,
    storeFault: () => cluster?.fault,
    nowMs,
    gates: cluster === undefined ? undefined : () => cluster.directory.list(),
  })
  let isLooking = false
  const look = async (): Promise<void> => {
    // A store that is slow to answer must not let two looks tell the same.
    if (isLooking) return
    isLooking = true
    await watch.look().catch((error: Error) => log('warn', 'alerts failed', { why: error.message }))
    isLooking = false
  }
  const timer = setInterval(() => void look(), lookMs).unref()
  closing.defer(() => clearInterval(timer))
  if (config.alerts.on.includes('ledger')) parts.verification.startRegularly(config.alerts.verifyMs)
  raiseIncidents(alerts, parts)
  return alerts
}

/** Raises an alert for what happens once: no look at the gate's state would find it. */
function raiseIncidents(
  alerts: Alerts,
  {
    gate,
    hooks,
    onRefusedHost,
    onReplacedFile,
  }: Pick<OpenAlertsParts, 'gate' | 'hooks' | 'onRefusedHost' | 'onReplacedFile'>,
): void {
  hooks.onIncident(({ server, tool, what }) =>
    alerts.raise({
      kind: 'hooks',
      title: HOOK_TITLES[what],
      facts: [{ name: 'Tool', value: listNames([`${server}/${tool}`]) }],
      page: '/ledger',
    }),
  )
  gate.onInjection(({ server, tool, principal, session, found: { what, words } }) => {
    const from = tool === undefined ? { server } : { server, name: tool }
    alerts.raise({
      kind: 'injection',
      title: 'An answer tries to instruct the model',
      facts: [
        tool === undefined
          ? { name: 'Server', value: server }
          : { name: 'Tool', value: listNames([`${server}/${tool}`]) },
        { name: 'Caller', value: listNames([principal]) },
        { name: 'Found', value: what === 'hidden text' ? `${what}: ${words}` : `${what}` },
      ],
      // What was found is in the gate's words; only those of the answer are quoted.
      found: what === 'hidden text' ? '' : words.slice(0, ALERT_WORDS_LENGTH),
      // The newest of these calls is the one that was answered.
      page: `/ledger?${new URLSearchParams({ session, ...from, untilMs: String(processClock.nowMs()) })}`,
    })
  })
  onReplacedFile((server, file) =>
    alerts.raise({
      kind: 'sandbox',
      title: 'A protected file was replaced while a box ran: the box was ended',
      facts: [
        { name: 'Client', value: server },
        { name: 'File', value: listNames([file]) },
      ],
      page: `/servers/${encodeURIComponent(server)}`,
    }),
  )
  onRefusedHost((server, host) =>
    alerts.raise({
      kind: 'sandbox',
      title: 'A locked server tried another host',
      facts: [
        { name: 'Server', value: server },
        { name: 'Host', value: host },
      ],
      page: `/servers/${encodeURIComponent(server)}`,
    }),
  )
}

const HOOK_TITLES: Readonly<Record<HookIncident['what'], string>> = {
  rewritten: 'Another hook changed a call after it was decided',
  unconfined: 'A line ran outside of the box that it was admitted for',
  unasked: 'A client used a tool that the gate did not decide on',
  bypassed: 'A call went to a server that only has the name of one behind the gate',
  unannounced: 'A client goes on without its hooks',
  refused: 'A hook was refused before any rule was asked',
}

export function clockNow(): { readonly wallMs: number; readonly monotonicMs: number } {
  return { wallMs: Date.now(), monotonicMs: performance.now() }
}
