// Where the answer to one request over HTTP goes: whole and at once, or as a stream that goes on. The
// front knows its clients by this alone, with either reader of requests: `node:http`, or the fast path
// (front/fast-path).

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UnreadResponses } from './unread-answers.ts'

/** Lower-case names. The same object as long as they are the same: it is written once. */
export type OutgoingHeaders = Readonly<Record<string, string>>

/** What the front reads of a request; one object may stand for many that say the same. */
export interface FrontRequest
  extends Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'> {
  /** The token of its Authorization header, once somebody has looked; undefined if it has none. */
  bearer?: { readonly token: string | undefined }
  /** Passed on by another gate: whether its client is a local user there. */
  readonly forwarded?: { readonly isLocal: boolean }
}

export interface ResponseWriter {
  /** Something of it has been sent. */
  readonly isBegun: boolean
  /** It has ended, or its client is gone. */
  readonly isOver: boolean
  /** What the client has not read yet. */
  readonly waitingBytes: number
  /** Calls once when the buffer is empty; used by a sender that finds it full. */
  whenRead(onRead: () => void): void
  /** The client takes events and no JSON. */
  readsOnlyEvents: boolean
  /** Calls once if the client goes away before the end; a later one replaces it. */
  whenGone(onGone: () => void): void
  /** All there is to say. */
  send(status: number, headers: OutgoingHeaders, body?: string): void
  /** The head of a stream, at once. */
  begin(status: number, headers: OutgoingHeaders): void
  write(text: string): void
  end(): void
  /** Breaks it off, and the connection with it. */
  destroy(): void
}

export const JSON_TYPE: OutgoingHeaders = { 'content-type': 'application/json' }

/** Over `node:http`. */
export class NodeResponseWriter implements ResponseWriter {
  readsOnlyEvents = false
  #onGone: () => void = () => {}
  readonly #response: ServerResponse
  readonly #unread: Pick<UnreadResponses, 'add'> | undefined

  constructor(response: ServerResponse, unread?: Pick<UnreadResponses, 'add'>) {
    this.#response = response
    this.#unread = unread
    response.once('close', () => {
      if (!response.writableEnded) this.#onGone()
    })
  }

  whenGone(onGone: () => void): void {
    this.#onGone = onGone
  }

  get isBegun(): boolean {
    return this.#response.headersSent
  }

  get isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  get waitingBytes(): number {
    return this.#response.writableLength
  }

  whenRead(onRead: () => void): void {
    this.#response.once('drain', onRead)
  }

  send(status: number, headers: OutgoingHeaders, body = ''): void {
    const length = Buffer.byteLength(body)
    const { socket } = this.#response
    this.#response.writeHead(status, { ...headers, 'content-length': length }).end(body)
    if (socket?.writableNeedDrain) this.#unread?.add(socket)
  }

  begin(status: number, headers: OutgoingHeaders): void {
    this.#response.writeHead(status, headers).flushHeaders()
  }

  write(text: string): void {
    this.#response.write(text)
  }

  end(): void {
    this.#response.end()
  }

  destroy(): void {
    this.#response.destroy()
  }
}
