// The roots that a client names to its server (`roots/list`): the server may resolve relative paths
// against them, so the guardrail over the gate's own files has to know them before the server does.
// In a session they come as an answer, in the stateless generation inside the request that goes on
// with a call. Owned by the relay.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcRequest, JsonRpcResponse } from '@sluice/protocol/message'
import { CLIENT_ROOTS_MAX } from './limits.ts'

/** Applies roots to the calls that follow; returns why they may not be sent to the server. */
export type NameRoots = (roots: readonly string[]) => string | undefined

export class ClientRoots {
  readonly #name: NameRoots
  /** Clients of the stateless generation share a server: what any of them names, counts. */
  readonly #all = new Set<string>()

  constructor(name: NameRoots) {
    this.#name = name
  }

  /** Of a session: these replace the roots that were named before. */
  answered({ result }: JsonRpcResponse): string | undefined {
    if (result === undefined) return undefined
    return this.#take(rootsIn(JSON.parse(result) as JsonValue))
  }

  /** Of a request that brings the answers a server wanted. */
  requested({ params }: JsonRpcRequest): string | undefined {
    const responses = params?.value.inputResponses
    if (!isObject(responses)) return undefined
    const roots = Object.values(responses).flatMap(rootsIn)
    if (roots.every((root) => this.#all.has(root))) return undefined
    const all = [...new Set([...this.#all, ...roots])]
    const why = this.#take(all)
    if (why === undefined) for (const root of all) this.#all.add(root)
    return why
  }

  #take(roots: readonly string[]): string | undefined {
    if (roots.length > CLIENT_ROOTS_MAX)
      return `the client names ${roots.length} roots, at most ${CLIENT_ROOTS_MAX} pass the gate: name fewer`
    return this.#name(roots)
  }
}

function rootsIn(response: JsonValue): string[] {
  const { roots }: JsonObject = isObject(response) ? response : {}
  if (!Array.isArray(roots)) return []
  return roots.flatMap((root: JsonValue) =>
    isObject(root) && typeof root.uri === 'string' ? [root.uri] : [],
  )
}
