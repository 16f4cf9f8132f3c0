// `sluice status` and `sluice status --metrics` of a running gate.

import type { JsonObject, JsonValue } from '@sluice/policy/core/json'
import { readPackageVersion } from '../gateway/shared/package-version.ts'
import type { CommandParts } from '../gateway/start/run-admin.ts'
import type { ServerFailure } from '../gateway/tools/server-notes.ts'
import { listFreezes } from './freeze.ts'
import { type Operation, operation } from './operation.ts'
import { listPeople } from './people.ts'
import { toSessionView } from './sessions.ts'

export function createStatusOperations(parts: CommandParts): readonly Operation[] {
  return [
    operation({
      name: 'status',
      summary: 'show the state of the gate',
      role: 'viewer',
      proof: 'none',
      socket: 'status',
      command: 'status',
      input: {},
      run: () => describeGate(parts),
    }),
    operation({
      name: 'metrics',
      summary: 'the figures of the gate, in the format of Prometheus',
      role: 'viewer',
      proof: 'none',
      socket: 'metrics',
      command: 'status --metrics',
      input: {},
      run: async () => ({ text: (await parts.metrics.write()).text }),
    }),
    operation({
      name: 'stop',
      summary: 'end the gate: open calls are answered first',
      role: 'viewer',
      // A user who can reach the socket can end the process, too; a stopped gate lets nothing pass.
      proof: 'none',
      socket: 'stop',
      command: 'stop',
      input: {},
      run: () => {
        const { pid, url, isPiped, sessions } = describeGate(parts)
        setImmediate(() => parts.stop('sluice stop'))
        return { pid, url, isPiped, sessions }
      },
    }),
  ]
}

function describeGate(
  parts: CommandParts,
): JsonObject & Record<'pid' | 'url' | 'isPiped' | 'sessions', JsonValue> {
  const { config, gate, ledger, policies, ready, url, isPiped } = parts
  const { ok, why } = ready()
  const { commits, seq, open, kept } = ledger.figures
  return {
    running: true,
    pid: process.pid,
    version: readPackageVersion(),
    upSeconds: Math.round(process.uptime()),
    url: url(),
    page: parts.page() ?? null,
    isPiped,
    data: config.data,
    ready: ok,
    observed: policies.now.all.flatMap(({ name, shadow }) => (shadow ? [name] : [])),
    why,
    policy: { ...policies.describe(), isFirstPolicy: policies.isFirst },
    frozen: listFreezes(parts),
    waiting: parts.approvals.pendingCount,
    ...listPeople(parts),
    servers: parts.servers.entries.map(([name, { kind }]) => ({
      name,
      kind,
      ...gate.figures(name),
      ...failureOf(gate.notes.failureOf(name)),
      ...leftOutOf(gate.notes.limitMetBy(name)),
    })),
    sessions: gate.sessions.list().map(toSessionView),
    pendingServers: parts.servers.pending.map(({ name, how }) => ({ name, how })),
    ledger: { state: ledger.state, records: seq, commits, open, kept },
  }
}

/** Why a server does not answer; for a missing login, with the command that does it. */
function failureOf(failure: ServerFailure | undefined): JsonObject {
  if (failure === undefined) return {}
  const { code, message, help } = failure
  const fails = [message, help].filter(Boolean).join(': ')
  return { code, fails }
}

function leftOutOf(why: string | undefined): JsonObject {
  return why === undefined ? {} : { leftOut: why }
}
