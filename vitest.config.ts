// How the tests run: beside the code in src/, across modules in test/. Coverage is measured, and enforced
// at 100 %, where a missed branch would be a wrong verdict.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { STARTS } from './scripts/bundle.ts'
import { COVERING, FULLY_COVERED } from './test/support/modules.ts'

const all = { branches: 100, functions: 100, lines: 100, statements: 100 }

const GLOBAL_SETUP = ['test/support/bundle-command.ts']
/** Tests with processes depend on the machine's pace. `npm test` names those that needed a retry. */
const RETRY = Number(process.env.SLUICE_TEST_RETRIES ?? 1)

/** They read the tree and start nothing of it but the compiler: one attempt, and no bundle to wait for. */
const LAYOUT = 'test/layout/**/*.test.ts'

const UNITS = {
  name: 'units',
  include: ['packages/**/*.test.ts', 'site/**/*.test.ts', LAYOUT],
  exclude: [...COVERING],
  // They keep the two cores busy; a third worker would import and compile all of it once more. After the others.
  maxWorkers: 2,
  sequence: { groupOrder: 2 },
}

const PROCESSES = {
  name: 'processes',
  include: ['test/**/*.test.ts', 'scripts/**/*.test.ts'],
  exclude: [...COVERING, LAYOUT],
  globalSetup: GLOBAL_SETUP,
  retry: RETRY,
  // As many as cores, though many of them wait for a process: each more makes all of them slower.
  maxWorkers: 2,
  sequence: { groupOrder: 1 },
}

/** The command that code starts in the background, or writes into the file of a client. */
const COMMAND =
  /fileURLToPath\(new URL\('\.\.\/\.\.\/bin\/sluice\.js', import\.meta\.url\)\)|join\(PACKAGE, 'bin\/sluice\.js'\)/g

/** Code in the test's process starts the bundled threads and the bundled command too (bundle-command.ts). Without a
 * bundle, as in a run of unit tests alone, it starts their sources. A gate costs a third of one from the sources. */
const STARTS_BUNDLED = {
  name: 'bundled threads',
  enforce: 'pre' as const,
  transform: {
    filter: { id: /\/packages\/[^/]+\/src\/.*\.ts$/, code: [STARTS, COMMAND] },
    // Decided when the code runs: transformed modules are cached on disk, for runs with and without the bundle.
    handler: (code: string) =>
      code
        .replace(
          STARTS,
          "(process.env.SLUICE_TEST_COMMAND === undefined ? $& : join(process.env.SLUICE_TEST_COMMAND, '../..', '$1.js'))",
        )
        .replace(COMMAND, '(process.env.SLUICE_TEST_COMMAND ?? $&)'),
  },
}

export default defineConfig({
  plugins: [STARTS_BUNDLED],
  test: {
    setupFiles: ['test/support/seed.ts'],
    // For the processes that tests start: most of a short one is the stripping of types.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'sluice-tests'),
      // What commands keep for their user: not in the home of whoever runs the tests.
      XDG_STATE_HOME: join(import.meta.dirname, 'node_modules', '.cache', 'sluice-tests-state'),
    },
    // Two cores: forks start slower than threads but cannot take each other down.
    pool: 'forks',
    // Generous: a loaded machine is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 100 } },
    projects: [
      // `npm test` measures coverage of this one alone (scripts/test.ts), which is over as fast with one worker.
      {
        extends: true,
        test: { name: 'covering', include: [...COVERING], isolate: false, maxWorkers: 1 },
      },
      // Nothing of one file is left for the next, and what they import is read once.
      { extends: true, test: { ...UNITS, isolate: false } },
      { extends: true, test: { ...PROCESSES, isolate: false } },
    ],
    coverage: {
      provider: 'v8',
      include: [...FULLY_COVERED],
      exclude: ['**/*.test.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: Object.fromEntries(FULLY_COVERED.map((glob) => [glob, all])),
    },
  },
})
