// Before each test file. Properties run with a fixed seed, so that a test run is reproducible; `SLUICE_SEED` sets
// another, which is what finds new cases. For `npm test`, the CPU that a file takes is written down. After the file, its
// directories are removed.

import { appendFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { readCpuSeconds } from '../../scripts/cpu.ts'
import { runs } from './runs.ts'
import { removeFileScratch } from './scratch.ts'

const SEED = 20_261_115

/** Of a property that does not say how many. */
const CASES = 100

fc.configureGlobal({ seed: Number(process.env.SLUICE_SEED ?? SEED), ...runs(CASES) })

const file = process.env.SLUICE_TEST_CPU
if (file !== undefined) {
  const before = readCpuSeconds()
  // The last hook to run: children that the file started have been waited for.
  afterAll(() => {
    const seconds = readCpuSeconds() - before
    appendFileSync(file, `${seconds.toFixed(1)} ${expect.getState().testPath}\n`)
  })
}

// Hooks run in reverse order: those of the file have ended what it started.
afterAll(removeFileScratch)
