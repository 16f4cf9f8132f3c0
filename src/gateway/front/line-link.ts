// A client that speaks a message a line, over whatever stream it comes: the gate's socket, to which
// the commands for stdio clients are pipes. What is not a message is answered with why, and the
// conversation goes on.

import type { Duplex } from 'node:stream'
import { type Era, versionOf } from '../../wire/eras.ts'
import { LineSplitter } from '../../wire/lines.ts'
import type { Message } from '../../wire/message.ts'
import { hasBatches, readMessages } from '../../wire/read-message.ts'
import { RPC, rpcCodeOf } from '../../wire/rpc-codes.ts'
import { oneLine, writeError } from '../../wire/write-message.ts'
import { decodeUtf8 } from '../decode-utf8.ts'
import { STREAM_BUFFER_BYTES_MAX } from '../limits.ts'
import type { ClientLink } from '../link.ts'
import { refusedIn } from './stateless-request.ts'

/** Puts the gate behind the link, once its era is known, or says why it cannot. */
type Open = (link: LineLink) => string | undefined

export class LineLink implements ClientLink {
  /** As the first request has it. */
  era: Era = 'session'
  revision = ''
  /** A client behind a pipe cannot begin anew. */
  readonly spare = undefined
  onMessage: ClientLink['onMessage'] = () => {}
  onClose: ClientLink['onClose'] = () => {}
  readonly #stream: Duplex
  readonly #open: Open
  #opened = false
  readonly #lines = new LineSplitter(decodeUtf8)
  #closing = false
  #closed = false

  constructor(stream: Duplex, open: Open) {
    this.#stream = stream
    this.#open = open
  }

  /** Begins to read; what the stream had before comes first. */
  start(before: Uint8Array): void {
    this.#read(before)
    this.#stream.on('data', (chunk: Uint8Array) => this.#read(chunk))
    this.#stream.on('error', () => {})
    this.#stream.once('close', () => this.close('the client went away'))
    this.#stream.once('end', () => this.close('the client ended the session'))
  }

  send(text: string): boolean {
    if (this.#closed || this.#stream.destroyed) return false
    this.#stream.write(`${oneLine(text)}\n`)
    if (this.#stream.writableLength > STREAM_BUFFER_BYTES_MAX)
      this.close('the client does not read what it is told')
    return !this.#closed
  }

  /** Lines have no exchanges that would wait for an answer. */
  drop(): void {}

  close(why: string): void {
    if (this.#closing) return
    this.#closing = true
    // Whoever listens may still answer what is open.
    this.onClose(why)
    this.#closed = true
    this.#stream.end()
  }

  #read(chunk: Uint8Array): void {
    for (const line of this.#lines.push(chunk)) {
      if (this.#closed) return
      if (!line.ok) this.send(writeError(null, rpcCodeOf(line.code), line.message))
      else if (line.text.trim() !== '') this.#take(line.text)
    }
  }

  #take(text: string): void {
    const read = readMessages(text, { batches: hasBatches(this.revision) })
    if (!read.ok) return void this.send(writeError(read.id, rpcCodeOf(read.code), read.message))
    // Answers to a batch go out one by one, which JSON-RPC leaves to the server.
    for (const message of read.messages as readonly Message[]) {
      if (!this.#begin(message)) return
      const refused = message.kind === 'request' ? refusedIn(this.era, message) : undefined
      if (refused === undefined) this.onMessage(message)
      else this.send(refused.text)
    }
  }

  /** The first request shows the era. False where the gate is not behind the link. */
  #begin(first: Message): boolean {
    if (this.#opened) return true
    this.era = first.kind === 'request' && versionOf(first) !== undefined ? 'stateless' : 'session'
    this.#opened = true
    const why = this.#open(this)
    if (why === undefined) return true
    if (first.kind === 'request') this.send(writeError(first.id, RPC.internal, why))
    this.close(why)
    return false
  }
}
