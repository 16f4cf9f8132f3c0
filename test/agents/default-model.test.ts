// An agent that names no model is on the default one, with its price: cost is counted and limited, over the command line
// and over MCP. The model is a server of the test's own that stands for the provider.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { DataLock } from '../../packages/gateway/src/data/data-lock.ts'
import { sluice } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { type ModelServer, modelServer } from './model-server.ts'
import { serve } from './serve.ts'

const LONG = { timeout: 180_000 }
const PRICE = ['--price', 'anthropic:claude-sonnet-4-6=1000/3000']
const scratch = fileScratchDirectory()
let model: ModelServer

beforeAll(async () => {
  model = await modelServer(scratch)
  // The name of the default model's file.
  writeFileSync(join(scratch, 'claude-sonnet-4-6.json'), JSON.stringify([{ text: 'done' }]))
  vi.stubEnv('ANTHROPIC_API_KEY', 'a key of the test')
}, 60_000)
afterAll(() => {
  vi.unstubAllEnvs()
  model.stop()
})

test('the cost of an agent without `--model` is counted and limited', LONG, async () => {
  const at = ['--data', join(scratch, 'cli'), ...PRICE, '--provider', `anthropic=${model.url}`]
  const agents = (...args: string[]) => sluice(['agents', ...args, ...at])
  const made = await agents('create', '--max-turns', '20', '--max-cost', '0.04')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const id = made.stdout.trim()
  expect(await agents('prompt', id, 'go')).toMatchObject({ code: 0, stdout: 'done\n' })
  // 20 tokens in and 7 out, as the server counts them.
  expect((await agents('show', id)).stdout).toMatch(/cost 0\.041/)
  const stopped = 'the agent is stopped (41000 millionths of cost of 40000)'
  expect((await agents('prompt', id, 'go')).stderr).toContain(stopped)
})

test(
  'finding: a command waits for a gate that is starting, and does not open its agents beside it',
  LONG,
  async () => {
    const data = join(scratch, 'starting')
    const lock = DataLock.take(data)
    let isDone = false
    const created = sluice(['agents', 'create', '--data', data]).finally(() => {
      isDone = true
    })
    await sleep(500)
    expect(isDone).toBe(false)
    expect(existsSync(join(data, 'agents.db'))).toBe(false)
    lock.release()
    expect(await created).toMatchObject({ code: 0 })
  },
)

test('over MCP a limit on cost needs no `model`', LONG, async () => {
  const server = await serve(join(scratch, 'mcp'), PRICE)
  try {
    await server.call('wasm_agent_create', { limits: { maxCost: 1 } })
    const other = { model: 'ollama:llama3', limits: { maxCost: 1 } }
    expect(await server.refusal('wasm_agent_create', other)).toMatchObject({
      code: 'MODEL_PRICE_MISSING',
    })
  } finally {
    await server.close()
  }
})
