// A pipe between a client that only starts commands and the gate: connects to the socket of a data
// directory, starts a gate there if none runs, and hands over the client's environment for the servers'
// processes. If the gate is restarted, it connects to the next one. One process owns the directory, its limits and
// its record.

import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientVariables } from '@sluice/gateway/processes/environment'
import { ALL_SERVERS } from '@sluice/gateway/shared/transport'
import { viewOf } from '@sluice/gateway/shared/view'
import type { JsonObject } from '@sluice/policy/values/json'
import { CONNECTION_ENDED, connectGate, greet } from '../connect/gate-socket.ts'
import { keyDigests } from '../connect/key-digests.ts'
import { gateLog, startGate } from '../connect/start-gate.ts'
import { ArgumentError, type CliError } from '../terminal/errors.ts'
import {
  RECONNECT_MS_MAX,
  RECONNECT_MS_MIN,
  RECONNECT_PAUSE_MS_MAX,
  RESTART_AFTER_MS,
  WAIT_SHOWN_AFTER_MS,
} from '../terminal/limits.ts'
import { printable } from '../terminal/output.ts'
import { InterruptedCalls } from './interrupted-calls.ts'
import { PipeClient } from './pipe-client.ts'

export interface PipeOptions {
  readonly data: string
  readonly server: string
  /** Of all servers: how the client sees their tools. */
  readonly mode?: string | undefined
  /** The configuration for a gate that has to be started; throws if it has errors. */
  readonly config: () => string
  /** Variables for the server's process beside the client's own: `--env`. */
  readonly variables?: Readonly<Record<string, string>>
  /** What the server is started with, for the message while it does not answer. */
  readonly program: () => string | undefined
}

/** Resolves with the exit code when the client ends, or its gate has ended the session. */
export async function pipe(options: PipeOptions): Promise<0 | 1> {
  const { data, server, config } = options
  const startNote = printLater(() => `the gate does not serve yet; log: ${gateLog(data)}`)
  let socket =
    (await connectGate(data)) ?? (await startGate(data, config()).finally(startNote.stop))
  startNote.stop()
  let hello = await introduce(socket, options)
  const { notice } = hello
  if (typeof notice === 'string' && notice !== '')
    process.stderr.write(`sluice: ${printable(notice)} (--data ${data})\n`)
  const client = new PipeClient(new InterruptedCalls(data, (digests) => keyDigests(data, digests)))
  printSilence(socket, data, server, options.program)
  try {
    for (let before = hello.instance; ; before = hello.instance) {
      await client.serve(socket)
      const next = await connectAgain(options, client)
      if (next === undefined) return 0
      // It was no restart: a person has ended the session, or its caller may no longer call.
      if (next === 'refused') break
      ;({ socket, hello } = next)
      if (hello.instance === before) break
    }
  } finally {
    socket.destroy()
    process.stdin.destroy()
  }
  process.stderr.write(`sluice: the gate ended the session; log: ${gateLog(data)}\n`)
  return 1
}

/** Says who connects and hands over the environment; the socket was checked when it was connected to. */
function introduce(socket: Socket, { server, mode, variables }: PipeOptions): Promise<JsonObject> {
  const { SLUICE_TOKEN: token } = process.env
  const hello = { do: 'pipe', server, env: isOtherUsers() ? 'listed' : 'whole' }
  const environment = { ...process.env, ...variables }
  const handOver = (names: readonly string[] | undefined) => clientVariables(environment, names)
  const options = { ...(mode ? { mode } : {}), ...(token ? { token } : {}) }
  return greet(socket, { ...hello, ...options }, handOver)
}

/** A gate that was stopped stays so until the client wants something: then one is started, unless another program
 * starts it meanwhile. Undefined if the client ends before. A gate that refuses the pipe would refuse it again. */
async function connectAgain(
  options: PipeOptions,
  client: PipeClient,
): Promise<{ readonly socket: Socket; readonly hello: JsonObject } | 'refused' | undefined> {
  for (let pauseMs = RECONNECT_MS_MIN; !client.isOver; pauseMs *= 2) {
    const waitedMs = performance.now() - (client.wantedMs ?? Number.POSITIVE_INFINITY)
    try {
      const socket =
        (await connectGate(options.data)) ??
        (waitedMs > RESTART_AFTER_MS ? await startGate(options.data, options.config()) : undefined)
      if (socket !== undefined) return { socket, hello: await introduce(socket, options) }
    } catch (error) {
      if (waitedMs > RECONNECT_MS_MAX) throw error
      if (isRefusal(error)) {
        process.stderr.write(`sluice: ${printable(error.message)}\n`)
        return 'refused'
      }
    }
    await sleep(Math.min(pauseMs, RECONNECT_PAUSE_MS_MAX))
  }
  return undefined
}

function isRefusal(error: unknown): error is CliError {
  const { code, message } = error as Partial<CliError>
  return code === 'CLI_GATE' && message !== CONNECTION_ENDED
}

/** `--env NAME` takes the value from this process, `--env NAME=value` sets it. */
export function readEnvOptions(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      const name = at < 0 ? word : word.slice(0, at)
      const value = at < 0 ? process.env[name] : word.slice(at + 1)
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new ArgumentError(`--env \`${name}\` is not a name`, 'write --env NAME')
      if (/^SLUICE_/i.test(name))
        throw new ArgumentError(`--env \`${name}\`: servers get no SLUICE_*`, 'rename it')
      if (value !== undefined) return [name, value]
      throw new ArgumentError(
        `--env ${name}: the environment has no \`${name}\``,
        'set it in the entry of the client, or write --env NAME=value',
      )
    }),
  )
}

/** `sudo` and the like: what is in the environment is somebody else's. The gate looks for itself, too,
 * where the system shows it which processes have started this one. */
function isOtherUsers(): boolean {
  const { SUDO_UID: uid } = process.env
  return uid !== undefined && uid !== '' && Number(uid) !== process.getuid?.()
}

/** One line on stderr if the server is silent: clients show it, and it names what is waited for. */
function printSilence(
  socket: Socket,
  data: string,
  server: string,
  program: () => string | undefined,
): void {
  const what = (): string => {
    const isOne = server !== ALL_SERVERS && viewOf(server) === undefined
    const who = !isOne ? 'the servers have' : `the server \`${server}\` has`
    const loads = /^(npx|uvx|bunx|pnpm|docker|podman)$/.exec(program() ?? '')?.[0]
    const guess = loads === undefined ? '' : ` (${loads} may be downloading it)`
    return `${who} not answered yet${guess}; log: ${gateLog(data)}`
  }
  process.stdin.once('data', () => {
    const note = printLater(what)
    socket.once('data', note.stop)
    socket.once('close', note.stop)
  })
}

function printLater(what: () => string): { stop: () => void } {
  const timer = setTimeout(() => {
    process.stderr.write(`sluice: after ${WAIT_SHOWN_AFTER_MS / 1_000} s ${printable(what())}\n`)
  }, WAIT_SHOWN_AFTER_MS).unref()
  return { stop: () => clearTimeout(timer) }
}
