// Ends the gate of a data directory and waits until it has let go of it: open calls are answered first.
// Used by `sluice stop`, and by `sluice up` in place of a gate that clients started.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AnswerOf } from '@sluice/gateway/operations/operation'
import { STOP_GATE } from '@sluice/gateway/operations/status'
import { CliError } from '../terminal/errors.ts'
import { GATE_STOP_MS_MAX } from '../terminal/limits.ts'
import { askIfRunning } from './ask-operation.ts'

const LOOK_EVERY_MS = 50

/** What the gate said when it was asked to end; undefined if none runs. */
export async function stopGate(data: string): Promise<AnswerOf<typeof STOP_GATE> | undefined> {
  const response = await askIfRunning(data, STOP_GATE)
  if (response === undefined) return undefined
  const deadline = performance.now() + GATE_STOP_MS_MAX
  // Removed when the lock is given up.
  while (existsSync(join(data, 'gate.pid')) && isThere(data)) {
    if (performance.now() > deadline)
      throw new CliError(
        'CLI_GATE',
        `process ${response.pid} does not end within ${GATE_STOP_MS_MAX / 1_000} s`,
        `look at its log, then end it yourself: kill ${response.pid}`,
      )
    await sleep(LOOK_EVERY_MS)
  }
  return response
}

/** The process that wrote the file, or another one that took its place, is alive. */
function isThere(data: string): boolean {
  try {
    process.kill(Number(readFileSync(join(data, 'gate.pid'), 'utf8')), 0)
    return true
  } catch {
    return false
  }
}
