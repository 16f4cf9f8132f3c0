// The engine equals a reference that was written from the language page alone, on random
// decisions; and faults planted in a copy of the engine are each found. The full million runs by
// `npm run soak -- reference`.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { forms, rounds } from '../support/runs.ts'
import { FAULTS } from './reference/faults.ts'

const DECISIONS = rounds(12_000)
const PLANTED = forms(FAULTS, 3)
const SEED = '1'
const TIMEOUT_MS = 600_000

let report: {
  decisions: number
  differences: string[]
  mix: unknown
  thin: unknown[]
  found: string[]
}

beforeAll(async () => {
  // In a process of its own: coverage would only slow it.
  const { NODE_V8_COVERAGE: _, ...env } = process.env
  const command = ['scripts/soak.ts', 'reference', '--json', '--seed', SEED]
  command.push('--decisions', String(DECISIONS), '--faults', String(PLANTED.length))
  const run = promisify(execFile)(process.execPath, command, { cwd: ROOT, env, maxBuffer: 64e6 })
  const { stdout, stderr } = await run.catch((error) => error as { stdout: string; stderr: string })
  expect(stdout, stderr).not.toBe('')
  report = JSON.parse(stdout)
}, TIMEOUT_MS)

test(`the engine equals the reference on ${DECISIONS} random decisions`, () => {
  const { decisions, differences, mix, thin } = report
  console.log(`reference: ${decisions} decisions from seed ${SEED}`, JSON.stringify(mix))
  expect(differences).toEqual([])
  expect(thin).toEqual([])
  expect(decisions).toBeGreaterThanOrEqual(DECISIONS)
})

test.each(PLANTED)('a planted fault is found: $name', ({ name }) => {
  expect(report.found).toContain(name)
})
