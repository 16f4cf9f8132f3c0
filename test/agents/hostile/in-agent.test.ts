// What hostile programs do to the process that runs them, with their calls: as `run_code` of agents
// whose tools are a real server's. An unhandled rejection fails the run, as it would end a gate.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Service } from '../../../packages/agents/src/service/service.ts'
import { RESTING_BYTES_MAX } from '../../../packages/agents/src/shared/limits.ts'
import { fileScratchDirectory } from '../../support/scratch.ts'
import { programFile } from '../../support/start-gate.ts'
import { settingsOf } from '../model-server.ts'
import { type StandIn, standInGate } from '../stand-in-gate.ts'

const COUNTER = programFile('counter')
const LONG = { timeout: 180_000 }

const scratch = fileScratchDirectory()
const log = join(scratch, 'calls.log')
let server: StandIn
let service: Service

beforeAll(async () => {
  server = await standInGate('count', [process.execPath, COUNTER, log], ({ args }) =>
    (args as { fate?: string }).fate === 'hold' ? 'hold' : 'allow',
  )
  const models = settingsOf({}, { scripts: scratch })
  service = await Service.start({ directory: join(scratch, 'data'), models, gate: server })
}, 180_000)

afterAll(async () => {
  await service.close()
  await server.close()
})

async function agent(owner = 'me'): Promise<string> {
  const given = { model: 'script:none', tools: ['count/*'], files: { kept: 'yes' } }
  return (await service.create(owner, given)).id
}

/** An answer of the program's own making in place of what runs it. */
function says(text: string): string {
  return `Object.prototype.toJSON = function () { return "calls" in this ? ${text} : this }; return 1`
}

function counted(): number {
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0
}

test('one call said a thousand times is made once', LONG, async () => {
  const call = '{ id: 1, server: "count", tool: "write", input: {} }'
  const code = says(`{ calls: Array(1000).fill(${call}), ended: null, logs: "" }`)
  const before = counted()
  const { content, isError } = await service.callTool('me', await agent(), 'run_code', { code })
  expect(isError).toBe(true)
  expect(content).toContain('made its call 1 twice')
  expect(counted() - before).toBeLessThanOrEqual(1)
})

test('a program that makes more calls at once than it may makes none of them', LONG, async () => {
  const code = 'await Promise.all(Array.from({ length: 101 }, () => tools.count.write({})))'
  const before = counted()
  const { content } = await service.callTool('me', await agent(), 'run_code', { code })
  expect(content).toContain('at most 100 calls')
  expect(counted()).toBe(before)
})

test('held calls of a program that failed end nothing when their agent is gone', LONG, async () => {
  const id = await agent()
  const code = `for (let i = 0; i < 99; i++) tools.count.write({ fate: "hold" }).catch(() => 0)
    await tools.count.write({ n: 1 })
    await tools.count.write({ n: 2 })`
  const before = server.held.length
  const { content } = await service.callTool('me', id, 'run_code', { code })
  expect(content).toContain('at most 100 calls')
  await vi.waitFor(() => expect(server.held.length - before).toBe(99), 60_000)
  const made = counted()
  await service.terminate('me', id)
  for (const ticket of server.held.slice(before)) server.decide(ticket, true)
  const other = await service.callTool('me', await agent(), 'run_code', { code: 'return 6 * 7' })
  expect(other.content).toContain('42')
  expect(counted()).toBe(made)
})

test(
  'memories of programs that wait have a bound; one that was given up is made again',
  LONG,
  async () => {
    const size = 24_000_000
    const count = Math.ceil(RESTING_BYTES_MAX / size) + 1
    const code = `const a = new Uint8Array(${size}).fill(7); await tools.count.write({ n: 1 }); await tools.count.write({ fate: "hold" }); return a.length + a[5]`
    const before = server.held.length
    const made = counted()
    const ids = await Promise.all(Array.from({ length: count }, () => agent()))
    const ends = ids.map((id) => service.callTool('me', id, 'run_code', { code }))
    await vi.waitFor(() => expect(server.held.length - before).toBe(count), 120_000)
    for (const ticket of server.held.slice(before)) server.decide(ticket, true)
    for (const { content } of await Promise.all(ends))
      expect(JSON.parse(content)).toMatchObject({ result: size + 7 })
    // Each of its calls once: what was run again did not call again.
    expect(counted() - made).toBe(2 * count)
  },
)

test('whose programs are many waits for itself, not others for them', LONG, async () => {
  const mine = await agent('one')
  const many = await Promise.all(Array.from({ length: 10 }, () => agent('many')))
  let ended = 0
  const busy = many.map(async (id) => {
    await service.callTool('many', id, 'run_code', { code: 'for (let i = 0; i < 2e6; i++);' })
    ended += 1
  })
  const { content } = await service.callTool('one', mine, 'run_code', { code: 'return 1' })
  expect(content).toContain('"result":1')
  expect(ended).toBeLessThan(many.length)
  await Promise.all(busy)
})
