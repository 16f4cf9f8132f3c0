// What alerts are raised for, looked at every few seconds: the rate of denials, limits that are nearly
// full, servers that fail, definitions that wait, new tools, the ledger, and other gates of a shared
// store. An alert tells what was not told before, by this gate, by it before a restart, or by another gate
// that sees the same, and is over when that is known not to be so any more. Nothing here is on the path of
// a call.

import type { AlertKind } from '@sluice/access/approvals/alert'
import type { LedgerState } from '@sluice/ledger/ledger'
import { GATE_GONE_MS } from '@sluice/ledger/store/limits'
import type { ListedGate } from '@sluice/ledger/store/postgres/gate-directory'
import type { AlertsConfig } from '../config/alerts.ts'
import type { VerifiedLedger } from '../data/verification-thread.ts'
import type { Meter } from '../metrics/meter.ts'
import type { NewTool } from '../tools/new-tools.ts'
import type { PendingDefinition } from '../tools/pins.ts'
import type { ServerNotes } from '../tools/server-notes.ts'
import type { Alerts, AlertText } from './alerts.ts'
import { countDecisions, type DecisionCount, describeMost, listMost } from './decision-counts.ts'
import { describeLimitKey, nameCounterOwner } from './describe-limit.ts'
import {
  ALERT_CALLS_MIN,
  ALERT_DENIALS_MS,
  ALERT_NAMES_MAX,
  GATE_LOST_NEWS_MS,
  LIMITS_LOOKED_MAX,
} from './limits.ts'
import { type LimitInUse, nameCounter, readCounter, type WatchedCounter } from './limits-in-use.ts'
import { listNames } from './list-names.ts'

export interface WatchedGate {
  readonly config: AlertsConfig
  /** Between two looks. */
  readonly lookMs: number
  readonly alerts: Pick<Alerts, 'report' | 'settle' | 'refresh' | 'ongoing'>
  readonly meter: Pick<Meter, 'decisions' | 'refusals'>
  readonly servers: () => readonly string[]
  readonly notes: Pick<ServerNotes, 'failureOf' | 'hasAnswered'>
  readonly pendingDefinitions: () => readonly PendingDefinition[]
  /** A person has accepted or refused the definition with this digest. */
  readonly isDecided: (digest: string) => boolean
  readonly newTools: () => readonly NewTool[]
  /** Those of which at least this share is used, also of these counters. Rejects if that is not known. */
  readonly limits: (
    share: number,
    watched: readonly WatchedCounter[],
  ) => Promise<readonly LimitInUse[]>
  readonly ledgerState: () => LedgerState
  /** What is wrong with the shared store; undefined if nothing is, or if there is none. */
  readonly storeFault: () => string | undefined
  readonly nowMs: () => number
  /** What the last verification found; undefined if there was none since the start. */
  readonly verified: () => Pick<VerifiedLedger, 'problems'> | undefined
  /** Gates of the shared store; undefined if there is none. */
  readonly gates: (() => Promise<readonly ListedGate[]>) | undefined
}

type LedgerPart = 'recording' | 'store' | 'chain'

interface Report {
  readonly kind: AlertKind
  /** Of a kind that is reported in parts. */
  readonly part?: string
  readonly subjects: ReadonlySet<string>
  /** Every gate of the store sees the same. */
  readonly isShared?: boolean
  /** Whether something that is not among the subjects is known to be over; otherwise it always is. */
  readonly isOver?: (subject: string) => boolean
  readonly describe: (fresh: readonly string[]) => AlertText
}

export class GateWatch {
  readonly #gate: WatchedGate
  /** Of the period that denials are counted over, the oldest first. */
  readonly #counts: DecisionCount[]
  /** What people know of each kind. */
  readonly #notified = new Map<string, ReadonlySet<string>>()
  /** What was so since the start of this process, of kinds that are not known before they are. */
  readonly #seen = new Set<string>()
  #limitsTurn = 0
  #hadStoreFault = false
  /** When a look last found a fault of the shared store. */
  #storeFaultMs = Number.NEGATIVE_INFINITY
  /** Looks in the period that denials are counted over. */
  readonly #looksCounted: number

