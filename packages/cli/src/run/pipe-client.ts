// A client behind a pipe, over one connection to a gate after another. It carries lines, so that no message is cut
// in two when a gate ends, and remembers what a new gate has to be told again. What was open is asked again, or
// answered with what became of it. It judges nothing. Used by pipe.ts.

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { decodeUtf8 } from '@sluice/gateway/shared/decode-utf8'
import { PIPE_STOPPING } from '@sluice/gateway/shared/transport'
import { PLUMBING } from '@sluice/policy/language/methods'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonObject, parseObject } from '@sluice/policy/values/json'
import { findId } from '@sluice/protocol/find-id'
import { LineSplitter } from '@sluice/protocol/lines'
import type { RequestId } from '@sluice/protocol/message'
import { RPC, toRpcCode } from '@sluice/protocol/rpc-codes'
import { writeError } from '@sluice/protocol/write-message'
import { CliError } from '../terminal/errors.ts'
import type { InterruptedCalls, OpenRequest } from './interrupted-calls.ts'

const SUBSCRIBE = 'resources/subscribe'

export class PipeClient {
  readonly #calls: InterruptedCalls
  readonly #open = new Map<RequestId, OpenRequest>()
  /** Requests of the gate that the client has not answered. */
  readonly #asked = new Set<RequestId>()
  /** Requests of the pipe itself. */
  readonly #own = new Map<RequestId, (answer: JsonObject) => void>()
  /** Requests that every new gate gets, by what they set. */
  readonly #settings = new Map<string, JsonObject>()
  /** What `initialize` has agreed: revision and capabilities. */
  #agreed: JsonObject | undefined
  /** Lines for the next gate. */
  readonly #waiting: string[] = []
  #socket: Socket | undefined
  /** The gate takes requests. */
  #isServed = false
  isOver = false
  /** Since when the client wants something of a gate that is gone. */
  wantedMs: number | undefined

  constructor(calls: InterruptedCalls) {
    this.#calls = calls
    const lines = new LineSplitter(decodeUtf8)
    const { stdin } = process
    stdin.on('data', (chunk: Uint8Array) => {
      for (const line of lines.push(chunk))
        if (line.ok) this.#take(line.text)
        else this.#write(writeError(null, toRpcCode(line.code), line.message))
      if (this.#socket?.writableNeedDrain) {
        stdin.pause()
        this.#socket.once('drain', () => stdin.resume())
      }
    })
    stdin.once('end', () => {
      this.isOver = true
      this.#socket?.end()
    })
  }

