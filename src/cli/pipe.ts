// A pipe between a client that only starts commands and the gate: connects to the socket of a data
// directory, starts a gate there where none runs, and carries bytes both ways. It judges nothing:
// one process owns the directory, its limits and its record.

import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { socketPath } from '../gateway/front/socket.ts'
import { CliError } from './errors.ts'

const START_MS_MAX = 15_000
/** Our own gate ended at once where another pipe was faster: how long that one's may still take. */
const OTHERS_START_MS_MAX = 3_000
const TRY_EVERY_MS = 50

/** Resolves with the exit code when either side ends. */
export async function pipe(directory: string, config: string, server: string): Promise<0 | 1> {
  const socket = (await tryConnect(directory)) ?? (await startGate(directory, config))
  const answer = await greet(socket, server)
  if (answer !== 'ok')
    throw new CliError('CLI_ARGUMENT', answer, 'name a server of the configuration')
  process.stdin.pipe(socket)
  socket.pipe(process.stdout, { end: false })
  return new Promise((resolve) => {
    socket.once('close', () => resolve(process.stdin.readableEnded ? 0 : 1))
    socket.once('error', () => resolve(1))
  })
}

function tryConnect(directory: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(socketPath(directory))
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', () => resolve(undefined))
  })
}

/** The gate lives on by itself, and ends a minute after its last client. */
async function startGate(directory: string, config: string): Promise<Socket> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const logFile = join(directory, 'gate.log')
  const log = openSync(logFile, 'a', 0o600)
  const bin = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
  const args = [bin, 'up', '--config', config, '--data', directory, '--piped']
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log] })
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  child.unref()
  const began = performance.now()
  const waited = () => performance.now() - began
  while (waited() < (ended ? OTHERS_START_MS_MAX : START_MS_MAX)) {
    const socket = await tryConnect(directory)
    if (socket !== undefined) return socket
    await new Promise((resolve) => setTimeout(resolve, TRY_EVERY_MS))
  }
  throw new CliError('CLI_START', 'the gate did not start', `see ${logFile}`)
}

/** Names the server; the gate answers with a line of its own before anything else. */
function greet(socket: Socket, server: string): Promise<string> {
  socket.write(`${server}\n`)
  return new Promise((resolve) => {
    let said = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk])
      const end = said.indexOf(0x0a)
      if (end < 0) return
      socket.off('data', take)
      socket.pause()
      const rest = said.subarray(end + 1)
      if (rest.length > 0) socket.unshift(rest)
      resolve(said.subarray(0, end).toString())
    }
    socket.on('data', take)
    socket.once('close', () => resolve('the gate ended the connection'))
  })
}
