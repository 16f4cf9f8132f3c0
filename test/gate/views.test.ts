// Views at a real gate, with clients of the SDK: what is listed and how it is named, by whom a call is decided, what the
// ledger calls it, tool modes, pipes, and an edit of sluice.yaml while clients are there.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordsOf } from '../support/plain-client.ts'
import { straight, throughGate } from '../support/real-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  fixture,
  NODE,
  published,
  type RunningGate,
  SLUICE,
  startGate,
  until,
} from '../support/start-gate.ts'
import { statelessClient } from '../support/stateless-client.ts'

const folder = fileScratchDirectory()
const VIEWS = {
  support: {
    tools: ['everything/get-*', 'counter/read'],
    as: { 'everything/get-sum': 'add', 'counter/read': 'look_up' },
  },
  empty: { tools: ['counter/raed'] },
}
const POLICY = `
version: 1
default: allow
tools:
  everything/get-env: hide
  everything/get-sum: { action: allow, rate_limit: { max: 2, window: 1h, per: session } }
  counter/write: { action: deny, reason: not by an agent }
`

let gate: RunningGate

beforeAll(async () => {
  const servers = {
    everything: published('everything'),
    counter: fixture('counter', join(folder, 'calls')),
    code: { builtin: 'code' as const },
  }
  gate = await startGate({ servers, policy: POLICY, config: { views: VIEWS } })
}, 180_000)
afterAll(endGates)

async function listed(view: string): Promise<string[]> {
  const { client, close } = await throughGate(gate, view)
  const { tools } = await client.listTools()
  await close()
  return tools.map(({ name }) => name)
}

describe('a view', { timeout: 180_000 }, () => {
  test('lists its tools under its names, less those that the policy hides', async () => {
    const names = await listed('@support')
    expect(names).toContain('add')
    expect(names).toContain('look_up')
    expect(names).toContain('everything__get-tiny-image')
    expect(names.join()).not.toMatch(/get-sum|echo|write|get-env/)
    for (const name of names) expect(`mcp__support__${name}`.length).toBeLessThan(64)
  })

  test('is no permission: its calls have the rules, limits and records of the tool', async () => {
    const { client, close } = await throughGate(gate, '@support')
    const add = () => client.callTool({ name: 'add', arguments: { a: 40, b: 2 } })
    expect(JSON.stringify(await add())).toContain('42')
    // The full name is the same tool, and one limit counts both.
    const full = { name: 'everything__get-sum', arguments: { a: 1, b: 2 } }
    expect(JSON.stringify(await client.callTool(full))).toContain('3')
    expect(JSON.stringify(await add())).toContain('RATE_LIMITED')
    // What the view does not list is decided by the policy all the same.
    const write = await client.callTool({ name: 'counter__write', arguments: { n: 1 } })
    expect(JSON.stringify(write)).toContain('not by an agent')
    await close()
    const noted = recordsOf(gate).map((record) => inspect(record))
    expect(noted.some((text) => text.includes("'get-sum'"))).toBe(true)
    expect(noted.some((text) => /'(add|look_up)'/.test(text))).toBe(false)
  })

  test('is searched, described and called by its names', async () => {
    const { client, close } = await throughGate(gate, '@support?mode=search')
    const say = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify((await client.callTool({ name, arguments: args })).content)
    expect(await say('search_tools', { query: 'sum of two numbers' })).toContain('add({')
    expect(await say('search_tools', { query: 'echo' })).not.toContain('__echo')
    expect(await say('describe_tools', { names: ['add'] })).toContain('\\"name\\":\\"add\\"')
    const call = { name: 'look_up', arguments: { n: 1 } }
    expect(await say('call_tool', call)).toContain('read')
    await close()
  })

  test('has its programs, which call tools by their own names', async () => {
    const { client, close } = await throughGate(gate, '@support?mode=code')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'describe_tools', 'run_code'])
    const query = { name: 'search_tools', arguments: { query: 'sum of two numbers' } }
    expect(JSON.stringify(await client.callTool(query))).toContain('tools.everything')
    const code = 'return await tools.counter.read({ n: 1 })'
    const ran = await client.callTool({ name: 'run_code', arguments: { code } })
    expect(JSON.stringify(ran)).toContain('completed')
    await close()
  })

  test('serves a pipe, and clients of 2026-07-28', async () => {
    const config = join(gate.folder, 'sluice.yaml')
    const piped = await straight([NODE, SLUICE, 'stdio', '--config', config, '--view', 'support'])
    expect((await piped.client.listTools()).tools.map(({ name }) => name)).toContain('look_up')
    await piped.close()
    const { tools } = await (await statelessClient(gate, '@support')).listTools()
    expect(tools.map(({ name }) => name)).toContain('look_up')
  })

  test('that is not there is an error with the nearest name', async () => {
    const answer = await fetch(`${gate.url}/mcp/@suport`, { method: 'POST' })
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('no view is called `suport`: did you mean `support`?')
    const config = join(gate.folder, 'sluice.yaml')
    await expect(
      straight([NODE, SLUICE, 'stdio', '--config', config, '--view', 'suport']),
    ).rejects.toThrow()
  })

  test('that names a tool which is not there is a warning with the nearest name', async () => {
    expect(await listed('@empty')).toEqual([])
    await until(() => gate.log.includes('names `counter/raed`'))
    expect(gate.log).toContain('did you mean `counter/read`?')
  })

  test('changes with sluice.yaml, under clients that are there', async () => {
    const file = join(gate.folder, 'sluice.yaml')
    const text = readFileSync(file, 'utf8')
    const { client, notifications } = await throughGate(gate, '@support')
    await client.listTools()
    const config = JSON.parse(text)
    config.views.support = { tools: ['counter/*'], as: { 'counter/read': 'inspect' } }
    writeFileSync(file, JSON.stringify(config))
    const names = async () => (await client.listTools()).tools.map(({ name }) => name)
    await until(async () => (await names()).includes('inspect'))
    expect(await names()).not.toContain('add')
    expect(notifications.map(({ method }) => method)).toContain('notifications/tools/list_changed')
    delete config.views.support
    writeFileSync(file, JSON.stringify(config))
    await until(async () => (await fetch(`${gate.url}/mcp/@support`)).status === 404)
    await expect(client.callTool({ name: 'inspect', arguments: { n: 1 } })).rejects.toThrow()
    writeFileSync(file, text)
    await until(async () => (await fetch(`${gate.url}/mcp/@support`)).status !== 404)
  })
})
