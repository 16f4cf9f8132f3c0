// `sluice gates`: the gates that share a store with this one.

import type { JsonObject } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import type { CommandParts } from '../gateway/start/run-admin.ts'
import { type Operation, operation } from './operation.ts'

export function createListGates({ cluster, config }: CommandParts): Operation {
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
