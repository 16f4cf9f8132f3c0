// A session in words for people: the client as it calls itself, marked as self-reported, since when, and
// which servers it uses. Shown in approvals, the ledger, the console and by commands.

import { describeClient } from '@sluice/ledger/records/describe-client'
import { SESSION_CLIENT_LENGTH_MAX } from '../limits.ts'
import type { KnownSession } from './session-memory.ts'

/** A session with its figures. */
export interface SessionSummary extends KnownSession {
  /** How it is named: `pipe`, `mcp`, `token`, `common` or `family`; empty if only the ledger knows it. */
  readonly kind: string
  readonly connections: number
  /** The estimated tokens of all its answers. */
  readonly tokens: number
  /** The prices of its calls, by limits whose `amount` is a number; a decimal. */
  readonly cost: string
}

export interface SessionView extends SessionSummary {
  readonly startedAtMs: number
  readonly lastUsedMs: number
}

/** Printable ASCII without quotes: the text is shown between quotes, and nothing may look like the end. */
export function cleanClient(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\`]/g, '?').slice(0, SESSION_CLIENT_LENGTH_MAX)
}

export function describeSession(session: SessionView): string {
  const { startedAtMs, servers } = session
  const since = new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ')
  const uses = servers.length === 0 ? '' : `, uses ${servers.join(', ')}`
  return `${describeClient(session)} since ${since} UTC${uses}`
}
