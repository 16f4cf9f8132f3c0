// Processes of servers, seen from outside: never more than the setting says, ended when nobody uses
// them, started again by the next call of the same session; and what is asked right before a client
// closes its output is answered.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import { running } from '../support/processes.ts'
import {
  endGates,
  fixture,
  NODE,
  programFile,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'

afterAll(endGates)

describe.runIf(process.platform === 'linux')('processes of servers', () => {
  let gate: RunningGate

  beforeAll(async () => {
    gate = await startGate({
      servers: { office: fixture('office'), echo: { ...fixture('echo'), share: 'all' } },
      config: { processes: { max: 2, idle: '2s', wait: '30s' } },
    })
  })

  test('suites F3: more sessions than processes all work, an idle process ends and the session stays', async () => {
    const clients: PlainClient[] = []
    for (let opened = 0; opened < 5; opened++) clients.push(await PlainClient.open(gate, 'office'))
    for (const round of [1, 2])
      for (const client of clients) {
        const { status, answer } = await client.call('read_file', { path: `a-${round}` })
        expect([status, answer.result?.isError]).toEqual([200, undefined])
        expect(running(gate, programFile('office')).length).toBeLessThanOrEqual(2)
      }
    const shared = await PlainClient.open(gate, 'echo')
    expect((await shared.call('echo', { a: 1 })).answer.error).toBeUndefined()
    await until(
      () =>
        running(gate, programFile('office')).length + running(gate, programFile('echo')).length ===
        0,
    )
    for (const client of [clients[0] as PlainClient, shared]) {
      const { status, answer } = await client.ask('tools/list')
      expect([status, answer.result?.tools?.length > 0]).toEqual([200, true])
    }
    // A client that ended its session is told so, and why.
    await clients[1]?.end()
    const gone = await clients[1]?.call('read_file', { path: 'a' })
    expect([gone?.status, gone?.text]).toEqual([
      404,
      expect.stringContaining('this session is over (the client ended the session)'),
    ])
  })

  test('`sluice stdio` answers what was asked before its input ended, then exits', async () => {
    const place = ['--config', join(gate.folder, 'sluice.yaml')]
    for (const server of [['--server', 'office'], []]) {
      const child = spawn(NODE, [SLUICE, 'stdio', ...server, ...place])
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }
      const lines = [
        { id: 1, method: 'initialize', params },
        { method: 'notifications/initialized' },
        { id: 2, method: 'tools/list' },
      ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      child.stdin.end(lines.join(''))
      const [output, code] = await Promise.all([
        text(child.stdout),
        new Promise((resolve) => child.once('exit', resolve)),
      ])
      const answers = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ id }) => id !== undefined)
      expect([server, code, answers]).toMatchObject([
        server,
        0,
        [{ id: 1 }, { id: 2, result: { tools: expect.any(Array) } }],
      ])
    }
  })
})
