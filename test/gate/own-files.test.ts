// The gate's own files behind published servers: a file server that is rooted at the gate's folder, and
// a shell, try to read and write them by every way of naming them that is not an absolute path.

import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import {
  endGates,
  installed,
  published,
  type RunningGate,
  startGate,
} from '../support/start-gate.ts'

let gate: RunningGate
let files: PlainClient
let commands: PlainClient

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-own-'))
  writeFileSync(join(folder, 'hello.txt'), 'read through the gate')
  mkdirSync(join(folder, 'sub'))
  // The root of the server is a link to the folder.
  symlinkSync('.', join(folder, 'link'))
  const servers = {
    files: published('filesystem', '.'),
    linked: published('filesystem', './link'),
    commands: installed('mcp-server-commands/build/index.js'),
  }
  writeFileSync(join(folder, 'sluice.env'), 'KEY=secret\n', { mode: 0o600 })
  symlinkSync('policy.yaml', join(folder, 'harmless.txt'))
  gate = await startGate({ folder, servers })
  files = await PlainClient.open(gate, 'files')
  commands = await PlainClient.open(gate, 'commands')
})
afterAll(endGates)

const codeOf = (answer: Awaited<ReturnType<PlainClient['call']>>['answer']) =>
  answer.result._meta?.['sluice/decision']?.code

describe("F4: the gate's own files by relative path", () => {
  test('are not read, written or moved by a file server that is rooted at their folder', async () => {
    const paths = [
      'sluice.env',
      './sluice.env',
      'sub/../sluice.env',
      'SLUICE.env',
      'sluice%2eenv',
      'link/sluice.env',
      'data/identity.key',
      './data//identity.key',
      'data',
      'data/ledger.db',
      'policy.yaml',

      '.\\sluice.yaml',
      'sluice.lock',
      'sub/../../x/../sluice.env',
      'link/policy.yaml',
      'harmless.txt',
      'link/data/new',
    ]
    for (const path of paths) {
      const { answer } = await files.call('read_text_file', { path })
      // The last one leads elsewhere, and is denied by its name all the same.
      expect([path, codeOf(answer)]).toEqual([path, 'DENIED'])
    }
    const written = await files.call('write_file', { path: 'policy.yaml', content: 'x' })
    const moved = await files.call('move_file', { source: 'data/identity.db', destination: 'x.db' })
    const several = await files.call('read_multiple_files', { paths: ['hello.txt', 'sluice.env'] })
    for (const { answer } of [written, moved, several]) expect(codeOf(answer)).toBe('DENIED')
    const linked = await PlainClient.open(gate, 'linked')
    const { answer } = await linked.call('read_text_file', { path: 'policy.yaml' })
    expect(codeOf(answer)).toBe('DENIED')
  })

  test('and everything else there is', async () => {
    const { text } = await files.call('read_text_file', { path: 'hello.txt' })
    expect(text).toContain('read through the gate')
  })

  test('servers start in a directory of their own, from which the files are not reached', async () => {
    const { text } = await commands.call('run_command', { command: 'pwd; ls -A' })
    expect(text).toContain(join(realpathSync(gate.data), 'servers', 'commands'))
    expect(text).not.toMatch(/sluice\.yaml|identity/)
    for (const command of [
      'cat ../../identity.key',
      'cd ..; cat ../gate.db',
      'ls ..',
      'cat "$PWD/../../x"',
    ]) {
      const { answer } = await commands.call('run_command', { command })
      expect([command, codeOf(answer)]).toEqual([command, 'DENIED'])
    }
    const own = await commands.call('run_command', { command: 'echo 6 > notes.txt; cat notes.txt' })
    expect(codeOf(own.answer)).toBeUndefined()
  })

  test('a start says which servers contain them', () => {
    expect(gate.log).toMatch(/the directories of `files` contain the gate's own files/)
    expect(gate.log).not.toMatch(/the directories of `commands`/)
  })
})
