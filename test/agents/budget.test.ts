// Budgets of families under load: a model server as a process of its own is the judge.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { IS_FULL } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { programFile } from '../support/start-gate.ts'
import { budgetProperty, pricesFor } from './budget.ts'
import { type ModelServer, modelServer, settingsOf } from './model-server.ts'
import { standInGate } from './stand-in-gate.ts'

const COUNTER = programFile('counter')
const LONG = { timeout: 300_000 }
const scratch = fileScratchDirectory()
let model: ModelServer
let next = 1

beforeAll(async () => {
  model = await modelServer(scratch)
}, 60_000)
afterAll(() => {
  model.stop()
})

function start(name: string): Promise<Service> {
  const models = settingsOf({ local: { url: model.url } }, { prices: pricesFor(name) })
  return Service.start({ directory: join(scratch, `data-${next++}`), models })
}

test('M3: 60 forks that are prompted at once spend what one agent may', LONG, async () => {
  const name = model.plays([{ text: 'done', delayMs: 5, counts: true }])
  const service = await start(name)
  const { id } = await service.create('me', { model: name, limits: { maxCost: 1 } })
  const forks = await service.fork('me', id, { count: 60 })
  await Promise.all(
    forks.map((fork) => service.prompt('me', fork.id, { input: 'go' }).catch(() => undefined)),
  )
  const costs = model
    .spent(name)
    .map(({ input, output }) => (input * 1_000 + output * 3_000) / 1_000_000)
  const sum = costs.reduce((total, each) => total + each, 0)
  expect(sum).toBeLessThan(1 + Math.max(...costs))
  expect(costs.length).toBeGreaterThan(0)
  await service.close()
})

test('M3: a call that was sent and cancelled is paid for', LONG, async () => {
  const name = model.plays([{ text: 'done', delayMs: 300 }])
  const service = await start(name)
  const { id } = await service.create('me', { model: name, maxTurns: 3 })
  for (let at = 0; at < 10; at += 1) {
    const begun = await service
      .prompt('me', id, { input: 'go', waitMs: 0 })
      .catch(() => ({ state: 'refused' as const, runId: '' }))
    if (begun.state !== 'running') continue
    const before = model.spent(name).length
    for (let left = 100; left > 0 && model.spent(name).length === before; left -= 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    await service.cancel(null, id, begun.runId)
  }
  expect(model.spent(name).length).toBeLessThanOrEqual(3)
  await service.close()
})

test(
  'what the model server bills counts by time, also if an answer cannot be stored',
  LONG,
  async () => {
    const name = model.plays([{ text: 'done', counts: true }])
    const directory = join(scratch, `data-${next}`)
    const service = await start(name)
    const readUsage = async () => {
      const ever = { sinceMs: 0, untilMs: Date.now() + 60_000 }
      return (await service.steps.modelUsage([ever])).ranges[0]?.[0]
    }
    const sumBilled = () => {
      const billed = model.spent(name)
      const inputTokens = billed.reduce((sum, { input }) => sum + input, 0)
      const outputTokens = billed.reduce((sum, { output }) => sum + output, 0)
      const costMicros = inputTokens * 1_000 + outputTokens * 3_000
      return { modelCalls: billed.length, inputTokens, outputTokens, costMicros }
    }
    const { id } = await service.create('me', { model: name })
    await service.prompt('me', id, { input: 'go' })
    expect(await readUsage()).toEqual({ model: name, ...sumBilled() })
    const database = new DatabaseSync(join(directory, 'agents.db'))
    database.exec(`CREATE TRIGGER refuse BEFORE INSERT ON events WHEN NEW.kind = 'model'
    BEGIN SELECT raise(ABORT, 'refused'); END`)
    database.close()
    const answer = await service.prompt('me', id, { input: 'go on' })
    expect(answer).toMatchObject({ stop: { reason: 'model_failed' } })
    const billed = sumBilled()
    expect(billed.modelCalls).toBe(2)
    // It is paid for once the run has ended.
    await vi.waitFor(
      async () => expect(await readUsage()).toEqual({ model: name, ...billed }),
      60_000,
    )
    const { family } = await service.steps.standing('me', id, Date.now())
    expect(family.tokens).toBe(billed.inputTokens + billed.outputTokens)
    await service.close()
  },
)

test('M1: calls of programs count', LONG, async () => {
  const log = join(scratch, 'calls.log')
  const gate = await standInGate('count', [process.execPath, COUNTER, log])
  const code =
    'let made = 0; for (let i = 0; i < 50; i++) await tools.count.write({ i }).then(() => made++, () => {}); return made'
  const name = model.plays([
    { toolCalls: [{ name: 'run_code', input: { code } }] },
    { toolCalls: [{ name: 'run_code', input: { code } }] },
    { text: 'done' },
  ])
  const models = settingsOf({ local: { url: model.url } })
  const service = await Service.start({ directory: join(scratch, 'programs'), models, gate })
  const create = () =>
    service.create('me', { model: name, tools: ['count/*'], limits: { maxToolCalls: 10 } })
  const { id } = await create()
  const answer = await service.prompt('me', id, { input: 'go' })
  expect(answer).toMatchObject({ stop: { reason: 'max_tool_calls' } })
  const made = () => readFileSync(log, 'utf8').trim().split('\n').length
  expect(made()).toBe(9)
  const { id: direct } = await create()
  for (let at = 0; at < 3; at += 1)
    await service.callTool('me', direct, 'run_code', { code }).catch(() => undefined)
  expect(made()).toBeLessThanOrEqual(19)
  await service.close()
  await gate.close()
})

test('a budget holds, whatever is done at once', LONG, async () => {
  await fc.assert(budgetProperty(model, start), { numRuns: IS_FULL ? 16 : 2, endOnFailure: true })
})
