// A freeze: from that instant nothing is forwarded, whatever is open is cancelled, and no restart
// thaws it. Seen with the real commands, on a running gate and before one runs.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { askGate } from '../../packages/cli/src/connect/gate-socket.ts'
import { findSocketPath } from '../../packages/gateway/src/front/socket/socket-path.ts'
import { serveGate } from '../support/own-gate.ts'
import { atTerminal } from '../support/person.ts'
import { bytesTo, PlainClient, recordsOf, sentTo } from '../support/plain-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { endGates, fixture, type ServingGate, startGate, until } from '../support/start-gate.ts'

afterAll(endGates)
vi.setConfig({ testTimeout: 90_000 })

function officeIn(folder: string) {
  const office = fixture('office', join(folder, 'office.log'))
  return { servers: { office, other: fixture('echo') }, folder }
}

function startOffice() {
  return serveGate(officeIn(mkdtempSync(join(tmpdir(), 'sluice-gate-'))))
}

function eventsOf(gate: ServingGate, name: string): unknown[] {
  return recordsOf(gate).flatMap((record) =>
    record.kind === 'event' && record.name === name ? [record.detail] : [],
  )
}

/** What the running gate answers to one line on its socket. */
function say(gate: ServingGate, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(findSocketPath(gate.data)!)
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      const question = /^\{"prove":"([\w-]+)"\}\n/.exec(text)?.[1]
      if (question === undefined) return
      // Processes of some gate run: this one has to show that it is none of them.
      text = ''
      process.title = question
      socket.write(`${JSON.stringify({ do: 'proof', pid: process.pid })}\n`)
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write(line)
  })
}

test('a freeze stops calls that are open, calls that come, lists and new sessions', async () => {
  const gate = await startOffice()
  const office = await PlainClient.open(gate, 'office')
  const other = await PlainClient.open(gate, 'other')
  expect((await office.call('read_file', { path: 'a' })).answer.result.isError).toBeUndefined()
  const open = office.call('get_slow', { ms: 60_000 })
  await until(() => bytesTo(gate.folder).includes('get_slow'))
  const place = ['--config', join(gate.folder, 'sluice.yaml')]

  const why = 'odd calls'
  const frozen = await sluiceJson(['freeze', '--server', 'office', '--why', why, ...place])
  expect(frozen).toMatchObject({ ok: true, cancelled: 1, warnings: [] })
  const { error } = (await open).answer
  expect(error.code).toBe(-31004)
  expect(error.message).toContain('the server `office` is frozen (odd calls)')
  expect(error.message).toContain('whether it was carried out is unknown')
  await until(() => bytesTo(gate.folder).includes('notifications/cancelled'))

  const before = bytesTo(gate.folder)
  const { result } = (await office.call('read_file', { path: 'b' })).answer
  expect(result).toMatchObject({ isError: true, _meta: { 'sluice/decision': { code: 'FROZEN' } } })
  expect(result.content[0].text).toContain('until a person runs `sluice freeze --lift`')
  expect((await office.ask('tools/list')).answer.error.code).toBe(-31004)
  expect((await office.ask('ping')).answer.error.code).toBe(-31004)
  await office.tell('notifications/roots/list_changed')
  const late = await new PlainClient(gate, 'office').initialize()
  expect(late.answer.error.message).toContain('is frozen')
  expect(bytesTo(gate.folder)).toBe(before)
  expect((await other.call('echo', { n: 1 })).answer.result.isError).toBeUndefined()

  const status = await sluiceJson(['status', ...place])
  expect(status).toMatchObject({ running: true, frozen: [{ scope: 'server', id: 'office', why }] })
  expect(await (await fetch(`${gate.url}/readyz`)).text()).toBe(
    'ready: frozen: the server `office`\n',
  )
  await atTerminal(gate.data)
  const thawed = await sluice(['freeze', '--lift', '--server', 'office', ...place])
  expect(thawed).toMatchObject({ code: 0, stdout: 'thawed: the server `office`\n' })
  expect((await office.call('read_file', { path: 'c' })).answer.result.isError).toBeUndefined()
  const paths = sentTo(gate.folder).flatMap(({ params }) => params?.arguments?.path ?? [])
  expect(paths).toEqual(['a', 'c'])

  expect(eventsOf(gate, 'freeze')).toEqual([{ scope: 'server', id: 'office', why, cancelled: 1 }])
  expect(eventsOf(gate, 'thaw')).toMatchObject([{ scope: 'server', id: 'office' }])
  const refusals = recordsOf(gate).flatMap((record) =>
    record.kind === 'refusal' ? [record.decision.code] : [],
  )
  expect(refusals).toEqual(['FROZEN'])
  const cancelled = recordsOf(gate).filter(
    (record) => record.kind === 'outcome' && record.status === 'cancelled',
  )
  expect(cancelled).toHaveLength(1)
})

