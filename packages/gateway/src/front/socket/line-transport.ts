// A client that speaks a message a line, over whatever stream it comes: the gate's socket, to which
// the commands for stdio clients are pipes. What is not a message is answered with why, and the
// conversation goes on.

import type { Duplex } from 'node:stream'
import { LineSplitter } from '@sluice/protocol/lines'
import type { JsonRpcMessage, RequestId } from '@sluice/protocol/message'
import { getVersion, type ProtocolGeneration } from '@sluice/protocol/protocol-generation'
import { hasBatches, readMessages } from '@sluice/protocol/read-message'
import { RPC, toRpcCode } from '@sluice/protocol/rpc-codes'
import { oneLine, writeError } from '@sluice/protocol/write-message'
import { LISTEN } from '../../call/pending-requests.ts'
import { enterStep } from '../../shared/current-step.ts'
import { decodeUtf8 } from '../../shared/decode-utf8.ts'
import {
  INPUT_END_ANSWERS_MS,
  STREAM_BUFFER_BYTES_MAX,
  STREAM_FULL_BYTES,
} from '../../shared/limits.ts'
import { SmallMap } from '../../shared/small-map.ts'
import type { ClientEvents, ClientTransport, MessageContext } from '../../shared/transport.ts'
import { CLIENT_BLANK_LINES_MAX, CLIENT_LINES_PER_TURN } from '../../shared/turn-limits.ts'
import { rejectWrongGeneration } from '../sessions/stateless-request.ts'

export interface LineLinkEvents {
  /** Puts the gate behind a conversation, once its generation is known. */
  readonly open: (side: ClientTransport) => ClientEvents
  readonly onEnd: () => void
}

export class LineConnection {
  readonly #stream: Duplex
  readonly #events: LineLinkEvents
  readonly #lines = new LineSplitter(decodeUtf8)
  /** The conversation that is spoken. */
  #side: LineTransport | undefined
  /** Requests that have no answer yet and will get one. */
  readonly #open = new SmallMap<RequestId, true>()
  /** The client says nothing more, and may still read. */
  #isInputEnded = false
  #linesLeft = CLIENT_LINES_PER_TURN
  #blankLines = 0
  /** Read in the next turn; the first may be empty. */
  readonly #unread: Uint8Array[] = []
  #isFull = false
  #closing = false
  #closed = false

  constructor(stream: Duplex, events: LineLinkEvents) {
    this.#stream = stream
    this.#events = events
  }

  /** Begins to read; what the stream had before comes first. */
  start(before: Uint8Array): void {
    this.#read(before)
    this.#stream.on('data', (chunk: Uint8Array) => this.#read(chunk))
    this.#stream.on('error', () => {})
    this.#stream.once('close', () => this.close('the client went away'))
    this.#stream.once('end', () => this.#endInput())
  }

  /** A client that closes its output right after its requests still gets the answers first. */
  #endInput(): void {
    this.#isInputEnded = true
    if (this.#open.size === 0) return this.close('the client ended the session')
    const late = `the client ended the session, and a request had no answer within ${INPUT_END_ANSWERS_MS} ms`
    setTimeout(() => this.close(late), INPUT_END_ANSWERS_MS).unref()
  }

