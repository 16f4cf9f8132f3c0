// How the tests run: beside the code in src/, across rooms in test/. Coverage is measured, and enforced
// at 100 %, where a missed branch would be a wrong verdict.

import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { FULLY_COVERED } from './test/rooms.ts'

const all = { branches: 100, functions: 100, lines: 100, statements: 100 }

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'console/src/**/*.test.ts',
    ],
    globalSetup: ['test/bundle-command.ts'],
    setupFiles: ['test/seed.ts'],
    // For the processes that tests start: most of a short one is the stripping of types.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'sluice-tests'),
    },
    // Two cores: forks start slower than threads but cannot take each other down.
    pool: 'forks',
    // One more than cores: many tests wait for a process.
    maxWorkers: 3,
    // Generous: a loaded machine is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: [...FULLY_COVERED],
      exclude: ['**/*.test.ts'],
      reporter: [['text', { skipFull: true }]],
      thresholds: Object.fromEntries(FULLY_COVERED.map((glob) => [glob, all])),
    },
  },
})
