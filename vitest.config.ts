// How the tests run: beside the code in src/, across rooms in test/. Coverage is measured, and enforced
// at 100 %, where a missed branch would be a wrong verdict.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { COVERING, FULLY_COVERED, getRoomFolder, listRooms } from './test/support/rooms.ts'

const all = { branches: 100, functions: 100, lines: 100, statements: 100 }

/** Tests of rooms without I/O, clock and state: nothing of one file is left for the next. */
const pure = [...listRooms()]
  .filter(([, { kind }]) => kind === 'pure')
  .map(([room]) => `${getRoomFolder(room)}/**/*.test.ts`)

export default defineConfig({
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
    // One more than cores: many tests wait for a process.
    maxWorkers: 3,
    // Generous: a loaded machine is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // `npm test` measures coverage of this one alone (scripts/test.ts).
      { extends: true, test: { name: 'covering', include: [...COVERING], isolate: false } },
      {
        extends: true,
        test: { name: 'pure', include: pure, exclude: [...COVERING], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'house',
          include: [
            'packages/**/*.test.ts',
            'test/**/*.test.ts',
            'scripts/**/*.test.ts',
            'console/src/**/*.test.ts',
          ],
          exclude: [...COVERING, ...pure],
          globalSetup: ['test/support/bundle-command.ts'],
          // Tests with processes depend on the machine's pace. `npm test` names those that needed it.
          retry: Number(process.env.SLUICE_TEST_RETRIES ?? 1),
        },
      },
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
