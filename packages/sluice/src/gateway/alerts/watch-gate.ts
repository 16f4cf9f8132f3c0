// What alerts are raised for, looked at every few seconds: the rate of denials, limits that are nearly
// full, servers that fail, definitions that wait, new tools, the ledger, and other gates of a shared
// store. An alert tells what it was not told before, and is over when that is not so any more. Nothing
// here is on the path of a call.

import type { Alert, AlertKind } from '../../core/alert.ts'
import type { LedgerState } from '../../ledger/ledger.ts'
import type { ListedGate } from '../../store/postgres/gate-directory.ts'
import type { AlertsConfig } from '../config/alerts.ts'
import type { VerifiedLedger } from '../data/verification-thread.ts'
import type { Meter } from '../metrics/meter.ts'
import type { NewTool } from '../tools/new-tools.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import type { ServerNotes } from '../tools/server-notes.ts'
import type { Alerts } from './alerts.ts'
import { describeLimitKey, nameCounterOwner } from './describe-limit.ts'
import {
  ALERT_CALLS_MIN,
  ALERT_DENIALS_MS,
  ALERT_LOOK_MS,
  ALERT_NAMES_MAX,
  ALERT_SUBJECTS_MAX,
} from './limits.ts'
import type { LimitInUse } from './limits-in-use.ts'
import { listNames } from './list-names.ts'

export interface WatchedGate {
  readonly config: AlertsConfig
  readonly alerts: Pick<Alerts, 'raise' | 'settle' | 'flush'>
  readonly meter: Pick<Meter, 'decisions'>
  readonly servers: () => readonly string[]
  readonly notes: Pick<ServerNotes, 'failureOf'>
  readonly held: () => readonly PendingDefinition[]
  readonly newTools: () => readonly NewTool[]
  /** Those of which at least this share is used. */
  readonly limits: (share: number) => readonly LimitInUse[]
  readonly ledgerState: () => LedgerState
  /** What the last verification found; undefined if there was none since the start. */
  readonly verified: () => Pick<VerifiedLedger, 'problems'> | undefined
  /** Gates of the shared store; undefined if there is none. */
  readonly gates: (() => Promise<readonly ListedGate[]>) | undefined
}

interface DecisionCount {
  readonly calls: number
  readonly denied: number
}

type AlertText = Pick<Alert, 'title' | 'facts' | 'page' | 'overTitle'>

export class GateWatch {
  readonly #gate: WatchedGate
  /** Of the period that denials are counted over, the oldest first. */
  readonly #counts: DecisionCount[]
  /** By tool, when the period began, or the one before: what was refused since then is what an alert names. */
  #refusals: ReadonlyMap<string, number>
  #looks = 0
  /** What people know of each kind. */
  readonly #told = new Map<AlertKind, ReadonlySet<string>>()

  constructor(gate: WatchedGate) {
    this.#gate = gate
    this.#counts = [countDecisions(gate.meter)]
    this.#refusals = countRefusals(gate.meter)
    // What an earlier gate has told.
    this.#told.set('definition', new Set(listWaiting(gate).keys()))
    this.#told.set('tools', new Set(gate.newTools().map(nameTool)))
  }

  async look(): Promise<void> {
    this.#gate.alerts.flush()
    this.#lookAtDenials()
    this.#lookAtLimits()
    this.#lookAtServers()
    this.#lookAtDefinitions()
    this.#lookAtNewTools()
    this.#lookAtLedger()
    await this.#lookAtGates()
  }

