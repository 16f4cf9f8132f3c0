// How gates of a cluster call each other. Passes requests of a session to the gate that has it, and the answer back
// as it comes: open requests, streams and questions to the client live there. If that gate is gone, a session with
// a server over HTTP is taken over by one gate (compare and set in the shared store); any other is over. Asks the
// gate that runs an agent. A request that was sent is never sent to a second gate: then its outcome is unknown.

import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request as askPeer } from 'node:https'
import type { PeerRow } from '@sluice/ledger/store/postgres/peers'
import type { GateAnswer } from '@sluice/ledger/store/postgres/shared-agents'
import { LruMap } from '@sluice/policy/structures/lru-map'
import { STREAM_BUFFER_BYTES_MAX } from '../../shared/limits.ts'
import type { FrontRequest, OutgoingHeaders, ResponseWriter } from '../exchange/response-writer.ts'
import {
  PEER_CONNECT_MS,
  PEER_FRESH_MS,
  PEER_LOOK_MS,
  PEER_MESSAGE_BYTES_MAX,
  PEER_SILENT_MS,
  PEERS_KNOWN_MAX,
} from './limits.ts'
import { AGENTS_PATH, FORWARDED_HEADER } from './peer-listener.ts'
import { type PeerKeyOf, toClientTls } from './peer-tls.ts'

export interface PeerStore {
  find(gate: string): Promise<PeerRow | undefined>
  ownerOf(session: Buffer): Promise<string | undefined>
  takeOver(session: Buffer, from: string): Promise<boolean>
}

export interface ForwarderOptions {
  readonly gate: string
  readonly keyOf: PeerKeyOf
  readonly store: PeerStore
}

export interface ForwardedRequest {
  readonly request: FrontRequest
  readonly isLocal: boolean
  readonly body: string | undefined
  readonly reply: ResponseWriter
}

/** `passed`: the reply was given, or will be. `gone`: nothing was sent, the gate is not there. `unknown`:
 * it was sent, and the gate went away. */
export type GateForwardResult = 'passed' | 'gone' | 'unknown'

interface PeerRequest {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: OutgoingHeaders
  readonly body: string | Buffer | undefined
  readonly onAnswer: (answer: IncomingMessage) => void
  /** Takes what ends the request, for when nobody waits for its answer any more. */
  readonly whenGone: (end: () => void) => void
}

/** Headers of a client that its session's gate reads; and those of an answer. */
const PASSED =
  /^(?:accept|authorization|content-type|host|last-event-id|origin|sluice-session|traceparent|tracestate|user-agent|mcp-.*)$/
const RETURNED =
  /^(?:allow|cache-control|content-type|retry-after|www-authenticate|x-accel-buffering|mcp-.*)$/

export class RequestForwarder {
  readonly #options: ForwarderOptions
  readonly #agents = new LruMap<string, Agent>(PEERS_KNOWN_MAX)
  readonly #peers = new LruMap<
    string,
    { readonly row: Promise<PeerRow | undefined>; atMs: number }
  >(PEERS_KNOWN_MAX)

  constructor(options: ForwarderOptions) {
    this.#options = options
  }

  get gate(): string {
    return this.#options.gate
  }

