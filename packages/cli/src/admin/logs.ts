// `sluice logs`: the log of gates that clients or `sluice console` started, which have no terminal. A gate of
// `sluice up` writes its log to its own stderr.

import { closeSync, existsSync, fstatSync, openSync, readSync, watchFile } from 'node:fs'
import { SHOW_STATUS } from '@sluice/gateway/operations/status'
import { askIfRunning } from '../connect/ask-operation.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { readCount } from '../connect/read-option.ts'
import { gateLog } from '../connect/start-gate.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { LOG_TAIL_BYTES_MAX } from '../terminal/limits.ts'
import { printable } from '../terminal/output.ts'

const LOOK_EVERY_MS = 250

const EXAMPLES = `
Examples:
  sluice logs                  the last 50 lines
  sluice logs -f               and every new one, until Ctrl-C
  sluice logs -n 500 --data ./.sluice

This is the log of gates that clients started. A gate of \`sluice up\` writes to its own stderr: look at
its terminal, or at the log of its service (\`journalctl -u sluice\`). What agents did is in the ledger:
\`sluice ledger tail\`.`

export const add = defineCommand({
  name: 'logs',
  options: {
    ...DATA,
    '-f, --follow': 'keep printing new lines',
    '-n, --lines <n>': ['how many of the last lines', '50'],
  },
  json: false,
  examples: EXAMPLES,
  run: async (options) => {
    const { data } = findData(options, { mayBeMissing: options.data === undefined })
    const count = readCount(options.lines, '--lines', Number.MAX_SAFE_INTEGER, 0)
    const file = gateLog(data)
    await printWhere(data, file)
    const end = existsSync(file) ? showTail(file, count) : 0
    if (options.follow === true) return void follow(file, end)
    return existsSync(file) ? 0 : 1
  },
})

async function printWhere(data: string, file: string): Promise<void> {
  const status = await askIfRunning(data, SHOW_STATUS)
  if (status !== undefined && status.isPiped !== true)
    process.stderr.write(
      `the gate that runs was started with \`sluice up\` (process ${status.pid}): its log is on its own stderr\n`,
    )
  if (!existsSync(file)) process.stderr.write(`no client has started a gate here: no ${file}\n`)
}

/** Prints the last lines; says where the file ended. */
function showTail(file: string, count: number): number {
  const { lines, end } = readTail(file, count)
  for (const line of lines) process.stdout.write(`${printable(line)}\n`)
  return end
}

/** The last lines of a log, and where it ended. */
export function readTail(file: string, count: number): { lines: string[]; end: number } {
  const { text, end } = readFrom(file, -LOG_TAIL_BYTES_MAX)
  const lines = text.replace(/\n$/, '').split('\n')
  return { lines: count === 0 ? [] : lines.slice(-count), end }
}

/** Never ends by itself. */
function follow(file: string, from: number): void {
  let at = from
  let rest = ''
  watchFile(file, { interval: LOOK_EVERY_MS }, ({ size }) => {
    // Another gate has begun a new one.
    if (size < at) at = 0
    if (size === at) return
    const { text, end } = readFrom(file, at)
    at = end
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) process.stdout.write(`${printable(line)}\n`)
  })
}

/** From a place on, or from so many bytes before the end. */
function readFrom(file: string, place: number): { text: string; end: number } {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const start = place < 0 ? Math.max(0, size + place) : Math.max(place, size - LOG_TAIL_BYTES_MAX)
    const bytes = Buffer.alloc(Math.max(0, size - start))
    const read = readSync(descriptor, bytes, 0, bytes.length, start)
    return { text: bytes.subarray(0, read).toString('utf8'), end: start + read }
  } finally {
    closeSync(descriptor)
  }
}
