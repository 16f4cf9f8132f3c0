// The terminal of a user: reads a PIN from the device itself (`/dev/tty`), with echo off, and from
// nowhere else. Standard input, a flag, a file or the environment are available to an agent's shell
// too, and some of them end up in logs and process lists.

import { closeSync, openSync, readlinkSync, writeSync } from 'node:fs'
import { isatty, ReadStream } from 'node:tty'
import { CliError } from './errors.ts'

const DEVICE = process.platform === 'win32' ? '\\\\.\\CON' : '/dev/tty'
/** Longer than any PIN: keys held down. */
const TYPED_LENGTH_MAX = 256
const ENTER = /[\r\n]/
const [INTERRUPT, END, KILL_LINE, ERASE, DELETE] = ['\u0003', '\u0004', '\u0015', '\b', '\u007f']

/** The person has pressed Ctrl-C, or Ctrl-D on an empty line. */
export class GivenUpError extends CliError {
  constructor() {
    super('CLI_TERMINAL', 'given up', 'nothing was done')
  }
}

export interface TerminalPromptOptions {
  /** Undefined if nothing was typed in time. */
  readonly withinMs?: number
}

/** How commands reach the user who runs them. */
export const terminal = { ask: askAtDevice, name: terminalName }

/** The typed line, without its end. Throws if there is no terminal. */
async function askAtDevice(
  prompt: string,
  { withinMs }: TerminalPromptOptions = {},
): Promise<string | undefined> {
  const device = openDevice()
  const stream = new ReadStream(device)
  try {
    stream.setRawMode(true)
    // To the device, wherever the output goes.
    writeSync(device, prompt)
    return await readLine(stream, withinMs)
  } finally {
    writeSync(device, '\n')
    stream.setRawMode(false)
    stream.destroy()
  }
}

/** `/dev/pts/3`, for the ledger. */
function terminalName(): string {
  for (const descriptor of [0, 2, 1])
    if (isatty(descriptor))
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`)
      } catch {
        break
      }
  return DEVICE
}

export function hasTerminal(): boolean {
  try {
    closeSync(openDevice())
    return true
  } catch {
    return false
  }
}

function openDevice(): number {
  const none = new CliError(
    'CLI_TERMINAL',
    'this needs a person at a terminal, and there is none',
    'run it in a terminal of yours; what waits can also be decided on the page that `sluice console` opens there',
  )
  let descriptor: number
  try {
    descriptor = openSync(DEVICE, 'r+')
  } catch {
    throw none
  }
  if (isatty(descriptor)) return descriptor
  closeSync(descriptor)
  throw none
}

function readLine(stream: ReadStream, withinMs: number | undefined): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let typed = ''
    const patience =
      withinMs === undefined ? undefined : setTimeout(() => settle(undefined), withinMs)
    const settle = (line: string | undefined): void => {
      clearTimeout(patience)
      stream.off('data', take)
      resolve(line)
    }
    const take = (chunk: Buffer): void => {
      clearTimeout(patience)
      for (const character of chunk.toString('utf8')) {
        if (ENTER.test(character)) return settle(typed)
        if (character === INTERRUPT || (character === END && typed === ''))
          return reject(new GivenUpError())
        if (character === ERASE || character === DELETE) typed = [...typed].slice(0, -1).join('')
        else if (character === KILL_LINE) typed = ''
        else if (typed.length < TYPED_LENGTH_MAX) typed += character
      }
    }
    stream.on('data', take)
    stream.once('end', () => reject(new CliError('CLI_TERMINAL', 'the terminal is gone', 'again')))
    stream.once('error', reject)
  })
}