  /** A request was answered, or will not be. */
  settled(request: RequestId): void {
    this.#open.delete(request)
    if (this.#isInputEnded && this.#open.size === 0) this.close('the client ended the session')
  }

  send(text: string): boolean {
    if (this.#closed || this.#stream.destroyed) return false
    this.#stream.write(`${oneLine(text)}\n`)
    const waiting = this.#stream.writableLength
    if (waiting > STREAM_BUFFER_BYTES_MAX) {
      this.close('the client does not read what it is told')
      // Else all of it would be kept for as long as the client holds the pipe.
      this.#stream.destroy()
    } else if (waiting > STREAM_FULL_BYTES && !this.#isFull) this.#full(true)
    return !this.#closed
  }

  /** Ends it without answers: the pipe asks the next gate what became of the requests. */
  leave(why: string): void {
    this.#closed = true
    this.close(why)
  }

  close(why: string): void {
    if (this.#closing) return
    this.#closing = true
    // The receiver may still answer open requests.
    this.#side?.end(why)
    this.#closed = true
    this.#stream.end()
    this.#events.onEnd()
  }

  /** No stream of this client is apart from the others: its server waits as long as it takes. */
  #full(isFull: boolean): void {
    this.#isFull = isFull
    if (isFull) this.#stream.once('drain', () => this.#full(false))
    this.#side?.events.onPressure(isFull, undefined)
  }

  /** A client that floods waits, and others have their turn. */
  #read(chunk: Uint8Array): void {
    if (this.#unread.length > 0) return void this.#unread.push(chunk)
    for (const line of this.#lines.push(chunk, this.#linesLeft)) {
      if (this.#closed) return
      this.#linesLeft--
      this.#blankLines = line.ok && line.text.trim() === '' ? this.#blankLines + 1 : 0
      if (!line.ok) this.send(writeError(null, toRpcCode(line.code), line.message))
      else if (this.#blankLines === 0) this.#take(line.text)
      else if (this.#blankLines > CLIENT_BLANK_LINES_MAX)
        return this.close(
          `the client sent more than ${CLIENT_BLANK_LINES_MAX} blank lines in a row`,
        )
    }
    if (this.#linesLeft > 0) return
    this.#linesLeft = CLIENT_LINES_PER_TURN
    // A copy: the rest is read in later turns, when the buffer may be another's.
    this.#unread.push(chunk.slice(this.#lines.takenBytes))
    this.#stream.pause()
    setImmediate(() => this.#goOn())
  }

  #goOn(): void {
    const unread = this.#unread.splice(0)
    if (this.#closed) return
    for (const chunk of unread) this.#read(chunk)
    if (this.#unread.length === 0) this.#stream.resume()
  }

  #take(text: string): void {
    enterStep('read')
    const read = readMessages(text, { batches: hasBatches(this.#side?.revision ?? '') })
    if (!read.ok) return void this.send(writeError(read.id, toRpcCode(read.code), read.message))
    // Answers to a batch go out one by one, which JSON-RPC leaves to the server.
    for (const message of read.messages as readonly JsonRpcMessage[]) {
      const side = this.#sideFor(message)
      const refused =
        message.kind === 'request' ? rejectWrongGeneration(side.generation, message) : undefined
      if (refused !== undefined) this.send(refused.text)
      // Under no id: that of the first would be taken for its answer.
      else if (message.kind === 'request' && this.#open.has(message.id))
        this.send(writeError(null, RPC.invalidRequest, 'a request with this id is still open'))
      else {
        if (message.kind === 'request' && message.method !== LISTEN)
          this.#open.set(message.id, true)
        side.events.onMessage(message)
      }
    }
  }

  /** The first request shows the generation. A client that tried the newer one and found it wanting may begin
   * a session after all. */
  #sideFor(message: JsonRpcMessage): LineTransport {
    const isNewer = message.kind === 'request' && getVersion(message) !== undefined
    const before = this.#side
    const begins =
      message.kind === 'request' &&
      message.method === 'initialize' &&
      before?.generation === 'stateless'
    if (before !== undefined && (isNewer || !begins)) return before
    before?.end('the client began a session')
    this.#side = new LineTransport(this, isNewer ? 'stateless' : 'session', this.#events.open)
    return this.#side
  }
}

/** One conversation over the lines, as the gate sees it. */
class LineTransport implements ClientTransport {
  readonly generation: ProtocolGeneration
  revision = ''
  /** A client behind a pipe cannot initialize again. */
  readonly spare = undefined
  readonly events: ClientEvents
  readonly #line: LineConnection
  #ended = false

  constructor(line: LineConnection, generation: ProtocolGeneration, open: LineLinkEvents['open']) {
    this.#line = line
    this.generation = generation
    this.events = open(this)
  }

  send(text: string, { request, answers }: MessageContext = {}): boolean {
    const isSent = this.#line.send(text)
    if (answers === true && request !== undefined) this.#line.settled(request)
    return isSent
  }

  drop(request: RequestId): void {
    this.#line.settled(request)
  }

  /** Nobody can be waited for who may never come: a client that is gone does not hear them. */
  noteHeld(request: RequestId): void {
    this.#line.settled(request)
  }

  close(why: string): void {
    if (!this.#ended) this.#line.close(why)
  }

  /** The lines may go on without it. */
  end(why: string): void {
    if (this.#ended) return
    this.#ended = true
    this.events.onClose(why)
  }
}
