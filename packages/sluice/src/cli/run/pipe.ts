// A pipe between a client that only starts commands and the gate: connects to the socket of a data
// directory, starts a gate there if none runs, hands over the client's environment for the servers'
// processes, and carries bytes both ways. It judges nothing: one process owns the directory, its limits
// and its record.

import type { Socket } from 'node:net'
import { clientVariables } from '../../gateway/processes/environment.ts'
import { ALL_SERVERS } from '../../gateway/shared/transport.ts'
import { CliError } from '../../terminal/errors.ts'
import { WAIT_SHOWN_AFTER_MS } from '../../terminal/limits.ts'
import { printable } from '../../terminal/output.ts'
import { connectGate, greet } from '../connect/gate-socket.ts'
import { gateLog, startGate } from '../connect/start-gate.ts'

export interface PipeOptions {
  readonly data: string
  readonly server: string
  /** The configuration for a gate that has to be started; throws if it has errors. */
  readonly config: () => string
  /** Variables for the server's process beside the client's own: `--env`. */
  readonly variables?: Readonly<Record<string, string>>
  /** What the server is started with, for the message while it does not answer. */
  readonly program: () => string | undefined
}

/** Resolves with the exit code when either side ends. */
export async function pipe({ data, server, ...options }: PipeOptions): Promise<0 | 1> {
  const tellStart = tellLater(() => `the gate does not serve yet; log: ${gateLog(data)}`)
  const socket =
    (await connectGate(data)) ?? (await startGate(data, options.config()).finally(tellStart.stop))
  tellStart.stop()
  const { SLUICE_TOKEN: token } = process.env
  const hello = { do: 'pipe', server, env: isOtherUsers() ? 'listed' : 'whole' }
  const environment = { ...process.env, ...options.variables }
  const handOver = (names: readonly string[] | undefined) => clientVariables(environment, names)
  const { notice } = await greet(socket, { ...hello, ...(token ? { token } : {}) }, handOver)
  if (typeof notice === 'string' && notice !== '')
    process.stderr.write(`sluice: ${printable(notice)} (--data ${data})\n`)
  tellSilence(socket, data, server, options.program)
  process.stdin.pipe(socket)
  socket.pipe(process.stdout, { end: false })
  return new Promise((resolve) => {
    socket.once('close', () => {
      const isOver = process.stdin.readableEnded
      if (!isOver)
        process.stderr.write(`sluice: the gate ended the session; log: ${gateLog(data)}\n`)
      resolve(isOver ? 0 : 1)
    })
    socket.once('error', () => resolve(1))
  })
}

/** `--env NAME` takes the value from this process, `--env NAME=value` sets it. */
export function readEnvOptions(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      const name = at < 0 ? word : word.slice(0, at)
      const value = at < 0 ? process.env[name] : word.slice(at + 1)
      if (!/^[A-Za-z_]\w*$/.test(name))
        throw new CliError('CLI_ARGUMENT', `--env \`${name}\` is not a name`, 'write --env NAME')
      if (/^SLUICE_/i.test(name))
        throw new CliError(
          'CLI_ARGUMENT',
          `--env \`${name}\`: servers get no SLUICE_*`,
          'rename it',
        )
      if (value !== undefined) return [name, value]
      throw new CliError(
        'CLI_ARGUMENT',
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
function tellSilence(
  socket: Socket,
  data: string,
  server: string,
  program: () => string | undefined,
): void {
  const what = (): string => {
    const who = server === ALL_SERVERS ? 'the servers have' : `the server \`${server}\` has`
    const loads = /^(npx|uvx|bunx|pnpm|docker|podman)$/.exec(program() ?? '')?.[0]
    const guess = loads === undefined ? '' : ` (${loads} may be downloading it)`
    return `${who} not answered yet${guess}; log: ${gateLog(data)}`
  }
  process.stdin.once('data', () => {
    const tell = tellLater(what)
    socket.once('data', tell.stop)
    socket.once('close', tell.stop)
  })
}

function tellLater(what: () => string): { stop: () => void } {
  const timer = setTimeout(() => {
    process.stderr.write(`sluice: after ${WAIT_SHOWN_AFTER_MS / 1_000} s ${printable(what())}\n`)
  }, WAIT_SHOWN_AFTER_MS).unref()
  return { stop: () => clearTimeout(timer) }
}
