// Questions that the gate itself puts to a client with a session, beside those of its server: under ids
// that no server's question can have. Owned by the relay.

import { randomUUID } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { withMembers } from '@sluice/protocol/members'
import type { JsonRpcResponse, ParsedMembers, RequestId } from '@sluice/protocol/message'
import { getMeta, META } from '@sluice/protocol/protocol-generation'
import { oneLine, writeNotification, writeRequest } from '@sluice/protocol/write-message'
import { type DeclaredCapabilities, listDeclaredCapabilities } from '../shared/server-questions.ts'
import type { ClientEnd, ClientSend } from '../shared/transport.ts'
import { CLIENT_QUESTIONS_MAX } from './limits.ts'

export class ClientElicitations {
  readonly #client: Pick<ClientEnd, 'noteHeld'>
  readonly #send: ClientSend
  readonly #open = new Map<RequestId, (result: JsonValue | undefined) => void>()
  #capabilities: JsonValue | undefined
  #declared: DeclaredCapabilities

  /** `declared` is what the client said before a restart of the gate. */
  constructor(
    client: Pick<ClientEnd, 'noteHeld'>,
    send: ClientSend,
    declared: DeclaredCapabilities = [],
  ) {
    this.#client = client
    this.#send = send
    this.#declared = declared
  }

  /** What a server may ask of the client. */
  get declared(): DeclaredCapabilities {
    return this.#declared
  }

  /** What the client can do, as `initialize` said; undefined for a session from before a restart. */
  get capabilities(): JsonValue | undefined {
    return this.#capabilities
  }

  /** A request of the client's waits for a person. */
  noteHeld(request: RequestId): void {
    this.#client.noteHeld?.(request)
  }

  learn(params: ParsedMembers | undefined): void {
    this.#capabilities = params?.value.capabilities
    const declared = this.#capabilities ?? getMeta(params)[META.capabilities]
    this.#declared = listDeclaredCapabilities(declared)
  }

  /** `answered` gets the result, undefined for an error. Returns what takes the question back. */
  ask(
    method: string,
    params: JsonObject,
    request: RequestId,
    answered: (result: JsonValue | undefined) => void,
  ): () => void {
    if (this.#open.size >= CLIENT_QUESTIONS_MAX) return () => {}
    const id = `sluice-gate-${randomUUID()}`
    const texts = Object.entries(params).map(([key, value]) => [key, JSON.stringify(value)])
    const { text } = withMembers(undefined, Object.fromEntries(texts))
    this.#open.set(id, answered)
    this.#send(oneLine(writeRequest(id, method, text)), { request, from: 'gate' })
    return () => {
      if (!this.#open.delete(id)) return
      const cancelled = withMembers(undefined, { requestId: JSON.stringify(id) })
      const notification = writeNotification('notifications/cancelled', cancelled.text)
      this.#send(notification, { request, from: 'gate' })
    }
  }

  /** False if the answer is to somebody else's question. */
  answered({ id, result }: JsonRpcResponse): boolean {
    const answered = this.#open.get(id as RequestId)
    if (answered === undefined) return false
    this.#open.delete(id as RequestId)
    const value: unknown = result === undefined ? undefined : JSON.parse(result)
    answered(isObject(value) ? value : undefined)
    return true
  }
}
