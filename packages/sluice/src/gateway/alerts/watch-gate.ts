// What alerts are raised for, looked at every few seconds: the rate of denials, limits that are nearly
// full, servers that fail, definitions that wait, the ledger, and other gates of a shared store. Nothing
// here is on the path of a call.

import type { Alert } from '../../core/alert.ts'
import type { ListedGate } from '../../store/postgres/gate-directory.ts'
import type { AlertsConfig } from '../config/alerts.ts'
import type { Meter } from '../metrics/meter.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import type { ServerNotes } from '../tools/server-notes.ts'
import { describeLimitKey } from './describe-limit.ts'
import { ALERT_CALLS_MIN, ALERT_DENIALS_MS, ALERT_LOOK_MS, ALERT_NAMES_MAX } from './limits.ts'
import type { LimitInUse } from './limits-in-use.ts'

export interface WatchedGate {
  readonly config: AlertsConfig
  readonly raise: (alert: Alert) => void
  readonly meter: Pick<Meter, 'decisions'>
  readonly servers: () => readonly string[]
  readonly notes: Pick<ServerNotes, 'failureOf'>
  readonly held: () => readonly PendingDefinition[]
  readonly limits: () => readonly LimitInUse[]
  /** Why calls cannot be recorded; undefined if they can. */
  readonly ledgerFault: () => string | undefined
  /** Gates of the shared store; undefined if there is none. */
  readonly gates: (() => Promise<readonly ListedGate[]>) | undefined
}

interface DecisionCount {
  readonly calls: number
  readonly denied: number
}

/** What was seen at the last look: an alert tells what is new. */
export class GateWatch {
  readonly #gate: WatchedGate
  readonly #counts: DecisionCount[] = []
  /** By tool, some minutes ago: what was refused since then is what an alert names. */
  #refusals: ReadonlyMap<string, number> = new Map()
  #looks = 0
  #failing: ReadonlySet<string> = new Set()
  #reported: ReadonlySet<string>
  #full: ReadonlySet<string> = new Set()
  #lost: ReadonlySet<string> | undefined
  #hasFault = false

  constructor(gate: WatchedGate) {
    this.#gate = gate
    this.#reported = new Set(gate.held().map(({ digest }) => digest))
    this.#refusals = countRefusals(gate.meter)
  }

  async look(): Promise<void> {
    this.#lookAtDenials()
    this.#lookAtLimits()
    this.#lookAtServers()
    this.#lookAtDefinitions()
    this.#lookAtLedger()
    await this.#lookAtGates()
  }

