// What servers ask of their clients, as people see it: with the method as title, who asks and what for;
// and allowed by the policy that is suggested for the server's tools.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { serveGate } from '../support/own-gate.ts'
import { throughGate } from '../support/real-client.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { endGates, published, until } from '../support/start-gate.ts'

afterEach(endGates)

const servers = { fs: published('everything') }
const ROOTS = 'version: 1\ndefault: allow\nmethods:\n  roots/list: require_approval\n'

test('a request of a server that waits has its method as title; nothing is titled `fs/`', async () => {
  const gate = await serveGate({ servers, policy: ROOTS })
  const { close } = await throughGate(gate, 'fs')
  const list = ['approvals', 'list', '--data', gate.data]
  await until(async () => (await sluiceJson(list)).requests.length > 0)
  const listed = await sluice(list)
  expect(listed.stdout).toMatch(/ roots\/list /)
  const [{ id }] = (await sluiceJson(list)).requests
  const shown = await sluice(['approvals', 'show', id, '--data', gate.data])
  expect(shown.stdout).toContain('the server fs asks for the folders that its client works in')
  for (const { stdout } of [listed, shown, await sluice(['ledger', 'tail', '--data', gate.data])])
    expect(stdout).not.toMatch(/fs\/(\s|$)/m)
  await close()
})

test('the suggested policy allows what every client answers anyway', async () => {
  const policy = join(scratchDirectory(), 'policy.yaml')
  await sluice(['scan', '--name', 'fs', '--policy', policy, '--', ...servers.fs.command])
  const gate = await serveGate({ servers, policy: readFileSync(policy, 'utf8') })
  const { client, close } = await throughGate(gate, 'fs')
  const roots = async () =>
    JSON.stringify(await client.callTool({ name: 'get-roots-list', arguments: {} }))
  await until(async () => (await roots()).includes('a-root'))
  await close()
})
