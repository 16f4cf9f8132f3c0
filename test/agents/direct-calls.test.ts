// Tools of an agent that a caller calls directly, when the agent goes away under the call: every caller gets
// an answer. A real MCP server behind a stand-in gate.

import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { programFile, until } from '../support/start-gate.ts'
import { settingsOf } from './model-server.ts'
import { type StandIn, standInGate } from './stand-in-gate.ts'

const LONG = { timeout: 120_000 }
const scratch = fileScratchDirectory()
let gate: StandIn
let service: Service

beforeAll(async () => {
  const log = join(scratch, 'calls.log')
  const command = [process.execPath, programFile('counter'), log]
  gate = await standInGate('count', command, () => 'hold')
  service = await Service.start({ directory: join(scratch, 'data'), models: settingsOf(), gate })
}, 120_000)

afterAll(async () => {
  await service.close()
  await gate.close()
})

const CALLS = [
  ['count__write', { note: 'x' }],
  ['run_code', { code: 'await tools.count.write({ note: "x" })' }],
] as const

test.for(CALLS)(
  'an agent that is removed under %s leaves no caller waiting',
  LONG,
  async (call) => {
    const [name, input] = call
    const { id } = await service.create('me', { model: 'ollama:any', tools: ['count/*'] })
    const held = gate.held.length
    const answer = service.callTool('me', id, name, input)
    await until(() => gate.held.length > held)
    await service.terminate('me', id)
    const { content, isError } = await answer
    expect([isError, content]).toEqual([true, expect.stringContaining('OUTCOME_UNKNOWN')])
  },
)
