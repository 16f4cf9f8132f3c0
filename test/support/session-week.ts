// Clients that come and go, as in a week of chats: a session each, a labelled call, and then two of three
// end their session while the third just vanishes. For the soak, and in small for the tests.

import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import { PlainClient } from './plain-client.ts'
import { fixture, type GateSpec, type RunningGate } from './start-gate.ts'

const AT_ONCE = 4

/** A second stands for half an hour: a session ends a second after its last connection. */
export const WEEK_GATE: GateSpec = {
  servers: { files: { ...fixture('office'), share: 'all' } as { command: string[] } },
  policy: 'version: 1\ndefault: allow\nlabels: { files/read_file: [private] }\n',
  config: { sessions: { max: 20, window: '1s', idle: '1s' } },
}

/** Returns how many of them got their answer. */
export async function connectClients(gate: RunningGate, count: number): Promise<number> {
  let answered = 0
  let next = 0
  const work = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      const client = await PlainClient.open(gate, 'files')
      const { answer } = await client.call('read_file', { path: 'a.txt' })
      if (answer.result?.content !== undefined) answered += 1
      if (number % 3 === 0) continue
      const headers = { 'mcp-session-id': client.session ?? '' }
      await fetch(client.url, { method: 'DELETE', headers })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return answered
}

/** Sessions that the data directory has: what a restart would bring back. */
export function countStoredSessions(gate: RunningGate): number {
  const store = openGateStore(gate.data)
  try {
    return Number(store.prepare('SELECT count(*) AS n FROM sessions').get()?.n)
  } finally {
    store.close()
  }
}
