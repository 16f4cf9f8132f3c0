// What is published: the package as `npm pack` makes it, built where nobody else reads `dist`. It holds
// what runs and what is read, the command runs from it, and so does the README's library example.

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
import { ROOT } from '../support/rooms.ts'

const PARTS = ['bin', 'console', 'docs', 'schema', 'scripts', 'src', 'README.md', 'LICENSE']
const CONFIGS = ['', '.base', '.node', '.pure', '.test'].map((kind) => `tsconfig${kind}.json`)

let place = ''
let files: string[] = []

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'sluice-package-'))
  for (const part of [...PARTS, ...CONFIGS, 'package.json'])
    cpSync(join(ROOT, part), join(place, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(place, 'node_modules'))
  // It builds first, by `prepack`.
  const answer = execFileSync('npm', ['pack', '--dry-run', '--json'], {
    cwd: place,
    encoding: 'utf8',
    stdio: 'pipe',
  })
  const [{ files: packed }] = JSON.parse(answer) as [{ files: { path: string }[] }]
  files = packed.map(({ path }) => path)
  // From here on it is a package: bin/sluice.js runs what was built.
  rmSync(join(place, 'src'), { recursive: true })
}, 300_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

test('it holds what runs and what is read, and no sources and tests', () => {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const published = JSON.stringify(exports).match(/(?<=\.\/)(dist|schema)\/[^"]+/g) ?? []
  const needed = [
    'bin/sluice.js',
    'dist/bundle/main.js',
    'dist/console/index.html',
    'docs/errors.md',
    'README.md',
    'LICENSE',
  ]
  expect([...needed, ...published].filter((path) => !files.includes(path))).toEqual([])
  const foreign = /^(src|console|test|scripts|bench|examples)\/|\.test\.|test-support|tsbuildinfo/
  expect(files.filter((path) => foreign.test(path))).toEqual([])
})

test('the command runs from it, and finds the processes that it starts', () => {
  const sluice = (...args: string[]) =>
    spawnSync(process.execPath, [join(place, 'bin', 'sluice.js'), ...args], {
      cwd: place,
      encoding: 'utf8',
    })
  writeFileSync(join(place, 'policy.yaml'), 'version: 1\ndefault: deny\n')
  const explained = sluice('policy', 'explain', 'a/b')
  expect([explained.status, explained.stdout]).toEqual([1, expect.stringContaining('deny DENIED')])
  Ledger.open({ directory: join(place, 'data') }).close()
  const asked = sluice('ledger', 'query', '--data', 'data', '--sql', 'SELECT 41 + 1 AS answer')
  expect([asked.status, asked.stdout], asked.stderr).toEqual([0, expect.stringContaining('42')])
})

test("the README's library example runs", () => {
  const [, text = ''] =
    /^```ts library\.ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  const folder = join(place, 'library')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(place, join(folder, 'node_modules', 'sluice'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'library.ts'), text)
  const stdout = execFileSync(process.execPath, ['library.ts'], { cwd: folder, encoding: 'utf8' })
  expect(stdout).toBe('allow /categories/Read\n')
})
