// A gate's part of a shared store for tests: connections, tables and admission, with the encoding of the
// ledger and without a gate around it.

import { encodeBody } from '../../records/encoding.ts'
import { type DecisionEntry, outcomeEntry } from '../../records/record.ts'
import type { ApprovalUseRequest } from '../admission.ts'
import { parsePostgresUrl } from './address.ts'
import { PostgresAdmissionStore } from './admission.ts'
import type { PostgresAdmissionParts } from './admission-parts.ts'
import { PostgresConnections } from './connections.ts'
import { migrate } from './migrate.ts'

export async function openSharedGate(
  url: string,
  gate: string,
  more: Partial<PostgresAdmissionParts<DecisionEntry>> = {},
) {
  const connections = new PostgresConnections(parsePostgresUrl(url))
  await migrate(connections)
  const store = new PostgresAdmissionStore<DecisionEntry>({
    connections,
    gate,
    encodeIntent: (entry) => encodeBody({ ...entry, kind: 'intent' }),
    encodeUndone: (intent) =>
      encodeBody(outcomeEntry(intent, { atMs: 1, status: 'cancelled', givenBack: true })),
    encodeOutage: (detail) =>
      encodeBody({ kind: 'event', atMs: 1, name: 'outage', detail: { ...detail } }),
    usesOf: ({ isStanding }: ApprovalUseRequest) => (isStanding ? 10 : 1),
    version: () => 0,
    stamp: () => 0,
    settle: async () => {},
    catchUp: async () => {},
    ...more,
  })
  await store.start()
  const close = async (): Promise<void> => {
    await store.close()
    await connections.close()
  }
  return { connections, store, close }
}