  /** The gate that has a session now; `first` is the one that opened it. */
  async ownerOf(session: string, first: string): Promise<string> {
    return (await this.#options.store.ownerOf(digestSession(session))) ?? first
  }

  /** Whether this gate has the session from now on; another one may be faster. */
  takeOver(session: string, from: string): Promise<boolean> {
    return this.#options.store.takeOver(digestSession(session), from)
  }

  pass(owner: string, forwarded: ForwardedRequest): Promise<GateForwardResult> {
    const { body, isLocal, reply, request } = forwarded
    return this.#send(owner, {
      method: request.method,
      path: request.url,
      headers: {
        ...pick(request.headers, PASSED),
        [FORWARDED_HEADER]: isLocal ? 'local' : 'remote',
      },
      body,
      onAnswer: (answer) => returnAnswer(answer, reply),
      whenGone: (end) => reply.whenGone(end),
    })
  }

  /** Asks a gate about agents that it runs. Rejects if it does not know the request, as one of an older version, or if its
   * answer is too large. */
  async askAgents(gate: string, body: Buffer, signal: AbortSignal): Promise<GateAnswer> {
    let answer: IncomingMessage | undefined
    const result = await this.#send(gate, {
      method: 'POST',
      path: AGENTS_PATH,
      headers: {},
      body,
      onAnswer: (received) => {
        answer = received
      },
      whenGone: (end) => signal.addEventListener('abort', end),
    })
    if (answer === undefined) return result === 'gone' ? 'gone' : 'unknown'
    const bytes = Number(answer.headers['content-length'])
    if (answer.statusCode === 200 && !(bytes > PEER_MESSAGE_BYTES_MAX))
      return readWhole(answer).catch(() => 'unknown' as const)
    answer.destroy()
    throw new Error(
      answer.statusCode === 200
        ? `the answer of the gate \`${gate}\` has ${bytes} bytes, at most ${PEER_MESSAGE_BYTES_MAX} are taken: ask that gate`
        : `the gate \`${gate}\` has another version: try again when both are upgraded`,
    )
  }

  close(): void {
    for (const [, agent] of this.#agents) agent.destroy()
  }

  #find(gate: string): Promise<PeerRow | undefined> {
    const nowMs = performance.now()
    const known = this.#peers.get(gate)
    if (known !== undefined && nowMs - known.atMs < PEER_FRESH_MS) return known.row
    const row = this.#options.store.find(gate)
    this.#peers.set(gate, { row, atMs: nowMs })
    row.catch(() => this.#peers.delete(gate))
    return row
  }

  async #send(owner: string, request: PeerRequest): Promise<GateForwardResult> {
    const peer = await this.#find(owner)
    if (peer === undefined || !isThere(peer)) return 'gone'
    const { body, headers, method, path } = request
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(peer.address) ?? []
    const agent = this.#agentOf(owner, peer)
    return new Promise((resolve) => {
      const sent = askPeer({
        host: host.replace(/^\[(.*)\]$/, '$1'),
        port,
        agent,
        method,
        path,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      })
      let isConnected = false
      let isAnswered = false
      const patience = setTimeout(() => sent.destroy(new Error('no connection')), PEER_CONNECT_MS)
      // A gate that is stopped keeps its connections: nobody would be told.
      const look = setInterval(() => {
        void this.#find(owner)
          .catch(() => undefined)
          .then((row) => {
            if (row !== undefined && !isThere(row)) sent.destroy(new Error('the gate is gone'))
          })
      }, PEER_LOOK_MS).unref()
      const connected = (): void => {
        isConnected = true
        clearTimeout(patience)
      }
      sent.once('socket', (socket) => {
        if (sent.reusedSocket) connected()
        else socket.once('secureConnect', connected)
      })
      sent.once('response', (answer) => {
        isAnswered = true
        // It is stopping, and has done nothing. An outage says when to try again: any gate would answer so.
        if (answer.statusCode === 503 && answer.headers['retry-after'] === undefined) {
          answer.resume()
          return resolve('gone')
        }
        request.onAnswer(answer)
        resolve('passed')
      })
      sent.once('error', () => {
        if (!isAnswered) resolve(isConnected ? 'unknown' : 'gone')
      })
      sent.once('close', () => {
        clearTimeout(patience)
        clearInterval(look)
        if (!isAnswered) resolve(isConnected ? 'unknown' : 'gone')
      })
      request.whenGone(() => sent.destroy())
      sent.end(body)
    })
  }

  /** A gate that was started again has another address. */
  #agentOf(gate: string, { address }: PeerRow): Agent {
    const name = `${gate} ${address}`
    const known = this.#agents.get(name)
    if (known !== undefined) return known
    const agent = new Agent({ keepAlive: true, ...toClientTls(gate, this.#options.keyOf) })
    this.#agents.set(name, agent)
    return agent
  }
}

export function digestSession(session: string): Buffer {
  return hash('sha256', session, 'buffer')
}

function isThere({ silentMs, state }: PeerRow): boolean {
  return state !== 'stopped' && silentMs < PEER_SILENT_MS
}

function returnAnswer(answer: IncomingMessage, reply: ResponseWriter): void {
  const { statusCode = 502 } = answer
  const headers = pick(answer.headers, RETURNED)
  if (!/^text\/event-stream/.test(answer.headers['content-type'] ?? '')) {
    const send = (body: Buffer) => reply.send(statusCode, headers, body.toString('utf8'))
    readWhole(answer).then(send, () => reply.destroy())
    return
  }
  reply.begin(statusCode, headers)
  answer.setEncoding('utf8')
  answer.on('data', (text: string) => {
    reply.write(text)
    if (reply.waitingBytes < STREAM_BUFFER_BYTES_MAX / 2) return
    answer.pause()
    reply.whenRead(() => answer.resume())
  })
  answer.once('end', () => reply.end())
  // The stream is broken: the client comes back for the rest.
  answer.once('error', () => reply.destroy())
}

/** Rejects if the connection breaks, or there is more than one gate may send to another. */
export function readWhole(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= PEER_MESSAGE_BYTES_MAX) return void chunks.push(chunk)
      message.destroy(new Error(`the message has more than ${PEER_MESSAGE_BYTES_MAX} bytes`))
    })
    message.once('end', () => resolve(Buffer.concat(chunks)))
    message.once('error', reject)
  })
}

function pick(headers: NodeJS.Dict<string | string[]>, names: RegExp): OutgoingHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (pair): pair is [string, string] => names.test(pair[0]) && typeof pair[1] === 'string',
    ),
  )
}
