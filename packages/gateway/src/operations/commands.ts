// The words of the control socket: every row of the table that has one, on the parts of the running
// gate. Put together once, when the gate starts.

import { CommandRegistry } from '../front/socket/command-registry.ts'
import type { CommandParts } from '../start/run-admin.ts'
import { runOperation } from './run-operation.ts'
import { OPERATIONS, toOperationParts } from './table.ts'

export function createCommands(parts: CommandParts): CommandRegistry {
  const on = toOperationParts(parts)
  // From the start on: a command may ask what has changed since an earlier answer.
  void on.news
  const words = OPERATIONS.flatMap((row) =>
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
