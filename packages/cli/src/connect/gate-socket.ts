// The gate's socket from the other side: connects, says the first line and reads the first line of
// the answer. A command asks with `askGate`; a pipe goes on with the connection.

import { connect, type Socket } from 'node:net'
import { findSocketPath } from '@sluice/gateway/front/socket/socket-path'
import { type JsonObject, parseObject } from '@sluice/policy/values/json'
import { CliError } from '../terminal/errors.ts'
import { GATE_ANSWER_BYTES_MAX, GATE_ANSWER_MS_MAX } from '../terminal/limits.ts'

/** Undefined if no gate listens. Throws if another process may be listening there. */
export async function connectGate(directory: string): Promise<Socket | undefined> {
  const path = findSafely(directory)
  if (path === undefined) return undefined
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
    socket.once('error', () => resolve(undefined))
  })
}

function findSafely(directory: string): string | undefined {
  try {
    return findSocketPath(directory)
  } catch (error) {
    const { message, help = 'nothing was sent: stop what listens there, and remove it' } =
      error as Error & { readonly help?: string }
    throw new CliError('CLI_GATE', message, help)
  }
}

export interface AskOptions {
  /** Ends the asking. */
  readonly signal?: AbortSignal | undefined
  /** How long the gate may take. */
  readonly waitMs?: number
}

/** What the running gate answers to a command; undefined if none runs. */
export async function askGate(
  directory: string,
  request: JsonObject & { readonly do: string },
  { signal, waitMs = GATE_ANSWER_MS_MAX }: AskOptions = {},
): Promise<JsonObject | undefined> {
  const socket = await connectGate(directory)
  if (socket === undefined) return undefined
  const leave = (): void => void socket.destroy()
  let isLate = false
  const patience = setTimeout(() => {
    isLate = true
    leave()
  }, waitMs)
  signal?.addEventListener('abort', leave, { once: true })
  // It may have come while the connection was made.
  if (signal?.aborted) leave()
  try {
    return await greet(socket, request)
  } catch (error) {
    if (!isLate) throw error
    throw new CliError(
      'CLI_GATE',
      `a gate runs with \`${directory}\`, and does not answer within ${waitMs / 1_000} s`,
      'its process is suspended (a stopped job, a debugger, sleep) or busy: continue it with `kill -CONT`, or see `sluice logs`',
    )
  } finally {
    signal?.removeEventListener('abort', leave)
    clearTimeout(patience)
    socket.destroy()
  }
}

/** The environment for the servers' processes; `names` if only some of it is wanted. */
export type BuildHandshake = (names: readonly string[] | undefined) => JsonObject

/** The message of an error that is no refusal. */
export const CONNECTION_ENDED = 'the gate ended the connection'

/** Says the first line; throws if the gate refuses. What comes behind its answer is left in the
 * socket, which is paused. */
export async function greet(
  socket: Socket,
  request: JsonObject,
  handOver: BuildHandshake = () => ({}),
): Promise<JsonObject> {
  socket.on('error', () => socket.destroy())
  socket.write(`${JSON.stringify(request)}\n`)
  let answer = await readAnswer(socket)
  if (typeof answer.prove === 'string') answer = await prove(socket, answer.prove)
  if (answer.proven === true) answer = await readAnswer(socket)
  if (answer.want === 'env') {
    const names = Array.isArray(answer.names) ? answer.names.map(String) : undefined
    socket.write(`${JSON.stringify({ do: 'env', variables: handOver(names) })}\n`)
    answer = await readAnswer(socket)
  }
  if (answer.ok === true) return answer
  const { message = CONNECTION_ENDED, help } = answer
  const todo = typeof help === 'string' ? help : '`sluice status` shows what the gate knows'
  throw new CliError('CLI_GATE', String(message), todo)
}

/** One proof at a time: a process has one title. */
let lastProof: Promise<unknown> = Promise.resolve()

/** The gate wants to see which process this is: it names a title, which that process takes until the
 * gate says that it has seen it. The answer to the command may come much later (`approvals-news`). */
function prove(socket: Socket, question: string): Promise<JsonObject> {
  const proof = lastProof.then(async () => {
    const { title } = process
    process.title = question.replace(/[^\w-]/g, '')
    try {
      socket.write(`${JSON.stringify({ do: 'proof', pid: process.pid, ack: true })}\n`)
      return await readAnswer(socket)
    } finally {
      process.title = title
    }
  })
  lastProof = proof.catch(() => {})
  return proof
}

function readAnswer(socket: Socket): Promise<JsonObject> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0)
    const take = (chunk: Buffer): void => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const end = received.indexOf(0x0a)
      if (end < 0 && received.length > GATE_ANSWER_BYTES_MAX) socket.destroy()
      if (end < 0) return
      socket.off('data', take)
      socket.pause()
      const rest = received.subarray(end + 1)
      if (rest.length > 0) socket.unshift(rest)
      resolve(parseGateReply(received.subarray(0, end).toString()))
    }
    socket.on('data', take)
    socket.resume()
    socket.once('close', () => resolve({}))
  })
}

function parseGateReply(line: string): JsonObject {
  const message = `the gate answered with something else: ${line.slice(0, 200)}`
  return parseObject(line) ?? { message }
}