test('frozen while no gate runs, it is frozen when one does, and stays so over kill -9', async () => {
  const first = await startOffice()
  await first.stop()
  const place = ['--data', first.data]
  const misspelt = ['--server', 'offise', '--config', join(first.folder, 'sluice.yaml')]
  const wrong = await sluice(['freeze', ...misspelt])
  expect(wrong.stderr).toContain('no server is called `offise`')
  expect(wrong.stderr).toContain('`office`, `other`')
  expect((await sluice(['freeze', ...place])).code).toBe(0)
  expect(await sluiceJson(['status', ...place])).toMatchObject({
    running: false,
    frozen: [{ scope: 'all', id: '' }],
  })
  const gate = await startGate(officeIn(first.folder))
  expect(gate.log).toContain('the gate is frozen')
  const { answer } = await new PlainClient(gate, 'office').initialize()
  expect(answer.error.data['sluice/decision'].code).toBe('FROZEN')
  await gate.kill()
  expect(await sluiceJson(['status', ...place])).toMatchObject({ frozen: [{ scope: 'all' }] })
  await atTerminal(first.data)
  expect((await sluice(['freeze', '--lift', ...place])).stdout).toBe('thawed: the gate\n')
  const again = await sluice(['freeze', '--lift', ...place])
  expect(again).toMatchObject({ code: 2 })
  expect(again.stderr).toContain('the gate is not frozen [CLI_GATE]\n  help: nothing is frozen')
  expect(eventsOf(first, 'freeze')).toHaveLength(1)
  expect(eventsOf(first, 'thaw')).toHaveLength(1)
})

test('a freeze in the middle of many calls: what is refused never arrives', async () => {
  const gate = await startOffice()
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => PlainClient.open(gate, 'office')),
  )
  // Each goes on until it is refused, so that the freeze comes between calls however long it takes.
  const callOn = async (client: PlainClient, name: string) => {
    const stopped: { path: string; sent: boolean; unknown: boolean }[] = []
    for (let isOpen = true; isOpen; ) {
      const path = `${name}-${stopped.length}`
      const { answer } = await client.call('read_file', { path })
      const text = JSON.stringify(answer.error ?? answer.result)
      isOpen = !text.includes('FROZEN')
      stopped.push({ path, sent: isOpen, unknown: text.includes('unknown') })
    }
    return stopped
  }
  const answers = clients.flatMap((client, at) =>
    Array.from({ length: 10 }, (_, turn) => callOn(client, `${at}-${turn}`)),
  )
  await until(() => sentTo(gate.folder).length > 20)
  await askGate(gate.data, { do: 'freeze' })
  const results = (await Promise.all(answers)).flat()
  await gate.stop()
  const arrived = new Set(
    sentTo(gate.folder).flatMap(({ params }) => params?.arguments?.path ?? []),
  )
  for (const { path, sent, unknown } of results)
    if (!unknown) expect([path, arrived.has(path)]).toEqual([path, sent])
})

test('the socket answers what it does not know in words, and a pipe still is one', async () => {
  const gate = await startOffice()
  expect(JSON.parse(await say(gate, '{"do":"dance"}\n'))).toMatchObject({
    ok: false,
    message: 'the gate knows no command `dance`',
  })
  expect(JSON.parse(await say(gate, 'office\n')).message).toContain('is not JSON')
  expect(JSON.parse(await say(gate, '{"do":1}\n')).message).toContain('not an object with `do`')
  expect(JSON.parse(await say(gate, '{"do":"x","do":"y"}\n')).message).toContain('is not JSON')
  expect(JSON.parse(await say(gate, 'x'.repeat(70_000))).message).toContain('more than 65536 bytes')
  expect(JSON.parse(await say(gate, '{"do":"pipe","server":"none"}\n'))).toMatchObject({
    message: 'no server is called `none`',
    help: '`sluice server list` shows the servers, and which wait for a person',
  })
  writeFileSync(join(gate.folder, 'sluice.yaml'), 'version: 1\nservers: {')
  const lost = await sluice(['freeze', '--config', join(gate.folder, 'sluice.yaml')])
  expect(lost).toMatchObject({ code: 2 })
  expect(lost.stderr).toContain('name the directory with --data')
  expect((await sluice(['freeze', '--data', gate.data])).code).toBe(0)
})
