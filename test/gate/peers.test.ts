// Who is at the other end of a connection, seen from outside: processes that a gate started are not let in,
// whatever their group and session.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { PlainClient } from '../support/plain-client.ts'
import { rawPost, sendRaw } from '../support/raw-http.ts'
import { sluice } from '../support/run-sluice.ts'
import { endGates, fixture, NODE, startGate } from '../support/start-gate.ts'

/** For a machine that is busy; an answer ends it sooner. */
const PATIENCE_MS = 20_000

afterAll(endGates)

describe.runIf(process.platform === 'linux')('a poisoned server', () => {
  test('cannot call the gate it is behind, nor can what it started; others can', async () => {
    const poisoned = await startGate({ servers: { knocking: fixture('knocking') } })
    const client = await PlainClient.open(poisoned, 'knocking')
    const { answer } = await client.call('knock', { url: client.url })
    const tries = (answer.result.content as { text: string }[]).map(({ text }) => JSON.parse(text))
    expect(tries).toHaveLength(2)
    for (const { status, said } of tries) {
      expect(status).toBe(403)
      // An isolated one does not even see the socket.
      expect(said).toMatch(/"ok":false.*itself started|ENOENT/)
    }
    const api = await client.call('knock', { url: `${poisoned.url}/api/sign-in` })
    for (const { text } of api.answer.result.content) expect(JSON.parse(text).status).toBe(403)
    // Somebody new, while it lives: over HTTP, and by a command.
    const other = await sendRaw(
      poisoned.url,
      rawPost(
        '/mcp/knocking',
        [`host: ${new URL(poisoned.url).host}`, 'content-type: application/json'],
        '{}',
      ),
      PATIENCE_MS,
    )
    expect(other).toMatch(/^HTTP\/1.1 400 /)
    const status = await sluice(['status', '--config', join(poisoned.folder, 'sluice.yaml')])
    expect([status.code, status.stderr]).toEqual([0, ''])
    // A gate beside it, with a data directory of its own: its servers are other programs of the user.
    const beside = await startGate({ servers: { knocking: fixture('knocking') } })
    const visitor = await PlainClient.open(beside, 'knocking')
    for (const [from, to] of [
      [client, visitor],
      [visitor, client],
    ] as const) {
      const visits = (await from.call('knock', { url: to.url })).answer.result.content
      for (const { text } of visits) expect(JSON.parse(text).status).toBe(400)
    }
    const { answer: own } = await visitor.call('knock', { url: visitor.url })
    for (const { text } of own.result.content) expect(JSON.parse(text).status).toBe(403)
  })

  test('F5: the first PIN is not taken from a process without a terminal', async () => {
    const next = await startGate({ servers: { knocking: fixture('knocking') } })
    const pin = { do: 'first-pin', name: 'eve', pin: 'eve was here', at: 'x' }
    const setsid = [
      '--wait',
      NODE,
      '--input-type=module',
      '-e',
      ASK,
      next.data,
      JSON.stringify(pin),
    ]
    const { stdout } = spawnSync('setsid', setsid, { encoding: 'utf8' })
    expect(stdout).toContain('has no terminal')
    // In a pid namespace of its own it cannot say which process it is.
    if (process.getuid?.() !== 0) return
    const apart = ['--pid', '--fork', ...setsid.slice(1)]
    const far = spawnSync('unshare', apart, { encoding: 'utf8' })
    // Not every container lets its root do that.
    if (far.status === 0) expect(far.stdout).toContain('the connection is refused')
  })
})

/** Asks the gate of a data directory, as a command would. */
const ASK = `
import { askGate } from ${JSON.stringify(join(ROOT, 'packages/cli/src/connect/gate-socket.ts'))}
const [data, request] = process.argv.slice(1)
await askGate(data, JSON.parse(request)).catch((error) => console.log(error.message))
`
