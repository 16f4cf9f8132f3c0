// Where servers start, and what a configuration says of those that can reach the gate's own files.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileScratchDirectory } from '../../../../test/support/scratch.ts'
import { readConfig } from './config.ts'
import { withData } from './work-directory.ts'

const folder = fileScratchDirectory()
const file = join(folder, 'sluice.yaml')
mkdirSync(join(folder, 'workspace'))
writeFileSync(join(folder, 'server.js'), '')

function read(server: string) {
  const text = `version: 1\nservers: { s: ${server} }\npolicy: ./policy.yaml\n`
  const { config, problems } = readConfig({ file, text }, {})
  if (config === undefined) throw new Error(JSON.stringify(problems))
  return { config, server: config.servers.s, warnings: problems.map(({ message }) => message) }
}

test('F4: a server starts in a directory of its own, with what its command named made absolute', () => {
  const { server, warnings } = read(
    '{ command: [node, server.js, workspace, --root=./workspace, --name=x, missing, ../up] }',
  )
  expect(server).toMatchObject({
    cwd: join(folder, '.sluice', 'servers', 's'),
    command: [
      'node',
      join(folder, 'server.js'),
      join(folder, 'workspace'),
      `--root=${join(folder, 'workspace')}`,
      '--name=x',
      'missing',
      join(folder, '..', 'up'),
    ],
  })
  expect(warnings).toEqual([])
  expect(read('{ command: [./server.js] }').server).toMatchObject({
    command: [join(folder, 'server.js')],
  })
})

test('with `cwd` a command is left as it is', () => {
  expect(read('{ command: [node, server.js], cwd: . }').server).toMatchObject({
    cwd: folder,
    command: ['node', 'server.js'],
  })
})

test('F4: what needs its project, or contains the gate’s files, is reported', () => {
  for (const command of ['[npm, run, serve]', '[python3, -m, server]', '[uv, run, server.js]'])
    expect(read(`{ command: ${command} }`).warnings).toEqual([
      expect.stringContaining('starts in a directory of its own'),
    ])
  for (const command of ['[files, .]', `[files, ${folder}]`, `["files", "--root=${folder}/.."]`])
    expect(read(`{ command: ${command} }`).warnings).toEqual([
      expect.stringContaining("contain the gate's own files"),
    ])
})

test('another data directory takes the directories of servers with it', () => {
  const { config } = read('{ command: [node] }')
  expect(withData(config, '/other').servers.s).toMatchObject({ cwd: '/other/servers/s' })
  const named = read('{ command: [node], cwd: sub }').config
  expect(withData(named, '/other').servers.s).toMatchObject({ cwd: join(folder, 'sub') })
})
