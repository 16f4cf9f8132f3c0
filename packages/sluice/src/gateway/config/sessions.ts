// How many sessions a principal may have, as sluice.yaml says for all and for a grant or an issuer. `slots`
// is an older name of `sessions.max`. Called by config.ts, grants.ts and auth.ts.

import { asMap } from '@sluice/policy/document/check-shape'
import { scalar } from '@sluice/policy/document/fields'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import { parseDuration, type Shape } from '@sluice/policy/document/shape'
import { AGENT_SESSIONS_MAX, SLOTS } from '../../core/grant-fields.ts'
import {
  AGENT_SESSION_IDLE_MS,
  AGENT_SESSIONS_SECONDS_MAX,
  AGENT_SESSIONS_WINDOW_MS,
} from '../../identity/limits.ts'
import type { SessionLimit } from '../../identity/sessions/agent-sessions.ts'

export interface SessionsConfig extends SessionLimit {
  /** A session ends so long after its last connection. */
  readonly idleMs: number
}

const seconds: Shape = { kind: 'duration', maxSeconds: AGENT_SESSIONS_SECONDS_MAX }

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
export const SESSION_LIMIT: Shape = {
  kind: 'object',
  noun: 'a quota of sessions',
  fields: LIMIT_FIELDS,
}

export const SESSIONS: Shape = {
  kind: 'object',
  noun: 'settings of sessions',
  fields: {
    ...LIMIT_FIELDS,
    idle: {
      shape: seconds,
      doc: 'a session ends so long after its last connection',
      default: '30m',
    },
  },
}

export function readSessions(map: LocatedMap): SessionsConfig {
  const sessions = asMap(findEntry(map, 'sessions'))
  const idleMs = readMs(sessions, 'idle') ?? AGENT_SESSION_IDLE_MS
  return { ...readLimit(sessions, DEFAULT), idleMs }
}

/** What a grant or an issuer says, and for the rest what holds for all. */
export function readSessionLimit(node: LocatedMap, common: SessionLimit): SessionLimit {
  const { max, windowMs } = readLimit(asMap(findEntry(node, 'sessions')), common)
  const slots = scalar(node, 'slots')
  const hasMax = findEntry(asMap(findEntry(node, 'sessions')), 'max') !== undefined
  return { max: hasMax || slots === undefined ? max : Number(slots), windowMs }
}

const DEFAULT: SessionLimit = { max: AGENT_SESSIONS_MAX, windowMs: AGENT_SESSIONS_WINDOW_MS }

function readLimit(map: LocatedMap, common: SessionLimit): SessionLimit {
  return {
    max: Number(scalar(map, 'max') ?? common.max),
    windowMs: readMs(map, 'window') ?? common.windowMs,
  }
}

function readMs(map: LocatedMap, key: string): number | undefined {
  const seconds = parseDuration(scalar(map, key) as string | number)
  return seconds === undefined ? undefined : seconds * 1_000
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
