// `share:` in front of real servers: several sessions, of both generations, over one process. Each gets its
// own answers and progress; the process ends with the gate, and its death is told to all.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { running } from '../support/processes.ts'
import { throughGate } from '../support/real-client.ts'
import { endGates, published, type RunningGate, startGate, until } from '../support/start-gate.ts'
import { statelessClient } from '../support/stateless-client.ts'

const TIMEOUT_MS = 180_000
let gate: RunningGate
const serversOf = (of: RunningGate) => running(of, 'server-everything')

beforeAll(async () => {
  gate = await startGate({ servers: { one: { ...published('everything'), share: 'all' } } })
}, TIMEOUT_MS)
afterAll(endGates)

test(
  'six sessions, one process; everybody gets what is theirs',
  async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => throughGate(gate, 'one')))
    const stateless = await Promise.all([
      statelessClient(gate, 'one'),
      statelessClient(gate, 'one'),
    ])
    const clients = [...sessions.map(({ client }) => client), ...stateless]
    const steps: number[][] = clients.map(() => [])
    const answers = await Promise.all(
      clients.flatMap((client, at) => [
        client.callTool({ name: 'echo', arguments: { message: `for ${at}` } }),
        client.callTool(
          { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 + at } },
          ...(at < 4 ? [undefined] : []),
          { onprogress: ({ progress }: { progress: number }) => void steps[at]?.push(progress) },
        ),
      ]),
    )
    expect(serversOf(gate)).toHaveLength(1)
    for (const [at] of clients.entries()) {
      expect(JSON.stringify(answers[2 * at])).toContain(`for ${at}`)
      expect(steps[at]?.at(-1)).toBe(2 + at)
    }
    // What it would ask of a client it may not: nobody could say whose it is.
    const { tools } = await (sessions[0] as (typeof sessions)[0]).client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('trigger-sampling-request')
    await Promise.all([
      ...sessions.map(({ close }) => close()),
      ...stateless.map((each) => each.close()),
    ])
  },
  TIMEOUT_MS,
)

test(
  'its death is told, and the next session has a new one',
  async () => {
    const { client } = await throughGate(gate, 'one')
    const [pid = 0] = serversOf(gate)
    process.kill(pid, 'SIGKILL')
    await expect(client.callTool({ name: 'echo', arguments: { message: 'x' } })).rejects.toThrow()
    await until(() => !serversOf(gate).includes(pid))
    const again = await throughGate(gate, 'one')
    expect(await again.client.callTool({ name: 'echo', arguments: { message: 'y' } })).toBeDefined()
    await again.close()
  },
  TIMEOUT_MS,
)
