// `npm run soak -- faults [--only NAME] [--calls N] [--seed N]`: shows that the checker of a cluster's history
// (test/cluster/history.ts) finds what it is for. Each patch of test/soak/faults plants one fault in a copy of the tree,
// whose gates then make a history; the tree without a fault makes one in which nothing is wrong.

import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { ROOT } from '../support/modules.ts'
import { FAULTS } from '../support/planted-patches.ts'

/** What the copy runs. */
const FOLDERS = ['packages', 'scripts', 'test', 'package.json']
const OWN = '@sluice'

export function run(options: RunOptions): number {
  const { calls = '300', only, seed = '3' } = options
  const size = ['--calls', String(calls), '--seed', String(seed), '--gates', '2', '--workers', '4']
  const names = ['none', ...FAULTS.keys()].filter((name) => only === undefined || only === name)
  if (names.length === 0) throw new Error(`--only is one of none, ${[...FAULTS.keys()].join(', ')}`)
  let missed = 0
  for (const name of names) {
    const copy = mkdtempSync(join(tmpdir(), 'sluice-fault-'))
    try {
      copyTree(copy)
      const patch = FAULTS.get(name)
      if (patch !== undefined) execFileSync('git', ['apply', patch], { cwd: copy })
      const wrong = makeHistory(copy, size)
      const isRight = wrong.length > 0 === (patch !== undefined)
      if (!isRight) missed++
      console.log(`${isRight ? 'ok' : 'MISSED'} ${name}: ${wrong.length} kinds of things wrong`)
      for (const each of wrong) console.log(`  ${each}`)
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
  console.log(`${names.length} runs, ${missed} not as expected`)
  return missed === 0 ? 0 : 1
}

function copyTree(to: string): void {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...FOLDERS]
  const files = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const file of files.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(to, file))
  }
  linkModules(to)
}

/** As they are installed, but for the packages of the repository, which are those of the copy: a fault is in them. */
function linkModules(to: string): void {
  const from = join(ROOT, 'node_modules')
  mkdirSync(join(to, 'node_modules', OWN), { recursive: true })
  for (const name of readdirSync(from))
    if (name !== OWN) symlinkSync(join(from, name), join(to, 'node_modules', name))
  for (const name of readdirSync(join(from, OWN)))
    symlinkSync(join(to, 'packages', name), join(to, 'node_modules', OWN, name))
}

/** The first message of each kind. */
function makeHistory(tree: string, size: readonly string[]): string[] {
  const args = ['scripts/soak.ts', 'cluster', '--only', 'history', ...size]
  const { stderr, stdout } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' })
  const lines = stdout.split('\n')
  // Without it the run has failed, and says nothing about the fault.
  const end = lines.findIndex((line) => /^history: \d+ things wrong/.test(line))
  if (end < 0) throw new Error(`the history was not checked: ${stdout}${stderr}`)
  const kinds = new Map(
    lines
      .slice(0, end)
      .filter((line) => /^[a-z ]+: /.test(line))
      .reverse()
      .map((line) => [line.split(':')[0], line]),
  )
  return [...kinds.values()]
}
