// What is published: both packages as `npm pack` makes them, built in a copy so that no other test reads
// a `dist` under construction. They hold what runs and what is read, the command runs from its package,
// and the library example of the READMEs runs with the policy package alone.

import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Ledger } from '../../packages/sluice/src/ledger/ledger.ts'
import { assembleStandalone } from '../../scripts/standalone.ts'
import { ROOT } from '../support/modules.ts'

const PARTS = ['console', 'docs', 'packages', 'scripts', 'LICENSE', 'package.json']
const CONFIGS = ['', '.base', '.node', '.pure', '.test'].map((kind) => `tsconfig${kind}.json`)

let place = ''
let sluice: string[] = []
let policy: string[] = []

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  for (const part of [...PARTS, ...CONFIGS, 'package-lock.json'])
    cpSync(join(ROOT, part), join(place, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: place, stdio: 'pipe' })
  sluice = listPacked('sluice')
  policy = listPacked('policy')
}, 300_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

test('they hold what runs and what is read, and no sources and tests', () => {
  const published = (name: string): string[] => {
    const { exports } = JSON.parse(readFileSync(join(place, 'dist', name, 'package.json'), 'utf8'))
    return JSON.stringify(exports).match(/(?<=\.\/)(dist|schema)\/[^"*]+(?=")/g) ?? []
  }
  const command = [
    'bin/sluice.js',
    'dist/bundle/main.js',
    'dist/console/index.html',
    'packs/github/policy.yaml',
  ]
  const needed = [
    ...command,
    'docs/reference/errors.md',
    'README.md',
    'LICENSE',
    ...published('sluice'),
  ]
  expect(needed.filter((path) => !sluice.includes(path))).toEqual([])
  expect(published('policy').filter((path) => !policy.includes(path))).toEqual([])
  const foreign =
    /^(src|console|test|scripts|bench|examples)\/|\.test\.|test-support|tsbuildinfo|(?<!\.d)\.ts$/
  expect([...sluice, ...policy].filter((path) => foreign.test(path))).toEqual([])
})

test('the command runs from it, and finds the processes that it starts', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(place, 'dist/sluice/bin/sluice.js'), ...args], {
      cwd: place,
      encoding: 'utf8',
    })
  writeFileSync(join(place, 'policy.yaml'), 'version: 1\ndefault: deny\n')
  const explained = run('policy', 'explain', 'a/b')
  expect([explained.status, explained.stdout]).toEqual([1, expect.stringContaining('deny DENIED')])
  Ledger.open({ directory: join(place, 'data') }).close()
  const asked = run('ledger', 'query', '--data', 'data', '--sql', 'SELECT 41 + 1 AS answer')
  expect([asked.status, asked.stdout], asked.stderr).toEqual([0, expect.stringContaining('42')])
})

test('with Node inside it runs where there is no Node, by a link and with an empty PATH', () => {
  const target = join(place, 'standalone')
  assembleStandalone({ root: place, target, node: process.execPath })
  symlinkSync(join(target, 'bin/sluice'), join(place, 'linked'))
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: place, encoding: 'utf8', env: { PATH: '' } })
  const command = join(target, 'bin/sluice')
  const explained = run(command, 'policy', 'explain', 'a/b')
  expect([explained.status, explained.stdout], explained.stderr).toEqual([
    1,
    expect.stringContaining('deny DENIED'),
  ])
  expect(run(join(place, 'linked'), 'policy', 'add').stdout).toContain('github')
})

test('the library example of the READMEs runs with the policy package alone', () => {
  const readExample = (file: string): string =>
    /^```ts library\.mts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? ''
  const text = readExample('packages/policy/README.md')
  expect(readExample('README.md')).toBe(text)
  const folder = join(place, 'library')
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@sluice'), { recursive: true })
  // A copy: a link would let the package find what is installed for the product.
  cpSync(join(place, 'dist/policy'), join(modules, '@sluice/policy'), { recursive: true })
  const { dependencies } = JSON.parse(
    readFileSync(join(ROOT, 'packages/policy/package.json'), 'utf8'),
  ) as { dependencies: Record<string, string> }
  for (const name of Object.keys(dependencies))
    cpSync(join(ROOT, 'node_modules', name), join(modules, name), { recursive: true })
  // As `npm init -y` writes it.
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }')
  writeFileSync(join(folder, 'library.mts'), text)
  const stdout = execFileSync(process.execPath, ['library.mts'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe('allow\nrequire_approval\ndeny\n')
})

function listPacked(name: string): string[] {
  const answer = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: join(place, 'dist', name),
    encoding: 'utf8',
    stdio: 'pipe',
  })
  const [{ files }] = JSON.parse(answer) as [{ files: { path: string }[] }]
  return files.map(({ path }) => path)
}
