// What an agent wrote, printed by commands on a terminal: nothing of it controls the terminal, and a pipe
// gets it as it is.

import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Service } from '../../packages/agents/src/service/service.ts'
import { OWNER } from '../../packages/cli/src/agents/open-agents.ts'
import { sluice } from '../support/run-sluice.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import { settingsOf } from './model-server.ts'

/** A title, a colour, a C1 control, a direction mark, and a return to the start of the line. */
const HOSTILE = 'a\u001b]0;x\u0007\u001b[31m\u009b2J\u202e\rb\r\n\tc\n'
const data = fileScratchDirectory()
let id: string

beforeAll(async () => {
  const service = await Service.start({ directory: data, models: settingsOf() })
  const files = { 'a.txt': HOSTILE }
  id = (await service.create(OWNER, { model: 'ollama:any', files })).id
  await service.close()
}, 120_000)

test('a file is shown with codes on a terminal, and whole in a pipe', {
  timeout: 120_000,
}, async () => {
  const show = () => sluice(['agents', 'files', id, 'a.txt', '--data', data])
  expect((await show()).stdout).toBe(HOSTILE)
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  onTestFinished(() => {
    process.stdout.isTTY = isTTY
  })
  expect((await show()).stdout).toBe(
    'a\\u{1b}]0;x\\u{7}\\u{1b}[31m\\u{9b}2J\\u{202e}\\u{d}b\r\n\tc\n',
  )
})

test('an export has no such character, and is the same JSON', { timeout: 120_000 }, async () => {
  const { stdout } = await sluice(['agents', 'export', id, '--data', data])
  expect(JSON.parse(stdout).files).toMatchObject([{ text: HOSTILE }])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})
