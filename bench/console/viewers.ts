// Viewers in a separate process: raw sockets on `/api/live` that read like the network process of a
// browser, and do nothing with the data. What the first received is parsed on request. Controlled
// over IPC.

import { connect } from 'node:net'
import { cpuUs } from '../gateway/process-figures.ts'

export interface Watch {
  readonly url: string
  readonly token: string
  readonly viewers: number
}

/** What one of them received so far, and the cost of all together. */
export interface ViewerFigures {
  readonly ticks: number
  readonly calls: number
  readonly rows: number
  readonly bytes: number
  readonly cpuUs: number
}

const chunks: Buffer[] = []
let bytes = 0

function open({ url, token, viewers }: Watch): void {
  const { hostname, port, host } = new URL(url)
  for (let at = 0; at < viewers; at++) {
    const socket = connect(Number(port), hostname)
    socket.write(
      `GET /api/live HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
    )
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (at === 0) chunks.push(chunk)
    })
    socket.on('error', (error) => process.send?.({ wrong: error.message }))
  }
}

function figures(): ViewerFigures {
  const ticks = parseTicks(Buffer.concat(chunks))
  const calls = ticks.reduce(
    (all, { counts }) => all + counts.reduce((sum, [, , , n]) => sum + n, 0),
    0,
  )
  const rows = ticks.reduce((all, tick) => all + tick.rows.length, 0)
  return { ticks: ticks.length, calls, rows, bytes, cpuUs: cpuUs(process.pid) }
}

interface Tick {
  readonly counts: readonly (readonly [string, string, string, number])[]
  readonly rows: readonly unknown[]
}

/** Decodes HTTP chunks, each after its length in hex. */
function parseTicks(received: Buffer): Tick[] {
  let at = received.indexOf('\r\n\r\n') + 4
  const parts: Buffer[] = []
  for (;;) {
    const end = received.indexOf('\r\n', at)
    if (end < 0) break
    const length = Number.parseInt(received.toString('latin1', at, end), 16)
    parts.push(received.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return Buffer.concat(parts)
    .toString()
    .split('\n\n')
    .filter((block) => block.includes('event: tick\n'))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ''))
}

process.on('message', (asked: Watch | 'figures') => {
  if (asked === 'figures') process.send?.(figures())
  else open(asked)
})
