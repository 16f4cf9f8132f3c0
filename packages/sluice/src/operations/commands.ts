// The words of the control socket: every row of the table that has one, on the parts of the running
// gate. Put together once, when the gate starts.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import { CommandRegistry } from '../gateway/front/socket/command-registry.ts'
import type { CommandParts } from '../gateway/start/run-admin.ts'
import { InstallationKey } from '../identity/keys/installation-key.ts'
import { SessionTokens } from '../identity/sessions/session-tokens.ts'
import { type Operation, operation } from './operation.ts'
import { createApplyPolicy } from './policy.ts'
import { runOperation } from './run-operation.ts'
import { createSessionOperations } from './sessions.ts'
import { createStatusOperations } from './status.ts'
import { createGateServerOperations, OPERATIONS, toOperationParts } from './table.ts'
import { TRACE_OPERATIONS } from './traces.ts'
import { createTrustKey } from './trust-key.ts'

export function createCommands(parts: CommandParts): CommandRegistry {
  const rows = listOperations(parts)
  const on = toOperationParts(parts)
  // From the start on: a command may ask what has changed since an earlier answer.
  void on.news
  const words = rows.flatMap((row) =>
    row.socket === undefined
      ? []
      : [
          [
            row.socket,
            (request: Parameters<typeof runOperation>[2]) => runOperation(row, on, request),
          ] as const,
        ],
  )
  return new CommandRegistry(Object.fromEntries(words), parts.words)
}

/** All rows: those of every data directory, and those that only a running gate has. */
export function listOperations(parts: CommandParts): readonly Operation[] {
  return [
    ...OPERATIONS,
    ...createStatusOperations(parts),
    createListGates(parts),
    ...createSessionOperations(parts.gate.sessions, () => {
      const key = parts.cluster?.key ?? InstallationKey.at(parts.config.data)
      return new SessionTokens(key).make()
    }),
    ...TRACE_OPERATIONS,
    createApplyPolicy(parts),
    createTrustKey(parts.config.data),
    ...createGateServerOperations(parts),
  ]
}

/** `sluice gates`: the gates that share a store with this one. */
function createListGates({ cluster, config }: CommandParts): Operation {
  return operation({
    name: 'gates',
    summary: 'the gates that share a store with this one',
    role: 'viewer',
    proof: 'none',
    socket: 'gates',
    command: 'gates',
    input: {},
    run: async (): Promise<JsonObject> => {
      if (cluster === undefined)
        throw new OperationError('this gate shares no store', 'add `store: postgres://…`')
      const gates = await cluster.directory.list()
      return { self: config.cluster?.name ?? '', gates: gates.map((gate) => ({ ...gate })) }
    },
  })
}
