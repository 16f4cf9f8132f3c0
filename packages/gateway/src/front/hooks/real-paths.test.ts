// Where paths in the arguments of a client's tool lead, on a real disk.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { HOOK_ENTRIES_READ_MAX } from './limits.ts'
import { leadInto, resolveArguments } from './real-paths.ts'

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

describe('the paths of a line that is answered', () => {
  const project = to('project')
  const into = (...paths: string[]) =>
    leadInto(
      paths.map((path) => `${project}/${path}`),
      project,
    )
  mkdirSync(to('project/src/deep'), { recursive: true })
  mkdirSync(to('project/links'))
  mkdirSync(to('project/keys'))
  for (const name of ['src/a.ts', 'src/deep/b.ts', 'keys/.env', 'keys/a'])
    writeFileSync(to(`project/${name}`), '')
  symlinkSync('/etc/hostname', to('project/links/out'))
  symlinkSync('../keys/.env', to('project/links/secret'))
  symlinkSync('../src/a.ts', to('project/links/inside'))

  test.each([
    ['file'],
    ['src'],
    ['not/there'],
    ['file/below'],
    ['links/inside'],
    ['links'],
    ['src/*.ts'],
    ['src/**/*.ts'],
    ['src/[ab].ts'],
    ['src/{a,b}.ts'],
    ['none*'],
    ['links/in*'],
    ['src/**'],
    ['not/there/**'],
  ])('%s lies in the project', async (path) => {
    expect(await into(path)).toBe(true)
  })

  test.each([
    ['links/out', 'a link'],
    ['way/passwd', 'a link to a folder'],
    ['made-later', 'a link to what is not there'],
    ['loop', 'a loop'],
    ['links/secret', 'a link to a secret'],
    ['links/*', 'a pattern'],
    ['links/o?t', 'a pattern'],
    ['l*/out', 'a pattern for a folder'],
    ['**/out', 'a pattern for all folders'],
    ['links/[o]ut', 'a class'],
    ['links/{out,inside}', 'a choice'],
    ['links/[[:alpha:]]ut', 'a named class'],
    ['{links/out,file}', 'a choice of folders'],
    ['keys/.e*', 'a pattern for a secret'],
    ['keys/*', 'a pattern that a secret matches'],
    ['keys/**', 'a folder with a secret'],
    ['./**', 'a folder with a secret in a folder'],
    ['links/**', 'a folder with a link'],
    [`${'a'.repeat(300)}/b`, 'a name that the gate cannot look up'],
  ])('%s is not certain to: %s', async (path) => {
    expect(await into('file', path)).toBe(false)
  })

  test('is left to the user if there is too much to look at', async () => {
    mkdirSync(to('project/many'))
    for (let at = 0; at < 64; at++) writeFileSync(to(`project/many/${at}`), '')
    const times = HOOK_ENTRIES_READ_MAX / 64
    expect(await into(...Array(times).fill('many/6*'))).toBe(true)
    expect(await into(...Array(times + 1).fill('many/6*'))).toBe(false)
  })

  test('is left to the user if the gate may not look', async () => {
    const closed = to('project/closed')
    mkdirSync(closed)
    writeFileSync(join(closed, 'a'), '')
    chmodSync(closed, 0)
    // Root may look everywhere.
    expect(await into('closed/a')).toBe(process.getuid?.() === 0)
    chmodSync(closed, 0o755)
  })
})
