// Requests of gates of version 0.1, which ask each other by rows of a table: during an upgrade such a gate may run beside
// this one. Its requests are refused, so that its callers try again and need not wait for its patience to end.

import { createHmac } from 'node:crypto'
import { serialize } from 'node:v8'
import type { SharedAgents } from '@sluice/ledger/store/postgres/shared-agents'

const TAKE = `UPDATE sluice_agents.requests SET is_taken = true
  WHERE lease = $1 AND NOT is_taken RETURNING id`
const REPLY = 'UPDATE sluice_agents.requests SET reply = $2 WHERE id = $1'

export async function refuseRowRequests(
  { connections, gate, requestKey }: Pick<SharedAgents, 'connections' | 'gate' | 'requestKey'>,
  lease: string,
): Promise<void> {
  for (const { id } of await connections.query(TAKE, [lease])) {
    const message = `the agent runs at \`${gate}\`, a gate of a newer version: ask that gate, or try again when this one is upgraded`
    const body = serialize({ error: { code: 'AGENT_UNAVAILABLE', message } })
    const code = createHmac('sha256', requestKey).update(`reply ${id}\n`).update(body).digest()
    await connections.query(REPLY, [id, Buffer.concat([code, body])])
  }
}