  /** Serves the client until this connection ends. Rejects if the gate is not as the one before. */
  async serve(socket: Socket): Promise<void> {
    const lines = new LineSplitter(decodeUtf8, { lineBytesMax: Number.POSITIVE_INFINITY })
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    this.#socket = socket
    socket.on('data', (chunk: Uint8Array) => {
      for (const line of lines.push(chunk)) if (line.ok) this.#hear(line.text)
      if (!process.stdout.writableNeedDrain) return
      socket.pause()
      process.stdout.once('drain', () => socket.resume())
    })
    socket.resume()
    await Promise.race([closed, this.#resume()])
    this.#isServed = !socket.closed
    if (this.#isServed) {
      this.wantedMs = undefined
      for (const line of this.#waiting.splice(0)) this.#take(line)
      process.stdin.resume()
      if (this.isOver) socket.end()
    }
    await closed
    this.#socket = undefined
    this.#isServed = false
    const isWanted = this.#open.size + this.#waiting.length > 0
    this.wantedMs = isWanted ? performance.now() : undefined
    for (const requestId of this.#asked) this.#notify('notifications/cancelled', { requestId })
    this.#asked.clear()
    this.#own.clear()
  }

  /** A batch is carried as it is: published clients send none. */
  #take(line: string): void {
    const message = parseObject(line) ?? {}
    const { id, method, params } = message
    // Who asked is gone, and the next gate may ask something else under the same id.
    if (method === undefined && id !== undefined && !this.#asked.delete(id as RequestId)) return
    if (method !== undefined && !this.#isServed) {
      this.#waiting.push(line)
      this.wantedMs ??= performance.now()
      if (this.#socket === undefined) process.stdin.pause()
      return
    }
    const about = isObject(params) ? params : {}
    if (method === 'notifications/cancelled') this.#open.delete(about.requestId as RequestId)
    if (typeof method === 'string' && id !== undefined) {
      if (this.#open.size === 0) this.#calls.mark()
      this.#open.set(id as RequestId, { method, text: line, sentMs: Date.now() })
      if (method === 'initialize' || method === 'logging/setLevel')
        this.#settings.set(method, message)
      if (method === SUBSCRIBE) this.#settings.set(`uri ${about.uri}`, message)
      if (method === 'resources/unsubscribe') this.#settings.delete(`uri ${about.uri}`)
    }
    this.#socket?.write(`${line}\n`)
  }

  #hear(text: string): void {
    if (text === PIPE_STOPPING) {
      // It answers what it has got; everything else is for the next gate.
      this.#isServed = false
      if (this.#asked.size === 0) this.#socket?.end()
      return
    }
    const { id, isAnswer } = findId(text)
    const own = id === null ? undefined : this.#own.get(id)
    if (own !== undefined) return own(parseObject(text) ?? {})
    if (id !== null && !isAnswer) this.#asked.add(id)
    if (id !== null && isAnswer) {
      if (this.#open.get(id)?.method === 'initialize') this.#agreed = readAgreed(text)
      this.#open.delete(id)
    }
    this.#write(text)
  }

  /** Tells a new gate what the one before knew, and the client what became of its requests. */
  async #resume(): Promise<void> {
    const { initialize, ...settings } = Object.fromEntries(this.#settings)
    if (this.#agreed !== undefined && initialize !== undefined) {
      const agreed = readAgreed(JSON.stringify(await this.#ask(initialize)))
      if (writeCanonicalJson(agreed) !== writeCanonicalJson(this.#agreed))
        throw new CliError(
          'CLI_GATE',
          'the gate was restarted and now offers another protocol revision or other capabilities',
          'restart the client',
        )
      this.#send({ method: 'notifications/initialized' })
      for (const request of Object.values(settings)) void this.#ask(request)
      for (const list of ['tools', 'prompts', 'resources'])
        if (isObject(agreed.capabilities) && isObject(agreed.capabilities[list]))
          this.#notify(`notifications/${list}/list_changed`)
    }
    const requests = [...this.#open]
    const lost = requests.filter(([, { method }]) => !PLUMBING.has(method) && method !== SUBSCRIBE)
    const records =
      lost.length === 0 ? [] : await this.#calls.find(lost.map(([, request]) => request))
    for (const [at, [id]] of lost.entries()) {
      this.#open.delete(id)
      this.#write(writeInterrupted(id, records[at]))
    }
    for (const { text } of this.#open.values()) this.#socket?.write(`${text}\n`)
  }

  #ask(request: JsonObject): Promise<JsonObject> {
    const id = randomUUID()
    return new Promise((resolve) => {
      this.#own.set(id, resolve)
      this.#send({ ...request, id })
    })
  }

  #send(message: JsonObject): void {
    this.#socket?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #notify(method: string, params?: JsonObject): void {
    this.#write(JSON.stringify({ jsonrpc: '2.0', method, params }))
  }

  #write(text: string): void {
    process.stdout.write(`${text}\n`)
  }
}

function readAgreed(answer: string): JsonObject {
  const { result } = parseObject(answer) ?? {}
  const { protocolVersion = null, capabilities = null } = isObject(result) ? result : {}
  return { protocolVersion, capabilities }
}

/** `record`: see `InterruptedCalls.find`. */
function writeInterrupted(id: RequestId, record: number | null | undefined): string {
  const why = 'the gate was restarted before it answered this call'
  const upstream = { code: 'GATE_RESTARTED', repeatable: record === null }
  if (record === null)
    return writeError(id, RPC.internal, `${why}; it was not sent, so make it again`, {
      'sluice/upstream': upstream,
    })
  const shown =
    record === undefined
      ? ''
      : `; \`sluice ledger query --before ${record + 1} --limit 1\` shows it`
  return writeError(id, RPC.internal, `${why}; whether it was carried out is unknown${shown}`, {
    'sluice/upstream': record === undefined ? upstream : { ...upstream, record },
  })
}
