// Where paths in the arguments of a client's tool lead, on a real disk.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { resolveArguments } from './real-paths.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-links-')))
const to = (name: string) => join(folder, name)
mkdirSync(to('project'))
writeFileSync(to('project/file'), '')
symlinkSync('/etc', to('project/way'))
symlinkSync('../not-there', to('project/made-later'))
symlinkSync('loop', to('project/loop'))
symlinkSync('project', to('alias'))
afterAll(() => rmSync(folder, { recursive: true }))

const resolved = async (path: string) => {
  const args = { file_path: path, cwd: to('alias'), content: to('alias/file') }
  return resolveArguments({ tool: 'Write', args })
}

test.each([
  ['alias/file', 'project/file'],
  ['alias/a.txt', 'project/a.txt'],
  ['alias/new/folder/a', 'project/new/folder/a'],
  ['alias/new/../a', 'project/a'],
  ['alias/../project/file', 'project/file'],
  ['project/made-later', 'not-there'],
  ['project/made-later/a', 'not-there/a'],
  ['project/file/below', 'project/file/below'],
  ['project/', 'project'],
])('H1: %s is judged as %s', async (path, real) => {
  expect(await resolved(`${folder}/${path}`)).toEqual({
    file_path: to(real),
    cwd: to('project'),
    content: to('alias/file'),
  })
})

test('H1: a link leads out of the project', async () => {
  expect(await resolved(to('project/way/passwd'))).toMatchObject({ file_path: '/etc/passwd' })
})

test.each([
  ['~/.bashrc'],
  ['~root/x'],
  ['C:\\x'],
  [to('project/loop')],
  // Next to `/etc` for the system, in the project for a program that takes `..` away first.
  [`${to('project')}/way/../file`],
  [`${to('project')}/a\0b`],
])('H1: where %s leads is not certain, so it is refused', async (path) => {
  expect(await resolved(path)).toEqual(expect.stringContaining('is not certain'))
})

test('H1: all files of a patch are resolved, and arguments of MCP tools are left', async () => {
  const paths = [to('alias/file'), to('project/way/x')]
  const patch = { tool: 'apply_patch', args: { command: 'x', paths, cwd: to('alias') } }
  expect(await resolveArguments(patch)).toEqual({
    command: 'x',
    paths: [to('project/file'), '/etc/x'],
    cwd: to('project'),
  })
  const beside = { tool: 'mcp__x__Write', args: { file_path: '~/a' }, mcpServer: 'x' }
  expect(await resolveArguments(beside)).toEqual({ file_path: '~/a' })
})
