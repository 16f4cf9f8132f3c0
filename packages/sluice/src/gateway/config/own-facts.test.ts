// The gate's own files behind links and behind roots that a client names, judged by the engine with the
// facts that the gate makes of a real disk.

import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mentionsProtectedFile } from '@sluice/policy/decide/protected-files'
import { afterAll, expect, test } from 'vitest'
import { makePrivateFolder } from '../../store/files/private-folder.ts'
import { readConfig } from './config.ts'
import { LINK_LOOKUPS_MAX } from './limits.ts'
import { type OwnFacts, ownFilesOf } from './own-facts.ts'
import { prepareWorkDirectories } from './work-directory.ts'

const top = mkdtempSync(join(tmpdir(), 'sluice-facts-'))
const home = join(top, 'gate')
const work = join(top, 'work')
const data = join(home, '.sluice')
for (const folder of [home, work, join(work, 'sub')]) mkdirSync(folder)
makePrivateFolder(data)
writeFileSync(join(home, 'policy.yaml'), 'version: 1\n')
writeFileSync(join(data, 'identity.key'), 'key')
writeFileSync(join(work, 'plain.txt'), 'x')
linkSync(join(work, 'plain.txt'), join(work, 'twice.txt'))
linkSync(join(data, 'identity.key'), join(work, 'hard.txt'))
symlinkSync(join(home, 'policy.yaml'), join(work, 'soft.txt'))
symlinkSync(join(data, 'later.db'), join(work, 'dangling'))
symlinkSync('round', join(work, 'round'))
symlinkSync(home, join(work, 'sub', 'folder'))
afterAll(() => rmSync(top, { recursive: true, force: true }))

const text = `version: 1
servers: { files: { command: [files, ${work}] }, plain: { command: [plain] }, web: { url: "http://127.0.0.1:1/" } }
policy: ./policy.yaml
`
const { config } = readConfig({ file: join(home, 'sluice.yaml'), text }, {})
if (config === undefined) throw new Error('the configuration is wrong')
prepareWorkDirectories(config)
const filesOf = ownFilesOf(config.data, [config.file, config.data, join(home, 'policy.yaml')])
const files = (name: string) => filesOf(name, config.servers[name])

const names = ({ ownPaths = [], place }: OwnFacts, path: string) =>
  mentionsProtectedFile({ path }, ownPaths, place)
const inWork = (name: string) => [name, join(work, name), `file://${join(work, name)}`]

test('F4: links in a directory of a server lead to the gate’s files, wherever they are', () => {
  const { facts } = files('files')
  const leading = [
    'hard.txt',
    'soft.txt',
    'sub/folder/policy.yaml',
    'dangling',
    'sub/folder/.sluice/new',
    './sub/../hard.txt',
  ]
  for (const path of leading.flatMap(inWork))
    expect([path, names(facts, path)]).toEqual([path, true])
  for (const path of [
    'plain.txt',
    'twice.txt',
    'sub',
    'missing',
    'round',
    'sub/missing',
    'a\0b',
    'a\nb',
  ].flatMap(inWork))
    expect([path, names(facts, path)]).toEqual([path, false])
})

test('F4: a server without directories costs no look at the disk', () => {
  expect(files('plain').facts.place?.startLookups).toBeUndefined()
  expect(files('web').facts.place).toBeUndefined()
})

test('F4: more texts than are followed through links count as naming the gate’s files', () => {
  const { ownPaths = [], place } = files('files').facts
  const texts = (count: number) => Array.from({ length: count }, (_, at) => `/none${at}`)
  expect(mentionsProtectedFile(texts(LINK_LOOKUPS_MAX / 4), ownPaths, place)).toBe(false)
  expect(mentionsProtectedFile(texts(LINK_LOOKUPS_MAX + 1), ownPaths, place)).toBe(true)
})

test.each(['plain', 'web'])(
  'F4: relative paths of `%s` are tried in the roots of its client',
  (name) => {
    const own = files(name)
    expect(names(own.facts, 'gate/policy.yaml')).toBe(false)
    for (const root of [
      `file://${top}`,
      top,
      `FILE://localhost${top}`,
      `file://${top.replace('sluice', '%73luice')}`,
    ]) {
      const found = own.withRoots(['https://elsewhere.example/', root]) as OwnFacts
      for (const path of [
        'gate/policy.yaml',
        './gate/../gate/policy.yaml',
        'work/hard.txt',
        'work/soft.txt',
      ])
        expect([root, path, names(found, path)]).toEqual([root, path, true])
      expect(names(found, 'work/plain.txt')).toBe(false)
    }
  },
)

test('F4: a root within the gate’s own files is not passed on', () => {
  for (const root of [data, `file://${data}/x`, join(work, 'sub', 'folder', '.sluice')])
    expect(files('plain').withRoots([root])).toContain("lies within the gate's own files")
  expect(files('plain').withRoots([join(data, 'servers', 'plain')])).toMatchObject({ place: {} })
})
