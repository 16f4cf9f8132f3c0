// A pipe between a client that only starts commands and the gate: connects to the socket of a data
// directory, starts a gate there where none runs, and carries bytes both ways. It judges nothing:
// one process owns the directory, its limits and its record.

import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePrivateFolder } from '../../store/files/private-folder.ts'
import { CliError } from '../../terminal/errors.ts'
import { printable } from '../../terminal/output.ts'
import { connectGate, greet } from '../connect/gate-socket.ts'

const START_MS_MAX = 30_000
/** Another gate had the directory and then did not serve, because it was ending: ours may. */
const START_AGAIN_MS = 2_000
const TRY_EVERY_MS = 50
const LOG_TAIL_CHARS = 2_000

/** Resolves with the exit code when either side ends. */
export async function pipe(directory: string, config: string, server: string): Promise<0 | 1> {
  const socket = (await connectGate(directory)) ?? (await startGate(directory, config))
  const { SLUICE_TOKEN: token } = process.env
  const { notice } = await greet(socket, { do: 'pipe', server, ...(token ? { token } : {}) })
  if (typeof notice === 'string' && notice !== '')
    process.stderr.write(`sluice: ${printable(notice)} (--data ${directory})\n`)
  process.stdin.pipe(socket)
  socket.pipe(process.stdout, { end: false })
  return new Promise((resolve) => {
    socket.once('close', () => resolve(process.stdin.readableEnded ? 0 : 1))
    socket.once('error', () => resolve(1))
  })
}

/** Where several pipes start at once, one of their gates gets the directory and the others end:
 * all wait for the one that has it. */
async function startGate(directory: string, config: string): Promise<Socket> {
  makePrivateFolder(directory)
  const logFile = join(directory, 'gate.log')
  const began = performance.now()
  let gate = spawnGate(directory, config, logFile)
  while (performance.now() - began < START_MS_MAX) {
    const socket = await connectGate(directory)
    if (socket !== undefined) return socket
    await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS))
    if (gate.ended === undefined) continue
    if (gate.ended.code !== 0) break
    if (performance.now() - gate.ended.atMs > START_AGAIN_MS)
      gate = spawnGate(directory, config, logFile)
  }
  const said = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARS).trim()
  throw new CliError('CLI_START', `the gate did not start: ${said}`, `see ${logFile}`)
}

interface StartedGate {
  /** Code 0: another gate has the directory. */
  ended?: { readonly code: number | null; readonly atMs: number }
}

/** The gate lives on by itself, and ends a minute after its last client. */
function spawnGate(directory: string, config: string, logFile: string): StartedGate {
  const log = openSync(logFile, 'a', 0o600)
  const bin = fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url))
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
