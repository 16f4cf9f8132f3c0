// Prompts with a schema of the final answer, against a model server: the value, the second attempt, and what is refused.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDirectCalls } from '../../packages/agents/src/mcp/server.ts'
import { Service } from '../../packages/agents/src/service/service.ts'
import { sluice } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { type ModelServer, modelServer } from './model-server.ts'

const LONG = { timeout: 120_000 }
const SCHEMA = {
  type: 'object',
  properties: { open: { type: 'integer', minimum: 0 } },
  required: ['open'],
  additionalProperties: false,
}
const scratch = fileScratchDirectory()
let model: ModelServer
let service: Service

beforeAll(async () => {
  model = await modelServer(scratch)
  service = await Service.start({ directory: join(scratch, 'data'), models: model.settings })
}, 120_000)
afterAll(async () => {
  await service.close()
  model.stop()
})

async function create(...answers: string[]) {
  const name = model.plays(answers.map((text) => ({ text })))
  const { id: agentId } = await service.create('me', { model: name })
  const calls = createDirectCalls(service, { owner: 'me' })
  // biome-ignore lint/suspicious/noExplicitAny: taken apart by the test
  const call = async (tool: string, args: object): Promise<any> => {
    const { structuredContent, content } = await calls(tool, { agentId, ...args })
    return structuredContent ?? JSON.parse(content[0]?.text ?? '')
  }
  const said = () =>
    model.requests(name).map(({ messages }) => JSON.stringify(messages.at(-1)?.content))
  return { call, said }
}

test('an answer that fits is the output; the model has read the schema', LONG, async () => {
  const { call, said } = await create('```json\n{"open": 3}\n```')
  const answer = await call('wasm_agent_prompt', { input: 'how many?', schema: SCHEMA })
  expect(answer.output).toEqual({ open: 3 })
  expect(said()[0]).toMatch(/how many\?.*JSON Schema.*minimum/)
})

test('one that does not fit is asked for again once, and then said', LONG, async () => {
  const second = await create('three', '{"open": 3}')
  const prompt = { input: 'how many?', schema: SCHEMA, requestId: 'r' }
  expect(await second.call('wasm_agent_prompt', prompt)).toMatchObject({ output: { open: 3 } })
  expect(second.said()[1]).toContain('it is not JSON')
  // The same request finds both runs.
  expect(await second.call('wasm_agent_prompt', prompt)).toMatchObject({ output: { open: 3 } })
  expect(second.said()).toHaveLength(2)

  const third = await create('{"open": -1}', '{"open": "3"}', '{"open": 3}')
  const answer = await third.call('wasm_agent_prompt', { input: 'how many?', schema: SCHEMA })
  expect(answer).toMatchObject({ response: '{"open": "3"}', stop: { reason: 'answered' } })
  expect(answer.output).toBeUndefined()
  expect(answer.outputFault).toMatch(/open|integer/)
  expect(third.said()).toHaveLength(2)
  // Who waits for it later finds the same, and no third attempt.
  const waited = await third.call('wasm_agent_wait', { schema: SCHEMA })
  expect(waited).toMatchObject({ outputFault: answer.outputFault })
  expect(third.said()).toHaveLength(2)
})

test.each([
  [{ $ref: '#/a' }, '`schema.$ref` is not checked here'],
  [{ properties: { a: { pattern: '(a+)+' } } }, '`schema.properties.a.pattern` is not checked'],
  [{ type: 'text' }, '`schema.type` is `text`'],
  [{ items: 7 }, '`schema.items` is no schema'],
  [{ title: 'x'.repeat(9_000) }, 'at most 8192'],
])('a schema that cannot be checked is refused: %#', LONG, async (schema, why) => {
  const { call, said } = await create('{}')
  const refused = await call('wasm_agent_prompt', { input: 'go', schema })
  expect(refused).toMatchObject({ code: 'AGENT_INPUT', error: expect.stringContaining(why) })
  expect(said()).toHaveLength(0)
})

test('the command line prints the value, and ends with 1 without one', LONG, async () => {
  const at = ['--data', join(scratch, 'command'), '--scripts', scratch]
  const file = join(scratch, 'schema.json')
  writeFileSync(file, JSON.stringify(SCHEMA))
  const prompt = async (...answers: string[]) => {
    const turns = answers.map((text) => ({ text }))
    writeFileSync(join(scratch, 'said.json'), JSON.stringify({ turns }))
    const made = await sluice(['agents', 'create', '--model', 'script:said', ...at])
    const words = [made.stdout.trim(), 'how many?', '--schema', file]
    return sluice(['agents', 'prompt', ...words, ...at])
  }
  expect(await prompt('{ "open": 3 }')).toMatchObject({ code: 0, stdout: '{"open":3}\n' })
  const without = await prompt('three', 'still three')
  expect(without).toMatchObject({ code: 1, stdout: 'still three\n' })
  expect(without.stderr).toContain('the answer does not fit the schema: it is not JSON')
  writeFileSync(file, '[]')
  expect((await prompt('{}')).stderr).toContain('is no JSON object')
})
