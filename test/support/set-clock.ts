// Gates whose wall clock a test sets while they run, as an operator or NTP would (clock-ahead.mjs).

import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { vi } from 'vitest'
import { ROOT } from './modules.ts'
import { scratchDirectory } from './scratch.ts'
import { type GateSpec, type RunningGate, startGate } from './start-gate.ts'

export const HOUR_MS = 3_600_000
export const YEAR_MS = 365 * 24 * HOUR_MS

export class SetClock {
  readonly #file = join(scratchDirectory(), 'clock')

  constructor() {
    this.set(0)
  }

  /** How far the clock is ahead from now on; negative: behind. */
  set(aheadMs: number): void {
    // By a rename: a gate that read it half written would have another clock for a moment.
    writeFileSync(`${this.#file}.new`, String(aheadMs))
    renameSync(`${this.#file}.new`, this.#file)
  }

  /** A gate with this clock. */
  async start(spec: GateSpec): Promise<RunningGate> {
    vi.stubEnv('NODE_OPTIONS', `--import=${join(ROOT, 'test/support/clock-ahead.mjs')}`)
    vi.stubEnv('SLUICE_TEST_CLOCK', this.#file)
    const starting = startGate(spec)
    vi.unstubAllEnvs()
    return starting
  }
}