  constructor(gate: WatchedGate) {
    this.#gate = gate
    this.#looksCounted = Math.ceil(ALERT_DENIALS_MS / gate.lookMs)
    this.#counts = [countDecisions(gate.meter)]
  }

  async look(): Promise<void> {
    // Without an answer of the store, what this gate sees by itself is told as ever.
    await this.#gate.alerts.refresh().catch(() => {})
    await this.#lookAtDenials()
    await this.#lookAtLimits()
    await this.#lookAtServers()
    await this.#lookAtDefinitions()
    await this.#lookAtNewTools()
    await this.#lookAtLedger()
    await this.#lookAtGates()
  }

  /** Untold subjects are told as soon as an alert of this kind may be sent. */
  async #report(report: Report): Promise<void> {
    const { kind, part = kind, subjects, isShared = false, isOver, describe } = report
    const { alerts } = this.#gate
    await alerts.settle(kind, (one) => !subjects.has(one) && (isOver === undefined || isOver(one)))
    const notified = new Set(this.#notified.get(part))
    for (const alert of alerts.ongoing(kind))
      for (const subject of alert.subjects ?? []) notified.add(subject)
    const fresh = [...subjects].filter((subject) => !notified.has(subject))
    const isNotified =
      fresh.length > 0 && (await alerts.report({ kind, subjects: fresh, isShared, describe }))
    const known = [...subjects].filter((subject) => isNotified || notified.has(subject))
    this.#notified.set(part, new Set(known))
  }

