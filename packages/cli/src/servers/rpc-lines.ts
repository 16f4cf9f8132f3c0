// JSON-RPC in lines, for commands that are a client of MCP: over the pipes of a server, or the socket of a gate. A
// request waits for the response with its id.

import { attempt } from '@sluice/policy/structures/attempt'
import { isObject, type JsonObject } from '@sluice/policy/values/json'

export class RpcLines {
  readonly #send: (line: string) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<JsonObject>>()
  #lastId = 0

  constructor(send: (line: string) => void) {
    this.#send = send
  }

  /** Resolves to the response, a result or an error. `params` may carry the id of the request. */
  ask(method: string, params: (id: number) => object): Promise<JsonObject> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<JsonObject>()
    this.#waiting.set(id, waiting)
    this.#write({ id, method, params: params(id) })
    return waiting.promise
  }

  notify(method: string, params: object = {}): void {
    this.#write({ method, params })
  }

  /** Returns a message that is no response; undefined if it is one. */
  take(line: string): JsonObject | 'not JSON' | undefined {
    const message: unknown = attempt(() => JSON.parse(line))
    if (message === undefined) return 'not JSON'
    if (!isObject(message) || message.method !== undefined) return isObject(message) ? message : {}
    this.#waiting.get(Number(message.id))?.resolve(message)
    this.#waiting.delete(Number(message.id))
    return undefined
  }

  /** No response comes any more. */
  fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  #write(message: object): void {
    this.#send(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}