  /** Untold subjects are told as soon as an alert of this kind may be sent. */
  #report(
    kind: AlertKind,
    subjects: ReadonlySet<string>,
    describe: (fresh: readonly string[]) => AlertText,
  ): void {
    const { alerts } = this.#gate
    alerts.settle(kind, subjects)
    const told = this.#told.get(kind)
    const known = [...subjects].filter((subject) => told?.has(subject))
    const fresh = [...subjects].filter((subject) => !told?.has(subject))
    const watched = fresh.slice(0, ALERT_SUBJECTS_MAX)
    const isSent = fresh.length > 0 && alerts.raise({ kind, ...describe(fresh), subjects: watched })
    this.#told.set(kind, isSent ? subjects : new Set(known))
  }

  #lookAtDenials(): void {
    const { config, meter } = this.#gate
    const now = countDecisions(meter)
    this.#counts.push(now)
    const before = this.#counts[0] as DecisionCount
    if (this.#counts.length > LOOKS_OF_DENIALS) this.#counts.shift()
    const [calls, denied] = [now.calls - before.calls, now.denied - before.denied]
    const isHigh = calls >= ALERT_CALLS_MIN && (denied / calls) * 100 >= config.denialsPercent
    this.#report('denials', new Set(isHigh ? ['rate'] : []), () => ({
      title: 'Many calls are denied',
      facts: [
        {
          name: 'Denied',
          value: `${denied} of ${calls} calls in ${ALERT_DENIALS_MS / 60_000} minutes`,
        },
        { name: 'Mostly', value: listMostRefused(meter, this.#refusals).join(', ') },
      ],
      page: '/overview?range=1h&section=calls',
      overTitle: 'Few calls are denied again',
    }))
    if (++this.#looks % LOOKS_OF_DENIALS === 0) this.#refusals = countRefusals(meter)
  }

  #lookAtLimits(): void {
    const { config, limits } = this.#gate
    const full = new Map(limits(config.limitPercent / 100).map((limit) => [limit.key, limit]))
    this.#report('limit', new Set(full.keys()), (fresh) => ({
      title:
        fresh.length === 1 ? 'A limit is nearly full' : `${fresh.length} limits are nearly full`,
      facts: fresh.slice(0, ALERT_NAMES_MAX).map((key) => {
        const { used, max } = full.get(key) as LimitInUse
        const owner = describeSessionId(nameCounterOwner(key))
        const value = [`${used} of ${max}`, owner].filter(Boolean).join(', ')
        return { name: describeLimitKey(key).limit, value }
      }),
      page: '/overview?section=limits',
      overTitle: fresh.length === 1 ? 'The limit has room again' : 'The limits have room again',
    }))
  }

  #lookAtServers(): void {
    const { notes, servers } = this.#gate
    const failing = servers().filter((name) => notes.failureOf(name) !== undefined)
    this.#report('server', new Set(failing), (fresh) => ({
      title: fresh.length === 1 ? 'A server is failing' : `${fresh.length} servers are failing`,
      facts: [{ name: fresh.length === 1 ? 'Server' : 'Servers', value: listNames(fresh) }],
      page: serverPage(fresh),
      overTitle:
        fresh.length === 1
          ? 'The server is no longer failing'
          : 'The servers are no longer failing',
    }))
  }

  #lookAtDefinitions(): void {
    const waiting = listWaiting(this.#gate)
    this.#report('definition', new Set(waiting.keys()), (fresh) => {
      const tools = fresh.map((digest) => waiting.get(digest) as ToolName)
      return {
        title:
          fresh.length === 1
            ? 'A tool definition waits for review'
            : `${fresh.length} tool definitions wait for review`,
        facts: [
          { name: fresh.length === 1 ? 'Tool' : 'Tools', value: listNames(tools.map(nameTool)) },
        ],
        page: `${serverPage(tools.map(({ server }) => server))}?section=definitions`,
      }
    })
  }

  #lookAtNewTools(): void {
    const tools = new Map(this.#gate.newTools().map((tool) => [nameTool(tool), tool]))
    this.#report('tools', new Set(tools.keys()), (fresh) => ({
      title:
        fresh.length === 1 ? 'A server has a new tool' : `${fresh.length} new tools have appeared`,
      facts: [{ name: fresh.length === 1 ? 'Tool' : 'Tools', value: listNames(fresh) }],
      page: `${serverPage(fresh.map((name) => (tools.get(name) as ToolName).server))}?show=new`,
    }))
  }

  #lookAtLedger(): void {
    const { ledgerState, verified } = this.#gate
    const state = ledgerState()
    const [problem] = verified()?.problems ?? []
    const faults = [
      ...(state === 'writing' ? [] : ['recording']),
      ...(problem === undefined ? [] : ['chain']),
    ]
    this.#report('ledger', new Set(faults), ([fault]) =>
      fault === 'recording'
        ? {
            title: 'Calls cannot be recorded, and none is forwarded',
            facts: [{ name: 'Because', value: STATES[state] ?? state }],
            page: '/settings?section=data',
            overTitle: 'Calls are recorded again',
          }
        : {
            title: 'The chain of the ledger does not verify',
            facts: [{ name: 'Problem', value: problem ?? '' }],
            page: '/ledger',
            overTitle: 'The chain of the ledger verifies again',
          },
    )
  }

  async #lookAtGates(): Promise<void> {
    const { gates } = this.#gate
    if (gates === undefined) return
    const listed = await gates().catch(() => undefined)
    if (listed === undefined) return
    // A gate that was stopped has said so.
    const lost = new Set(
      listed.filter(({ isLive, state }) => !isLive && state !== 'stopped').map(({ name }) => name),
    )
    // What was lost before this gate came was told by the others.
    if (!this.#told.has('gate')) this.#told.set('gate', lost)
    this.#report('gate', lost, (fresh) => ({
      title: fresh.length === 1 ? 'A gate does not answer' : `${fresh.length} gates do not answer`,
      facts: [{ name: fresh.length === 1 ? 'Gate' : 'Gates', value: listNames(fresh) }],
      page: '/settings?section=data',
      overTitle: fresh.length === 1 ? 'The gate is back' : 'The gates are back',
    }))
  }
}

const STATES: Readonly<Partial<Record<LedgerState, string>>> = {
  reserve: 'the disk is full',
  failing: 'the ledger cannot be written',
}

const MOSTLY_NAMED = 3
const LOOKS_OF_DENIALS = ALERT_DENIALS_MS / ALERT_LOOK_MS

type ToolName = Pick<NewTool, 'server' | 'name'>

function nameTool({ server, name }: ToolName): string {
  return `${server}/${name}`
}

/** By digest. */
function listWaiting({ held }: WatchedGate): ReadonlyMap<string, ToolName> {
  return new Map(
    held()
      .filter(({ refused }) => refused === undefined)
      .map(({ digest, tool }) => [digest, tool.definition]),
  )
}

/** Of the only one; of all if there are several. */
function serverPage(names: readonly string[]): string {
  const [name = '', ...others] = new Set(names)
  return others.length > 0 ? '/servers' : `/servers/${encodeURIComponent(name)}`
}

function isRefusal({ action }: Readonly<Record<string, string>>): boolean {
  return action !== 'allow' && action !== 'require_approval'
}

function countDecisions({ decisions }: WatchedGate['meter']): DecisionCount {
  let [calls, denied] = [0, 0]
  for (const { labels, value } of decisions) {
    calls += value
    if (isRefusal(labels)) denied += value
  }
  return { calls, denied }
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
    .map(({ tool, value }) => `${listNames([tool])} (${value})`)
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
