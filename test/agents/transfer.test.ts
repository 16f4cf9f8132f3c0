// Exports and imports while others work: no owner's agent waits for another owner's, a hostile import
// takes nobody down, and a process that is killed in the middle leaves nothing half there.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { privateKey, readBundle, writeBundle } from '../../packages/agents/src/transfer/bundle.ts'
import { forms } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { programFile, writeScript } from '../support/start-gate.ts'
import { settingsOf } from './model-server.ts'

const IMPORTING = programFile('agents-importing')
const LONG = { timeout: 300_000 }
const scratch = fileScratchDirectory()
let service: Service

beforeAll(async () => {
  const directory = join(scratch, 'data')
  const models = settingsOf({}, { scripts: join(directory, 'scripts') })
  service = await Service.start({ directory, models })
}, 60_000)
afterAll(async () => {
  await service.close()
})

const model = 'script:none'
const write = (owner: string, id: string) =>
  service.callTool(owner, id, 'write_file', { path: 'a', content: 'b' })

test('F9: behind many calls of one owner another has its turn', LONG, async () => {
  const { id: loud } = await service.create('loud', { model })
  const { id: quiet } = await service.create('quiet', { model })
  let before = 0
  const many = Array.from({ length: 200 }, () =>
    service.steps.takeExport('loud', loud, Date.now(), true).then(() => {
      before += 1
    }),
  )
  await write('quiet', quiet)
  // Those that were in the thread already, and one more a turn.
  expect(before).toBeLessThanOrEqual(10)
  await Promise.all(many)
})

test(
  'M5: a small bundle that unpacks to millions is refused, and the agents go on',
  LONG,
  async () => {
    const { id } = await service.create('quiet', { model })
    const key = privateKey(randomBytes(32))
    const zeros = (count: number) => `{"messages":[0${',0'.repeat(count)}]}`
    const bomb = writeBundle(zeros(20_000_000), Buffer.alloc(0), key).toString('base64')
    expect(bomb.length).toBeLessThan(10_000)
    for (const given of [bomb, zeros(7_000_000)])
      await expect(service.import('loud', given)).rejects.toMatchObject({
        code: 'AGENT_IMPORT',
        message: expect.stringContaining('holds more than 500000 elements'),
      })
    expect(await write('quiet', id)).toMatchObject({ isError: false })
  },
)

test('an import that kill -9 cuts off is there whole or not at all', LONG, async () => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`f${at}`, 'x'.repeat(20_000)]),
  )
  const { id } = await service.create('me', { model, files })
  const { exported } = await service.export('me', id, 'json', 'keep')
  const file = join(scratch, 'export.json')
  writeFileSync(file, JSON.stringify(exported))
  const directory = join(scratch, 'killed')
  const texts: string[] = []
  for (const lines of forms([2, 1, 5])) {
    const child = spawn(process.execPath, [IMPORTING, directory, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let left = lines
    for await (const line of createInterface({ input: child.stdout })) {
      texts.push(line)
      left -= 1
      // In the middle of the next one.
      if (left === 0) setTimeout(() => child.kill('SIGKILL'), 3 * lines)
    }
  }
  const after = await Service.start({ directory, models: settingsOf() })
  const rows = await after.steps.list('me', null, 0, 100)
  const ids = rows.map((row) => row.id)
  expect(ids).toEqual(expect.arrayContaining(texts))
  expect(ids.length - texts.length).toBeLessThanOrEqual(3)
  for (const each of ids) {
    const again = await after.export('me', each, 'json', 'keep')
    expect(again.exported.files).toEqual(exported.files)
  }
  await after.close()
})

test(
  'a running agent is paused by an export, and its copy goes on with the same run',
  LONG,
  async () => {
    writeScript(join(scratch, 'data'), 'steps', [
      { toolCalls: [{ name: 'write_file', input: { path: 'a', content: 'one' } }] },
      { toolCalls: [{ name: 'write_file', input: { path: 'b', content: 'two' } }], delayMs: 500 },
      { text: 'all done' },
    ])
    const { id } = await service.create('me', { model: 'script:steps', instructions: 'be good' })
    const begun = await service.prompt('me', id, { input: 'go', waitMs: 1 })
    const runId = begun.state === 'running' ? begun.runId : ''
    const { bundle } = await service.export('me', id, 'bundle', 'keep')
    const standing = async (agent: string) =>
      (await service.steps.standing('me', agent, Date.now())).agent
    expect((await standing(id)).state).toBe('paused')

    const { agent, restored } = await service.import('me', bundle)
    expect([agent.state, restored, agent.summary.runId]).toEqual(['paused', 'memory', runId])
    expect(agent.asked).toMatchObject({ model: 'script:steps', instructions: 'be good' })
    for (const one of [agent.id, id]) {
      await service.resume('me', one, {})
      const ended = await service.wait('me', one, runId, 60_000)
      expect(ended).toMatchObject({ state: 'ended', response: 'all done', turns: 3 })
      expect((await standing(one)).summary).toMatchObject({ fileCount: 2, runId: null })
    }
    expect((await service.steps.replay('me', agent.id, null)).difference).toBeNull()
  },
)

test('secrets are replaced: a bundle has no memory, and pauses nothing', LONG, async () => {
  const { id } = await service.create('me', { model })
  const { bundle = '' } = await service.export('me', id, 'bundle', 'redact')
  expect(readBundle(Buffer.from(bundle, 'base64')).memory).toHaveLength(0)
})