  /** For kinds of which a gate knows nothing when it starts: `isOver` if they are over in its own time. */
  #overIfSeen(
    kind: AlertKind,
    subjects: Iterable<string>,
    isOtherwiseOver: (subject: string) => boolean,
  ): (subject: string) => boolean {
    for (const subject of subjects) this.#seen.add(`${kind} ${subject}`)
    return (subject) => this.#seen.has(`${kind} ${subject}`) || isOtherwiseOver(subject)
  }

  async #lookAtDenials(): Promise<void> {
    const { config, meter, nowMs } = this.#gate
    const now = countDecisions(meter)
    this.#counts.push(now)
    const before = this.#counts[0] as DecisionCount
    const isWhole = this.#counts.length > this.#looksCounted
    if (isWhole) this.#counts.shift()
    const [calls, denied] = [now.calls - before.calls, now.denied - before.denied]
    const isHigh = calls >= ALERT_CALLS_MIN && (denied / calls) * 100 >= config.denialsPercent
    const subjects = new Set(isHigh ? ['rate'] : [])
    const [worst] = listMost(now.sessions, before.sessions)
    await this.#report({
      kind: 'denials',
      subjects,
      isOver: this.#overIfSeen('denials', subjects, () => isWhole),
      describe: () => ({
        title: 'Many calls are denied',
        facts: [
          {
            name: 'Denied',
            value: `${denied} of ${calls} calls in ${ALERT_DENIALS_MS / 60_000} minutes`,
          },
          { name: 'Mostly', value: describeMost(now.tools, before.tools) },
          { name: 'Callers', value: describeMost(now.sessions, before.sessions, SESSION_END) },
          { name: 'Sessions', value: describeMost(now.sessions, before.sessions, SESSION_BEGAN) },
        ],
        // Of several sessions the page and its report follow the worst.
        page: `/ledger?${new URLSearchParams({
          word: 'deny',
          ...(worst && { session: worst[0] }),
          order: 'oldest',
          sinceMs: String(nowMs() - ALERT_DENIALS_MS),
        })}`,
        overTitle: 'Few calls are denied again',
      }),
    })
  }

  async #lookAtLimits(): Promise<void> {
    const { config, limits } = this.#gate
    const watched = new Map(this.#watchedCounters().map((name) => [name, readCounter(name)]))
    const looked = await limits(config.limitPercent / 100, [...watched.values()]).catch(
      () => undefined,
    )
    if (looked === undefined) return
    const full = new Map(looked.map((limit) => [nameCounter(limit), limit]))
    await this.#report({
      kind: 'limit',
      subjects: new Set(full.keys()),
      isShared: true,
      isOver: (subject) => watched.has(subject),
      describe: (fresh) => ({
        title: countOf(fresh, 'A limit is nearly full', 'limits are nearly full'),
        facts: fresh.slice(0, ALERT_NAMES_MAX).map((name) => {
          const { key, used, max } = full.get(name) as LimitInUse
          const owner = nameCounterOwner(key).replace(SESSION_BEGAN, '')
          const value = [`${used} of ${max}`, owner].filter(Boolean).join(', ')
          return { name: describeLimitKey(key).limit, value }
        }),
        page: '/overview?section=limits',
        overTitle: fresh.length === 1 ? 'The limit has room again' : 'The limits have room again',
      }),
    })
  }

  /** Of ongoing alerts, each as a whole, in turn if there are many. */
  #watchedCounters(): readonly string[] {
    const ongoing = this.#gate.alerts.ongoing('limit').map(({ subjects = [] }) => subjects)
    const at = ongoing.length === 0 ? 0 : this.#limitsTurn++ % ongoing.length
    const watched: string[] = []
    for (const subjects of [...ongoing.slice(at), ...ongoing.slice(0, at)])
      if (watched.length + subjects.length <= LIMITS_LOOKED_MAX) watched.push(...subjects)
    return watched
  }

  async #lookAtServers(): Promise<void> {
    const { notes, servers } = this.#gate
    const names = servers()
    const failing = new Set(names.filter((name) => notes.failureOf(name) !== undefined))
    await this.#report({
      kind: 'server',
      subjects: failing,
      isOver: this.#overIfSeen(
        'server',
        failing,
        (name) => notes.hasAnswered(name) || !names.includes(name),
      ),
      describe: (fresh) => ({
        title: countOf(fresh, 'A server is failing', 'servers are failing'),
        facts: [namesOf('Server', fresh)],
        page: serverPage(fresh),
        overTitle: `The ${fresh.length === 1 ? 'server is' : 'servers are'} no longer failing`,
      }),
    })
  }

  async #lookAtDefinitions(): Promise<void> {
    const waiting = listWaiting(this.#gate)
    await this.#report({
      kind: 'definition',
      subjects: new Set(waiting.keys()),
      isShared: true,
      isOver: this.#overIfSeen('definition', waiting.keys(), this.#gate.isDecided),
      describe: (fresh) => {
        const tools = fresh.map((digest) => waiting.get(digest) as ToolName)
        return {
          title: countOf(
            fresh,
            'A tool definition waits for review',
            'tool definitions wait for review',
          ),
          facts: [namesOf('Tool', tools.map(nameTool))],
          page: `${serverPage(tools.map(({ server }) => server))}?section=definitions`,
        }
      },
    })
  }

  async #lookAtNewTools(): Promise<void> {
    const tools = new Map(this.#gate.newTools().map((tool) => [nameTool(tool), tool]))
    await this.#report({
      kind: 'tools',
      subjects: new Set(tools.keys()),
      describe: (fresh) => ({
        title: countOf(fresh, 'A server has a new tool', 'new tools have appeared'),
        facts: [namesOf('Tool', fresh)],
        page: `${serverPage(fresh.map((name) => (tools.get(name) as ToolName).server))}?show=new`,
      }),
    })
  }

  async #lookAtLedger(): Promise<void> {
    const { ledgerState, storeFault, verified } = this.#gate
    const [state, fault] = [ledgerState(), storeFault()]
    const problems = verified()?.problems
    const isRecording = state === 'writing' || fault !== undefined
    await this.#reportLedger('recording', isRecording ? undefined : (STATES[state] ?? state))
    // A slow answer makes calls fail for a second: not worth a message.
    await this.#reportLedger('store', this.#hadStoreFault ? fault : undefined)
    this.#hadStoreFault = fault !== undefined
    if (fault !== undefined) this.#storeFaultMs = this.#gate.nowMs()
    await this.#reportLedger('chain', problems?.[0], problems !== undefined)
  }

  async #reportLedger(part: LedgerPart, why: string | undefined, isKnown = true): Promise<void> {
    await this.#report({
      kind: 'ledger',
      part,
      subjects: new Set(why === undefined ? [] : [part]),
      isShared: part === 'store',
      isOver: (subject) => subject === part && isKnown,
      describe: () =>
        part === 'chain'
          ? {
              title: 'The chain of the ledger does not verify',
              facts: [{ name: 'Problem', value: why ?? '' }],
              page: '/ledger',
              overTitle: 'The chain of the ledger verifies again',
            }
          : {
              title: 'Calls cannot be recorded, and none is forwarded',
              facts: [{ name: 'Because', value: why ?? '' }],
              page: '/settings?section=data',
              overTitle: 'Calls are recorded again',
            },
    })
  }

  async #lookAtGates(): Promise<void> {
    const { gates, nowMs } = this.#gate
    // While no heartbeat can be written all gates seem lost, and until each has written one again.
    const canBeat = nowMs() >= this.#storeFaultMs + GATE_GONE_MS
    if (gates === undefined || !canBeat) return
    const listed = await gates().catch(() => undefined)
    if (listed === undefined) return
    // A gate that was stopped has said so.
    const lost = new Set(
      listed.filter(({ isLive, state }) => !isLive && state !== 'stopped').map(({ name }) => name),
    )
    // No news, and told by a gate that ran then.
    const old = listed.filter(
      ({ name, seenAt }) => lost.has(name) && Date.parse(seenAt) < nowMs() - GATE_LOST_NEWS_MS,
    )
    this.#notified.set(
      'gate',
      new Set([...(this.#notified.get('gate') ?? []), ...old.map((it) => it.name)]),
    )
    await this.#report({
      kind: 'gate',
      subjects: lost,
      isShared: true,
      describe: (fresh) => ({
        title: countOf(fresh, 'A gate does not answer', 'gates do not answer'),
        facts: [namesOf('Gate', fresh)],
        page: '/settings?section=data',
        overTitle: fresh.length === 1 ? 'The gate is back' : 'The gates are back',
      }),
    })
  }
}