  #lookAtDenials(): void {
    const { config, meter, raise } = this.#gate
    let [calls, denied] = [0, 0]
    for (const { labels, value } of meter.decisions) {
      calls += value
      if (isRefusal(labels)) denied += value
    }
    this.#counts.push({ calls, denied })
    const before = this.#counts[0] as DecisionCount
    if (this.#counts.length > ALERT_DENIALS_MS / ALERT_LOOK_MS) this.#counts.shift()
    const [some, refused] = [calls - before.calls, denied - before.denied]
    if (some < ALERT_CALLS_MIN || (refused / some) * 100 < config.denialsPercent) {
      if (++this.#looks % (ALERT_DENIALS_MS / ALERT_LOOK_MS) === 0)
        this.#refusals = countRefusals(meter)
      return
    }
    const value = `${refused} of ${some} calls in ${ALERT_DENIALS_MS / 60_000} minutes`
    const mostly = listMostRefused(meter, this.#refusals)
    const facts = [
      { name: 'Denied', value },
      { name: 'Mostly', value: mostly.join(', ') },
    ]
    raise({ kind: 'denials', title: 'Many calls are denied', facts, page: '/overview?range=1h' })
    // Reported once: the next alert needs new denials.
    this.#counts.splice(0, this.#counts.length - 1)
    this.#refusals = countRefusals(meter)
  }

  #lookAtLimits(): void {
    const { config, limits, raise } = this.#gate
    const full = limits().filter(({ share }) => share * 100 >= config.limitPercent)
    const fresh = full.filter(({ key }) => !this.#full.has(key))
    this.#full = new Set(full.map(({ key }) => key))
    if (fresh.length === 0) return
    const facts = fresh.slice(0, ALERT_NAMES_MAX).map(({ key, used, max }) => ({
      name: describeLimitKey(key).limit,
      value: [`${used} of ${max}`, describeSessionId(describeLimitKey(key).whose)]
        .filter(Boolean)
        .join(', '),
    }))
    raise({ kind: 'limit', title: 'A limit is nearly full', facts, page: '/overview' })
  }

  #lookAtServers(): void {
    const { notes, raise, servers } = this.#gate
    const failing = servers().filter((name) => notes.failureOf(name) !== undefined)
    const fresh = failing.filter((name) => !this.#failing.has(name))
    this.#failing = new Set(failing)
    if (fresh.length === 0) return
    const facts = [{ name: 'Servers', value: fresh.slice(0, ALERT_NAMES_MAX).join(', ') }]
    raise({ kind: 'server', title: 'A server is failing', facts, page: '/servers' })
  }

  #lookAtDefinitions(): void {
    const { held, raise } = this.#gate
    const waiting = held().filter(({ refused }) => refused === undefined)
    const fresh = waiting.filter(({ digest }) => !this.#reported.has(digest))
    this.#reported = new Set(waiting.map(({ digest }) => digest))
    if (fresh.length === 0) return
    const names = fresh.map(({ tool }) => `${tool.definition.server}/${tool.definition.name}`)
    const facts = [{ name: 'Tools', value: names.slice(0, ALERT_NAMES_MAX).join(', ') }]
    const title = 'A tool definition has changed and waits for review'
    raise({ kind: 'definition', title, facts, page: '/servers' })
  }

  #lookAtLedger(): void {
    const { ledgerFault, raise } = this.#gate
    const fault = ledgerFault()
    if (fault !== undefined && !this.#hasFault)
      raise({ kind: 'ledger', title: 'Calls cannot be recorded', facts: [], page: '/ledger' })
    this.#hasFault = fault !== undefined
  }

  async #lookAtGates(): Promise<void> {
    const { gates, raise } = this.#gate
    if (gates === undefined) return
    const listed = await gates().catch(() => undefined)
    if (listed === undefined) return
    // A gate that was stopped has said so.
    const lost = listed
      .filter(({ isLive, state }) => !isLive && state !== 'stopped')
      .map(({ name }) => name)
    const known = this.#lost ?? new Set(lost)
    const fresh = lost.filter((name) => !known.has(name))
    this.#lost = new Set(lost)
    if (fresh.length === 0) return
    const facts = [{ name: 'Gates', value: fresh.slice(0, ALERT_NAMES_MAX).join(', ') }]
    raise({ kind: 'gate', title: 'A gate does not answer any more', facts, page: '/settings' })
  }
}

const MOSTLY_NAMED = 3

function isRefusal({ action }: Readonly<Record<string, string>>): boolean {
  return action !== 'allow' && action !== 'require_approval'
}

function countRefusals({ decisions }: WatchedGate['meter']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { labels, value } of decisions) {
    if (!isRefusal(labels)) continue
    const tool = `${labels.server}/${labels.tool}`
    counts.set(tool, (counts.get(tool) ?? 0) + value)
  }
  return counts
}

function listMostRefused(
  meter: WatchedGate['meter'],
  before: ReadonlyMap<string, number>,
): readonly string[] {
  return [...countRefusals(meter)]
    .map(([tool, value]) => ({ tool, value: value - (before.get(tool) ?? 0) }))
    .filter(({ value }) => value > 0)
    .sort((one, other) => other.value - one.value)
    .slice(0, MOSTLY_NAMED)
    .map(({ tool, value }) => `${tool} (${value})`)
}

/** `ann#2@1794819081355`: the caller, the number of the session, when it began. */
const SESSION_ID = /^(.+)#\d+@(\d{13})$/

/** A session by its caller and its beginning, other names unchanged. */
function describeSessionId(id: string): string {
  const [, caller, beganMs] = SESSION_ID.exec(id) ?? []
  if (caller === undefined) return id
  const began = new Date(Number(beganMs)).toISOString().slice(0, 16).replace('T', ' ')
  return `${caller} (session since ${began} UTC)`
}
