// How many sessions a principal may have, as sluice.yaml says for all and for a grant or an issuer. `slots`
// is an older name of `sessions.max`. Called by config.ts, grants.ts and auth.ts.

import { AGENT_SESSIONS_MAX, SLOTS } from '@sluice/access/identity/grant-fields'
import { AGENT_SESSIONS_SECONDS_MAX } from '@sluice/access/identity/limits'
import type { SessionLimit } from '@sluice/access/identity/sessions/agent-sessions'
import { duration, object } from '@sluice/policy/document/build-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { ShapeValue } from '@sluice/policy/document/shape'
import { readFields, toMs } from './values.ts'

export interface SessionsConfig extends SessionLimit {
  /** A session ends so long after its last connection. */
  readonly idleMs: number
}

const seconds = duration(AGENT_SESSIONS_SECONDS_MAX)

const LIMIT_FIELDS = {
  max: {
    shape: SLOTS,
    doc: 'sessions of one principal that can charge limits within `window`; a further connection joins the newest one',
    default: AGENT_SESSIONS_MAX,
  },
  window: {
    shape: seconds,
    doc: 'a session counts while it is live, and for so long after its last use',
    default: '1h',
  },
} as const

/** Of a grant or an issuer. */
export const SESSION_LIMIT = object('a quota of sessions', LIMIT_FIELDS)

export const SESSIONS = object('settings of sessions', {
  ...LIMIT_FIELDS,
  idle: { shape: seconds, doc: 'a session ends so long after its last connection', default: '30m' },
})

export function readSessions(map: LocatedMap): SessionsConfig {
  const { max, window, idle } = readFields(SESSIONS.fields, findEntry(map, 'sessions'))
  return { max, windowMs: toMs(window), idleMs: toMs(idle) }
}

/** What a grant or an issuer says, and for the rest what holds for all. */
export function readSessionLimit(
  {
    sessions = {},
    slots,
  }: {
    readonly sessions?: ShapeValue<typeof SESSION_LIMIT>
    readonly slots?: number
  },
  common: SessionLimit,
): SessionLimit {
  const { max = slots ?? common.max, window } = sessions
  return { max, windowMs: window === undefined ? common.windowMs : toMs(window) }
}

/** Sessions that have ended are counted for so long, at most. */
export function longestSessionWindowMs(config: {
  readonly sessions: SessionLimit
  readonly grants: readonly { readonly windowMs?: number }[]
  readonly issuers: readonly { readonly sessions: SessionLimit }[]
}): number {
  const windows = [
    ...config.grants.map(({ windowMs }) => windowMs ?? 0),
    ...config.issuers.map(({ sessions }) => sessions.windowMs),
  ]
  return windows.reduce((longest, each) => Math.max(longest, each), config.sessions.windowMs)
}
