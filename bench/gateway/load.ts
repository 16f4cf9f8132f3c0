// The load generator, a separate process: clients that call `echo` one after the other, each over a
// persistent connection, on raw sockets so that it costs little compared with what it measures.
// Controlled over IPC, one turn at a time; every response is checked, not only counted.

import { connect, type Socket } from 'node:net'

export interface Turn {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Concurrent clients, and sessions that they share. */
  readonly clients: number
  readonly sessions: number
  /** Until this much time has passed, or this many calls were answered. */
  readonly forMs?: number
  readonly calls?: number
  /** Maximum rate; as fast as responses come if absent. */
  readonly perSecond?: number
}

export interface TurnResult {
  readonly calls: number
  readonly seconds: number
  readonly p50Us: number
  readonly p99Us: number
  /** Why the turn is void. */
  readonly wrong?: string
}

const MESSAGE = 'hello'
const VERSION = '2025-06-18'
const ANSWER_MS_MAX = 30_000

/** By URL: clients and sessions are reused in the next turn. */
const pools = new Map<string, Client[]>()
const sessionIds = new Map<string, string[]>()
let lastId = 0

/** One connection, reopened if the server closes it after a response. One request at a time. */
class Client {
  readonly #url: URL
  readonly #head: string
  #socket: Socket | undefined
  #session = ''
  #received: Buffer = Buffer.alloc(0)
  #answered: ((head: string, body: string) => void) | undefined
  onBroken: (error: Error) => void = () => {}

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url
    const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#head = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n${own.join('')}`
  }

  set session(id: string) {
    this.#session = `mcp-session-id: ${id}\r\nmcp-protocol-version: ${VERSION}\r\n`
  }

  post(body: string, answered: (head: string, body: string) => void): void {
    this.#answered = answered
    this.#socket ??= this.#connect()
    const length = Buffer.byteLength(body)
    this.#socket.write(`${this.#head}${this.#session}content-length: ${length}\r\n\r\n${body}`)
  }

  end(): void {
    this.#answered = undefined
    this.#socket?.destroy()
  }

  #connect(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname).setNoDelay(true)
    const over = (error: Error) => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      if (this.#answered !== undefined) this.onBroken(error)
    }
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', over)
    socket.on('close', () => over(new Error('the connection was closed')))
    this.#received = Buffer.alloc(0)
    return socket
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = this.#received.toString('latin1', 0, headEnd)
    const length = /content-length: *(\d+)/i.exec(head)?.[1]
    const start = headEnd + 4
    const end = length === undefined ? endOfChunks(this.#received, start) : start + Number(length)
    if (end < 0 || this.#received.length < end) return
    const body = this.#received.toString('latin1', start, end)
    this.#received = this.#received.subarray(end)
    const answered = this.#answered
    this.#answered = undefined
    if (/connection: *close/i.test(head)) {
      this.#socket?.destroy()
      this.#socket = undefined
    }
    answered?.(head, body)
  }
}

/** Offset of the end of the last chunk; -1 if it has not arrived. */
function endOfChunks(bytes: Buffer, start: number): number {
  const last = bytes.indexOf('0\r\n\r\n', Math.max(start, bytes.length - 5))
  return last < 0 ? -1 : last + 5
}

async function getClients({ url, headers, clients, sessions }: Turn): Promise<Client[]> {
  const there = pools.get(url) ?? []
  pools.set(url, there)
  const ids: string[] = sessionIds.get(url) ?? []
  sessionIds.set(url, ids)
  while (there.length < clients) {
    const client = new Client(new URL(url), headers)
    const at = there.length % sessions
    ids[at] ??= await openSession(client)
    client.session = ids[at] as string
    there.push(client)
  }
  return there.slice(0, clients)
}

async function openSession(client: Client): Promise<string> {
  const clientInfo = { name: 'load', version: '1' }
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo }
  const first = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const opened = await ask(client, JSON.stringify(first))
  const id = /mcp-session-id: *(\S+)/i.exec(opened.head)?.[1]
  if (id === undefined) throw new Error(`no session: ${opened.head} ${opened.body.slice(0, 300)}`)
  client.session = id
  await ask(client, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  return id
}

function ask(client: Client, body: string): Promise<{ head: string; body: string }> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('no answer came')), ANSWER_MS_MAX)
    client.onBroken = reject
    client.post(body, (head, answer) => {
      clearTimeout(late)
      resolve({ head, body: answer })
    })
  })
}

async function turn(request: Turn): Promise<TurnResult> {
  const clients = await getClients(request)
  const times: number[] = []
  const began = performance.now()
  const stopAt = began + (request.forMs ?? Number.POSITIVE_INFINITY)
  let started = 0
  const mayStart = () => started < (request.calls ?? Number.POSITIVE_INFINITY)
  await new Promise<void>((resolve, reject) => {
    let running = clients.length
    const late = setInterval(() => {
      if (performance.now() > Math.max(stopAt, lastAnswerMs) + ANSWER_MS_MAX)
        reject(new Error('no answer came'))
    }, 1_000)
    let lastAnswerMs = began
    const call = (client: Client): void => {
      if (performance.now() >= stopAt || !mayStart()) {
        running -= 1
        if (running === 0) {
          clearInterval(late)
          resolve()
        }
        return
      }
      const dueMs =
        request.perSecond === undefined ? 0 : began + (started * 1_000) / request.perSecond
      if (dueMs > performance.now())
        return void setTimeout(call, Math.max(1, Math.ceil(dueMs - performance.now())), client)
      started += 1
      // Ids are the session's, and sessions are shared.
      const id = ++lastId
      const sentMs = performance.now()
      client.post(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"message":"${MESSAGE}"}}}`,
        (head, body) => {
          lastAnswerMs = performance.now()
          times.push(lastAnswerMs - sentMs)
          if (isRight(head, body, id)) call(client)
          else reject(new Error(`a wrong answer: ${head.split('\r\n')[0]} ${body.slice(0, 300)}`))
        },
      )
    }
    for (const client of clients) {
      client.onBroken = reject
      call(client)
    }
  })
  const seconds = (performance.now() - began) / 1_000
  times.sort((a, b) => a - b)
  const at = (share: number) => 1_000 * (times[Math.floor(share * times.length)] ?? Number.NaN)
  return { calls: times.length, seconds, p50Us: at(0.5), p99Us: at(0.99) }
}

function isRight(head: string, body: string, id: number): boolean {
  return (
    head.startsWith('HTTP/1.1 200') &&
    body.includes(`"id":${id}`) &&
    body.includes(`Echo: ${MESSAGE}`) &&
    !body.includes('"isError":true')
  )
}

process.on('message', (request: Turn) => {
  turn(request).then(
    (turned) => process.send?.(turned),
    (error: Error) => {
      for (const client of pools.get(request.url) ?? []) client.end()
      process.send?.({ calls: 0, seconds: 0, p50Us: 0, p99Us: 0, wrong: error.message })
    },
  )
})
