// Starts a gate in the background for a data directory if none runs, and waits until it serves its
// socket. Such a gate ends a minute after its last client. Used by pipes and by `sluice console`.

import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makePrivateFolder } from '@sluice/ledger/store/files/private-folder'
import { CliError } from '../terminal/errors.ts'
import { GATE_LOG_BYTES_MAX } from '../terminal/limits.ts'
import { connectGate } from './gate-socket.ts'

const START_MS_MAX = 30_000
/** Another gate had the directory and then did not serve, because it was ending: ours may. */
const START_AGAIN_MS = 2_000
const TRY_EVERY_MS = 50
const LOG_TAIL_CHARS = 2_000

/** The log of gates that were started here. */
export function gateLog(directory: string): string {
  return join(directory, 'gate.log')
}

/** Where several pipes start at once, one of their gates gets the directory and the others end:
 * all wait for the one that has it. */
export async function startGate(directory: string, config: string): Promise<Socket> {
  makePrivateFolder(directory)
  const logFile = gateLog(directory)
  const before = makeRoom(logFile)
  const began = performance.now()
  let gate = spawnGate(directory, config, logFile)
  while (performance.now() - began < START_MS_MAX) {
    const socket = await connectGate(directory)
    if (socket !== undefined) return socket
    await sleep(TRY_EVERY_MS)
    if (gate.ended === undefined) continue
    if (gate.ended.code !== 0) break
    if (performance.now() - gate.ended.atMs > START_AGAIN_MS)
      gate = spawnGate(directory, config, logFile)
  }
  const printed = readFileSync(logFile).subarray(before).toString()
  const tail = printed.slice(-LOG_TAIL_CHARS).trim()
  throw new CliError('CLI_START', `the gate did not start:\n${tail}`, `see ${logFile}`)
}

/** The log before this one is kept; what is older is dropped. Returns the size of what is there. */
function makeRoom(logFile: string): number {
  try {
    const { size } = statSync(logFile)
    if (size <= GATE_LOG_BYTES_MAX) return size
    renameSync(logFile, `${logFile}.1`)
  } catch {
    // There is none yet, or another pipe has just done it.
  }
  return 0
}

interface StartedGate {
  /** Code 0: another gate has the directory. */
  ended?: { readonly code: number | null; readonly atMs: number }
}

function spawnGate(directory: string, config: string, logFile: string): StartedGate {
  const log = openSync(logFile, 'a', 0o600)
  const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
  const args = [bin, 'up', '--config', config, '--data', directory, '--piped']
  // The gate is not the one the token is for.
  const { SLUICE_TOKEN: _, ...env } = process.env
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log], env })
  closeSync(log)
  const gate: StartedGate = {}
  child.once('exit', (code) => {
    gate.ended = { code, atMs: performance.now() }
  })
  child.unref()
  return gate
}
