// Passes requests of a session to the gate that has it, and the answer back as it comes. A session has one
// gate: open requests, streams and questions to the client live there. If that gate is gone, a session with
// a server over HTTP is taken over by one gate (compare and set in the shared store); any other is over.
// A request that was sent is never sent to a second gate: then its outcome is unknown.

import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, request as askPeer } from 'node:https'
import { LruMap } from '../../../core/lru-map.ts'
import type { PeerRow } from '../../../store/postgres/peers.ts'
import { STREAM_BUFFER_BYTES_MAX } from '../../shared/limits.ts'
import type { FrontRequest, OutgoingHeaders, ResponseWriter } from '../exchange/response-writer.ts'
import {
  PEER_ANSWER_BYTES_MAX,
  PEER_CONNECT_MS,
  PEER_FRESH_MS,
  PEER_LOOK_MS,
  PEER_SILENT_MS,
  PEERS_KNOWN_MAX,
} from './limits.ts'
import { FORWARDED_HEADER } from './peer-listener.ts'
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

  async pass(owner: string, forwarded: ForwardedRequest): Promise<GateForwardResult> {
    const peer = await this.#find(owner)
    if (peer === undefined || !isThere(peer)) return 'gone'
    return this.#send(owner, peer, forwarded)
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

  #send(owner: string, peer: PeerRow, forwarded: ForwardedRequest): Promise<GateForwardResult> {
    const { body, isLocal, reply, request } = forwarded
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(peer.address) ?? []
    const agent = this.#agentOf(owner, peer)
    return new Promise((resolve) => {
      const headers = pick(request.headers, PASSED)
      const sent = askPeer({
        host: host.replace(/^\[(.*)\]$/, '$1'),
        port,
        agent,
        method: request.method,
        path: request.url,
        headers: {
          ...headers,
          [FORWARDED_HEADER]: isLocal ? 'local' : 'remote',
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
        // It is stopping, and has done nothing.
        if (answer.statusCode === 503) {
          answer.resume()
          return resolve('gone')
        }
        returnAnswer(answer, reply)
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
      reply.whenGone(() => sent.destroy())
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
  if (!/^text\/event-stream/.test(answer.headers['content-type'] ?? ''))
    return returnWhole(answer, (text) => reply.send(statusCode, headers, text), reply)
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

function returnWhole(
  answer: IncomingMessage,
  send: (text: string) => void,
  reply: ResponseWriter,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= PEER_ANSWER_BYTES_MAX) return void chunks.push(chunk)
    answer.destroy(new Error(`the answer has more than ${PEER_ANSWER_BYTES_MAX} bytes`))
  })
  answer.once('end', () => send(Buffer.concat(chunks).toString('utf8')))
  answer.once('error', () => reply.destroy())
}

function pick(headers: NodeJS.Dict<string | string[]>, names: RegExp): OutgoingHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(
      (pair): pair is [string, string] => names.test(pair[0]) && typeof pair[1] === 'string',
    ),
  )
}
