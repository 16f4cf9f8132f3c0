// Events of the ledger in words, for the console and the command line. Pure.

import { toWordSet } from '@sluice/policy/structures/word-set'
/** The event that a person has handled an alert: the console reads it back. */
export const ALERT_HANDLED = 'alert-handled'

const TITLES: Readonly<Record<string, string>> = {
  alert: 'Alert sent',
  [ALERT_HANDLED]: 'Alert handled',
  start: 'Gate started',
  stop: 'Gate stopped',
  policy: 'Policy put in force',
  pin: 'Definition accepted',
  freeze: 'Frozen',
  thaw: 'Thawed',
  session: 'Session began',
  'session-end': 'Session ended by a person',
  server: 'Server changed',
  grant: 'Grant changed',
  grants: 'Grants changed',
  approver: 'Approver changed',
  'approval-proposed': 'Approval requested',
  'approval-notified': 'Approvers notified',
  'approval-voted': 'Vote on an approval',
  'approval-approved': 'Call approved',
  'approval-denied': 'Call denied by an approver',
  'approval-expired': 'Approval expired',
  'approval-void': 'Approval withdrawn',
  'approval-executed': 'Approved call made',
  'approval-returned': 'Result of an approved call returned',
  'approval-revealed': 'Masked arguments revealed',
  'approval-lifted': 'Denial lifted',
  'approval-standing-ended': 'Standing approval ended',
  answers: 'Messages of a server changed by the policy',
  labels: 'Labels seen',
  proof: 'Person proved who they are',
  'proof-refused': 'Proof of a person refused',
  'person-forgotten': 'Person forgotten',
  restore: 'Backup restored',
  recovery: 'Ledger recovered',
  'ledger-recovery': 'Ledger recovered',
  retention: 'Old records removed',
  outage: 'Calls could not be recorded',
  failover: 'Records given back after a failover of the database',
  export: 'Ledger exported',
  'console-call': 'Call tried from the console',
  'decision-asked': 'Decision asked for',
  lock: 'Tools locked',
  'agents-trust': 'Installation trusted',
  'traces-start': 'Recording of sessions started',
  quiet: 'Question of a client answered',
  'traces-stop': 'Recording of sessions stopped',
  'traces-export': 'Recorded sessions exported',
}

/** Titles of events whose `how` says what happened. */
const TITLES_BY_HOW: Readonly<Record<string, string>> = {
  'policy waiting': 'A policy waits to be applied',
  'alert over': 'Alert over',
  'pin new': 'New tools',
  'pin refused': 'Definition refused',
  'grant add': 'Grant added',
  'grant revoke': 'Grant revoked',
  'grant forget': 'Grant removed from the list',
  'server added': 'Server added',
  'server removed': 'Server removed',
  'server restarted': 'Server restarted',
  'approver added': 'Person added',
  'approver removed': 'Person removed',
}

/** An event of another name is shown by that. */
export function titleOfEvent(name: string, detail: unknown): string {
  const how = isObject(detail) && typeof detail.how === 'string' ? detail.how : ''
  const title = TITLES_BY_HOW[`${name} ${how}`]
  if (title !== undefined) return title
  // `passkey added`, `console opened` and so on.
  if (name === 'approver' && how !== '') return `${how.slice(0, 1).toUpperCase()}${how.slice(1)}`
  return TITLES[name] ?? name
}

/** Long names for what a person knows by shorter ones, and what the title says. */
const OMITTED_KEYS = toWordSet('call session pin asked argsDigest method how ok id kind verified')
/** Keys that are clearer by another word; an empty one leaves the value alone. */
const LABELS: Readonly<Record<string, string>> = {
  expiresAtMs: 'expires',
  asks: 'rule',
  title: '',
  facts: '',
  isFirstPolicy: 'the first policy',
  signedBy: 'signed by',
  slots: 'sessions at most',
  policy: 'under',
  channel: 'over',
  channels: 'over',
  proof: 'proved by',
  why: 'because',
}
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/
const DIGEST = /\b((?:sha256:)?[\w-]{8})[\w-]{32,}/g

