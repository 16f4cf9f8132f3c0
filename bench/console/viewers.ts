// Viewers in a separate process: raw sockets on `/api/live` that read like the network process of a
// browser, and do nothing with the data. What the first received is parsed on request. Controlled
// over IPC.

import { connect, type Socket } from 'node:net'
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
const sockets: Socket[] = []
let bytes = 0
/** Of those that were closed. */
let before = { ticks: 0, calls: 0, rows: 0 }

/** Answers when every one of them has received the calls before: reading those is done once for a page that
 * stays for hours. */
function open({ url, token, viewers }: Watch): void {
  const { hostname, port, host } = new URL(url)
  let silent = viewers
  for (let at = 0; at < viewers; at++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.write(
      `GET /api/live HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
    )
    let head: string | undefined = ''
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (at === 0) chunks.push(chunk)
      if (head === undefined) return
      head += chunk.toString('latin1')
      if (!head.includes('event: rows\n')) return
      head = undefined
      if (--silent === 0) process.send?.(figures())
    })
    socket.on('error', (error) => process.send?.({ wrong: error.message }))
  }
}

function close(): void {
  before = figures()
  for (const socket of sockets.splice(0)) socket.destroy()
  chunks.length = 0
  process.send?.(figures())
}

function figures(): ViewerFigures {
  const ticks = parseTicks(Buffer.concat(chunks))
  const calls = ticks.reduce(
    (all, { counts }) => all + counts.reduce((sum, [, , , n]) => sum + n, 0),
    before.calls,
  )
  const rows = ticks.reduce((all, tick) => all + tick.rows.length, before.rows)
  return { ticks: before.ticks + ticks.length, calls, rows, bytes, cpuUs: cpuUs(process.pid) }
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
    if (end + 2 + length > received.length) break
    parts.push(received.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
  return Buffer.concat(parts)
    .toString()
    .split('\n\n')
    .filter((block) => block.includes('event: tick\n'))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ''))
}

process.on('message', (request: Watch | 'figures' | 'close') => {
  if (request === 'figures') process.send?.(figures())
  else if (request === 'close') close()
  else open(request)
})
