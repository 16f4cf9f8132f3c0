// scripts/bootstrap.js with an npm that leaves native parts out, as npm does on a Node that is older than they ask for.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { NODE } from '../support/start-gate.ts'

const LOCKED = {
  'node_modules/node': { version: '24.0.0' },
  'node_modules/native': {
    version: '1.0.0',
    optional: true,
    os: [process.platform],
    cpu: [process.arch],
    engines: { node: '>=22' },
  },
  'node_modules/foreign': {
    version: '1.0.0',
    optional: true,
    os: ['aix'],
    cpu: [process.arch],
    engines: { node: '>=22' },
  },
}

/** `ci` installs what needs no newer Node, `install` all of this platform. */
const NPM = `
const { appendFileSync, mkdirSync, symlinkSync, writeFileSync } = require('node:fs')
appendFileSync('calls.txt', process.argv[2] + ' ' + process.execPath + '\\n')
mkdirSync('node_modules/node/bin', { recursive: true })
mkdirSync('node_modules/.bin', { recursive: true })
if (process.argv[2] === 'ci') {
  writeFileSync('node_modules/node/package.json', '{"version":"24.0.0"}')
  writeFileSync('node_modules/node/bin/node', '#!/bin/sh\\nOWN_NODE=1 exec ${NODE} "$@"\\n', { mode: 0o755 })
  symlinkSync('../node/bin/node', 'node_modules/.bin/node')
}
const { 'node_modules/foreign': _, 'node_modules/native': native, ...rest } = ${JSON.stringify(LOCKED)}
const packages = process.env.OWN_NODE ? { ...rest, 'node_modules/native': native } : rest
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }))
`

test('what npm leaves out on an old Node is installed on the Node that the clone brings', () => {
  const root = scratchDirectory()
  mkdirSync(join(root, 'scripts'))
  copyFileSync(join(ROOT, 'scripts', 'bootstrap.js'), join(root, 'scripts', 'bootstrap.js'))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: LOCKED }))
  mkdirSync(join(root, 'npm'))
  writeFileSync(join(root, 'npm', 'package.json'), '{"type":"commonjs"}')
  const cli = join(root, 'npm', 'npm-cli.js')
  writeFileSync(cli, NPM)
  const run = () =>
    spawnSync(NODE, [join(root, 'scripts', 'bootstrap.js')], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, npm_execpath: cli, npm_node_execpath: NODE },
    })
  const first = run()
  expect(first.status, first.stderr).toBe(0)
  const calls = () => readFileSync(join(root, 'calls.txt'), 'utf8').trim().split('\n')
  expect(calls().map((line) => line.split(' ')[0])).toEqual(['ci', 'install'])
  expect(run().stderr).toBe('')
  expect(calls()).toHaveLength(2)
})
