// A command to the owner of a data directory: the running gate, over its socket; if none runs, the
// command itself, under the directory's lock. One of the two always is the only one to write.

import { setTimeout as sleep } from 'node:timers/promises'
import { DataInUseError, DataLock } from '@sluice/gateway/data/data-lock'
import type { JsonObject } from '@sluice/policy/values/json'
import { CliError } from '../terminal/errors.ts'
import { askGate, connectGate } from './gate-socket.ts'

/** A gate that is starting or ending has the lock and no socket. */
const OWNER_MS_MAX = 15_000
const TRY_EVERY_MS = 50

export async function runOnOwner(
  directory: string,
  request: JsonObject & { readonly do: string },
  alone: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const deadline = performance.now() + OWNER_MS_MAX
  for (;;) {
    const answer = await askGate(directory, request)
    if (answer !== undefined) return answer
    using lock = takeLock(directory, performance.now() > deadline)
    if (lock !== undefined) return await alone()
    await sleep(TRY_EVERY_MS)
  }
}

/** Waits while a gate is starting or ending there, whose files are no other process's to open. */
export async function waitForGate(directory: string): Promise<void> {
  const deadline = performance.now() + OWNER_MS_MAX
  for (;;) {
    const socket = await connectGate(directory)
    socket?.destroy()
    if (socket !== undefined || !DataLock.isHeld(directory)) return
    if (performance.now() > deadline)
      throw new CliError(
        'CLI_GATE',
        `a process uses \`${directory}\`, and it does not answer`,
        '`sluice status` names it: wait until it has started, or stop it by its pid',
      )
    await sleep(TRY_EVERY_MS)
  }
}

function takeLock(directory: string, isLast: boolean): DataLock | undefined {
  try {
    return DataLock.take(directory)
  } catch (error) {
    if (!(error instanceof DataInUseError)) throw error
    if (!isLast) return undefined
    throw new CliError('CLI_GATE', `${error.message}, and it does not answer`, 'stop it by its pid')
  }
}
