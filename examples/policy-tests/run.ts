// Policy tests as a CI job runs them: check, test, prove, coverage. Then a careless change, to see that
// the job fails on it.

import { deepStrictEqual, match } from 'node:assert'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSluice } from '../support/gate.ts'

const COMMANDS = [
  ['policy', 'check', 'policy.yaml', '--tools', 'tools.json'],
  ['policy', 'test', 'cases.yaml'],
  ['policy', 'prove', 'properties.yaml', '--policy', 'policy.yaml', '--tools', 'tools.json'],
  ['policy', 'coverage', 'cases.yaml'],
]

const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
try {
  for (const file of ['policy.yaml', 'tools.json', 'cases.yaml', 'properties.yaml'])
    cpSync(join(import.meta.dirname, file), join(folder, file))
  for (const command of COMMANDS) {
    const { status, output } = runSluice(folder, ...command)
    deepStrictEqual(status, 0, `sluice ${command.join(' ')}: ${output}`)
  }

  const policy = join(folder, 'policy.yaml')
  const careless = readFileSync(policy, 'utf8').replace(
    'Destructive: require_approval',
    'Destructive: allow',
  )
  writeFileSync(policy, careless)
  const [, tested = [], proved = []] = COMMANDS
  const failed = runSluice(folder, ...tested)
  deepStrictEqual(failed.status, 1)
  match(failed.output, /deleting waits for a person/)
  const refuted = runSluice(folder, ...proved)
  deepStrictEqual(refuted.status, 1)
  match(refuted.output, /refuted/)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
