// The gate's own files behind published servers: an argument with the exact path of one is denied, isolated or
// not. Every other way to name them is tried in isolation.test.ts.

import { realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import { fileScratchDirectory } from '../support/scratch.ts'
import {
  endGates,
  installed,
  published,
  type RunningGate,
  startGate,
} from '../support/start-gate.ts'

let gate: RunningGate

beforeAll(async () => {
  const folder = fileScratchDirectory()
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  symlinkSync('.', join(folder, 'link'))
  const servers = {
    files: { ...published('filesystem', '.'), sandbox: 'off' },
    commands: installed('mcp-server-commands/build/index.js'),
  }
  writeFileSync(join(folder, 'sluice.env'), 'KEY=secret\n', { mode: 0o600 })
  gate = await startGate({ folder, servers })
})
afterAll(endGates)

const codeOf = (answer: Awaited<ReturnType<PlainClient['call']>>['answer']) =>
  answer.result._meta?.['sluice/decision']?.code

describe("F4: the gate's own files", () => {
  test('are not read, written or moved by their path, without isolation', async () => {
    const files = await PlainClient.open(gate, 'files')
    const own = [
      'sluice.env',
      'sluice.yaml',
      'sluice.lock',
      'policy.yaml',
      'data',
      'data/identity.key',
    ]
    for (const path of own.map((name) => join(gate.folder, name))) {
      const { answer } = await files.call('read_text_file', { path })
      expect([path, codeOf(answer)]).toEqual([path, 'DENIED'])
    }
    const path = join(gate.folder, 'policy.yaml')
    const written = await files.call('write_file', { path, content: 'x' })
    const moved = await files.call('move_file', { source: path, destination: 'x.yaml' })
    const paths = ['hello.txt', path]
    const several = await files.call('read_multiple_files', { paths })
    for (const { answer } of [written, moved, several]) expect(codeOf(answer)).toBe('DENIED')
    const { text } = await files.call('read_text_file', { path: join(gate.folder, 'hello.txt') })
    expect(text).toContain('read through the gate')
  })

  test('servers start in a directory of their own', async () => {
    const commands = await PlainClient.open(gate, 'commands')
    const { text } = await commands.call('run_command', { command: 'pwd; ls -A' })
    expect(text).toContain(join(realpathSync(gate.data), 'servers', 'commands'))
    expect(text).not.toMatch(/sluice\.yaml|identity/)
    const own = await commands.call('run_command', { command: 'echo 6 > notes.txt; cat notes.txt' })
    expect(codeOf(own.answer)).toBeUndefined()
  })

  test('a start says which servers contain them', () => {
    expect(gate.log).toMatch(/the directories of `files` contain the gate's own files/)
    expect(gate.log).not.toMatch(/the directories of `commands`/)
  })
})
