// The engine equals a reference that was written from the language page alone, on random
// decisions; and faults planted in a copy of the engine are each found. The full million runs by
// `npm run soak -- reference`.

import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAULTS } from './reference/faults.ts'
import { ROOT } from './rooms.ts'

const DECISIONS = Number(process.env.SLUICE_REFERENCE_DECISIONS ?? 30_000)
const TIMEOUT_MS = 600_000

/** In a process of its own: coverage would only slow it. */
async function compare(
  ...options: string[]
): Promise<{ decisions: number; differences: string[]; mix: unknown; thin: unknown[] }> {
  const { NODE_V8_COVERAGE: _, ...env } = process.env
  const command = ['scripts/soak.ts', 'reference', '--json', ...options]
  const run = promisify(execFile)(process.execPath, command, { cwd: ROOT, env, maxBuffer: 64e6 })
  const { stdout } = await run.catch((error) => error as { stdout: string })
  return JSON.parse(stdout)
}

test(`the engine equals the reference on ${DECISIONS} random decisions`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = '1'
  const { decisions, differences, mix, thin } = await compare(
    '--decisions',
    String(DECISIONS),
    '--seed',
    seed,
  )
  console.log(`reference: ${decisions} decisions from seed ${seed}`, JSON.stringify(mix))
  expect(differences).toEqual([])
  expect(thin).toEqual([])
  expect(decisions).toBeGreaterThanOrEqual(DECISIONS)
})

describe('planted faults are found', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(ROOT, '.faults-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(FAULTS)('$name', { timeout: TIMEOUT_MS }, async ({ name, file, find, put }) => {
    const copy = join(folder, name.replaceAll(' ', '-'))
    for (const room of ['core', 'document', 'policy', 'store'])
      cpSync(join(ROOT, 'src', room), join(copy, room), { recursive: true })
    const source = readFileSync(join(copy, file), 'utf8')
    expect(source.split(find).length, `\`${find}\` stands once in ${file}`).toBe(2)
    writeFileSync(join(copy, file), source.replace(find, put))
    const { differences } = await compare(
      '--decisions',
      '30000',
      '--seed',
      '1',
      '--engine',
      relative(ROOT, copy),
    )
    expect(differences.length).toBeGreaterThan(0)
  })
})
