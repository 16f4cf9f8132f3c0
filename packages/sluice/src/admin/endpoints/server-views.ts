// How each server is, for people: up, idle, starting, failing and why, frozen, or without a login;
// where it is reached, without what is secret; and what became of its calls since the gate started.

import { basename } from 'node:path'
import { toOutcomeLabel } from '../../core/outcome-label.ts'
import type { ServerConfig } from '../../gateway/config/config.ts'
import type { AdminParts } from '../../gateway/start/run-admin.ts'
import { withoutValues } from '../../gateway/state/servers.ts'
import type { ServerFailure } from '../../gateway/tools/server-notes.ts'
import type { PendingServerView } from '../contract/contract.ts'
import type { ServerView } from '../contract/contract-console.ts'
import type { OutcomeLabel } from '../contract/contract-live.ts'

export function serverViews(parts: AdminParts): ServerView[] {
  const { servers, gate, pins, freezes, meter } = parts
  const listed = new Set(gate.knownTools.map(({ definition }) => definition.server))
  const tools = parts.tools.counts()
  const fresh = parts.newTools.list()
  const calls = new Map<string, Partial<Record<OutcomeLabel, number>>>()
  for (const { labels, value } of meter.decisions) {
    const counts = calls.get(labels.server ?? '') ?? {}
    const word = toOutcomeLabel(labels.action ?? '', labels.code ?? '')
    counts[word] = (counts[word] ?? 0) + value
    calls.set(labels.server ?? '', counts)
  }
  return servers.entries.map(([name, server]) => {
    const figures = gate.figures(name)
    const frozen = freezes.of({ server: name, principal: '', agent: null })
    const failure = gate.notes.failureOf(name)
    const mine = pins.held.filter(({ tool }) => tool.definition.server === name)
    return {
      name,
      kind: server.kind,
      where: whereOf(server),
      ...stateOf(figures, listed.has(name), failure, frozen?.why),
      ...figures,
      tools: tools.get(name) ?? 0,
      listed: listed.has(name),
      new: fresh.filter(({ server }) => server === name).length,
      held: mine.length,
      undecided: mine.filter(({ refused }) => refused === undefined).length,
      calls: calls.get(name) ?? {},
    }
  })
}

/** What would be started or reached, for people to see; it is accepted at a terminal. */
export function pendingViews({ servers }: AdminParts): PendingServerView[] {
  return servers.pending.map(({ name, how, written }) => ({
    ...{ name, how },
    entry: JSON.stringify(withoutValues(written)),
  }))
}

function stateOf(
  { sessions, openRequests }: { readonly sessions: number; readonly openRequests: number },
  hasTools: boolean,
  failure: ServerFailure | undefined,
  frozen: string | undefined,
): Pick<ServerView, 'state' | 'why'> {
  if (frozen !== undefined) return { state: 'frozen', why: frozen }
  if (failure !== undefined) {
    const why = [failure.message, failure.help].filter(Boolean).join(': ')
    const needsLogin = failure.code === 'UPSTREAM_NEEDS_LOGIN'
    return { state: needsLogin ? 'needs login' : 'failing', why }
  }
  if (sessions === 0) return { state: 'idle', why: '' }
  // A server that has answered before is up, however long a call of it takes or is held.
  return { state: openRequests === sessions && !hasTools ? 'starting' : 'up', why: '' }
}

/** Arguments and addresses may carry credentials: the program and the host are enough. */
function whereOf(server: ServerConfig): string {
  if (server.kind === 'builtin') return `builtin: ${server.builtin}`
  if (server.kind === 'http') {
    const { origin, pathname } = new URL(server.url)
    return `${origin}${pathname}`
  }
  return server.command
    .slice(0, 3)
    .map((part) => basename(part))
    .join(' ')
}