/** The call, who did it and for whom, then its other values. `event` is the name of the event. */
export function describeEvent(detail: unknown, event = ''): string {
  if (!isObject(detail)) return detail === null ? '' : JSON.stringify(detail)
  const whole = SENTENCES[event]?.(detail)
  if (whole !== undefined) return whole
  const { server, name, by, principal, agent, ...rest } = detail
  const call = joinText([server, name], '/')
  const [person, caller] = [joinText([toName(by)], ''), joinText([principal, agent], ' / ')]
  const words = [call, person && `by ${person}`, caller && `for ${caller}`]
  for (const [key, value] of Object.entries(rest)) {
    const text = OMITTED_KEYS.has(key) ? '' : toText(key, value)
    if (text === '') continue
    const label = LABELS[key] ?? toLabel(key)
    words.push(value === true ? label : `${label} ${text}`.trim())
  }
  return words.filter((word) => word !== '').join(', ')
}

type Detail = Readonly<Record<string, unknown>>

/** Events that a list of values would not say plainly. */
const SENTENCES: Readonly<Record<string, (detail: Detail) => string | undefined>> = {
  session: ({ principal, client, servers }) =>
    joinText([principal, client && `with ${toText('', client)}`, `to ${toText('', servers)}`], ' '),
  grants: ({ hold }) => `valid now: ${toText('', hold) || 'none'}`,
  freeze: ({ scope, id, why, cancelled }) => {
    const end = Number(cancelled) > 0 ? `; open calls cancelled: ${toText('', cancelled)}` : ''
    return `${describeTarget(scope, id)}${why ? `: ${toText('', why)}` : ''}${end}`
  },
  thaw: ({ scope, id, by, frozenAtMs }) =>
    joinText(
      [
        describeTarget(scope, id),
        by && `by ${toText('', toName(by))}`,
        frozenAtMs && `frozen since ${toText('atMs', frozenAtMs)}`,
      ],
      ', ',
    ),
  policy: ({ how, documents, loosens, by }) => {
    if (!Array.isArray(documents)) return undefined
    const changed = documents.filter((one) => !isObject(one) || one.from !== one.to)
    const looser = Array.isArray(loosens) ? loosens.length : 0
    return joinText(
      [
        toText('', changed.length === 0 ? documents : changed),
        how && `how: ${toText('', how)}`,
        looser > 0 && `rules loosened: ${looser}`,
        by && `by ${toText('', toName(by))}`,
      ],
      ', ',
    )
  },
}

function describeTarget(scope: unknown, id: unknown): string {
  return scope === 'all' ? 'everything' : joinText(['the', scope, id], ' ')
}

function joinText(parts: readonly unknown[], between: string): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(between)
}

/** `frozenAtMs` is `frozen at`. */
function toLabel(key: string): string {
  return key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** Describes a detail; empty for false, zero and missing values. */
function toText(key: string, value: unknown): string {
  if (value === null || value === false || value === '' || value === 0) return ''
  if (Array.isArray(value))
    return value
      .map((one) => toText(key, one))
      .filter((text) => text !== '')
      .join(' and ')
  if (isObject(value)) {
    const { name, rule, channel, value: said } = value
    if (typeof name === 'string' && typeof said === 'string') return `${name}: ${said}`
    const named = [name, rule, channel].find((one) => typeof one === 'string')
    return typeof named === 'string' ? toText(key, named) : ''
  }
  const isMs = typeof value === 'number' && key.endsWith('Ms')
  // A time is a trillion milliseconds and more; less is how long something took.
  if (isMs && value <= 1e12)
    return value < 60_000 ? `${value} ms` : `${Math.round(value / 60_000)} min`
  const text = isMs ? new Date(value).toISOString() : String(value)
  return text.replace(ISO_TIME, '$1 $2 UTC').replace(DIGEST, '$1…').replaceAll('~1', '/')
}

/** A person is recorded by name, or with how they proved who they are. */
function toName(by: unknown): unknown {
  return isObject(by) && 'name' in by ? by.name : by
}

function isObject(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