const STATES: Readonly<Partial<Record<LedgerState, string>>> = {
  reserve: 'the disk is full',
  failing: 'the ledger cannot be written',
}

/** `one` if it is a single thing; otherwise how many there are of `several`. */
function countOf({ length }: readonly string[], one: string, several: string): string {
  return length === 1 ? one : `${length} ${several}`
}

function namesOf(what: string, names: readonly string[]): AlertText['facts'][number] {
  return { name: names.length === 1 ? what : `${what}s`, value: listNames(names) }
}

type ToolName = Pick<NewTool, 'server' | 'name'>

function nameTool({ server, name }: ToolName): string {
  return `${server}/${name}`
}

/** By digest. */
function listWaiting({ pendingDefinitions }: WatchedGate): ReadonlyMap<string, ToolName> {
  return new Map(
    pendingDefinitions()
      .filter(({ refused }) => refused === undefined)
      .map(({ digest, tool }) => [digest, tool.definition]),
  )
}

/** Of the only one; of all if there are several. */
function serverPage(names: readonly string[]): string {
  const [name = '', ...others] = new Set(names)
  return others.length > 0 ? '/servers' : `/servers/${encodeURIComponent(name)}`
}

/** Of a session `ann#2@1794819081355`: when it began, and its number with that. */
const SESSION_BEGAN = /@\d{13}$/
const SESSION_END = /#\d+@\d{13}$/
