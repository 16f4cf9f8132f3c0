// Known keys, and keys that a lenient peer would confuse with them: Go's encoding/json, Newtonsoft
// and others match keys case-insensitively, so `"Name"` next to `"name"` is two tools to two
// readers. Pure; used by the readers of messages and arguments.

import { FoldBudget, foldCase } from './json/fold-case.ts'

export class KnownKeys {
  readonly #exact: ReadonlySet<string>
  /** Folded key -> known key. Built when an unknown key is met: mostly never. */
  #folded: Map<string, string> | undefined
  /** A known key that is too expensive to fold: a server may declare anything. */
  #unfolded: string | undefined

  constructor(keys: Iterable<string>) {
    this.#exact = new Set(keys)
  }

  /**
   * The known key that this unknown one differs from only in case. If a known key could not be
   * folded, every unknown key counts as its variant.
   */
  findVariant(key: string): string | undefined {
    if (this.#exact.has(key)) return undefined
    this.#folded ??= this.#foldAll()
    return this.#folded.get(foldCase(key)) ?? this.#unfolded
  }

  #foldAll(): Map<string, string> {
    const budget = new FoldBudget()
    const folded = new Map<string, string>()
    for (const known of this.#exact) {
      if (budget.charge(known) === undefined) folded.set(foldCase(known), known)
      else this.#unfolded ??= known
      if (this.#unfolded !== undefined) break
    }
    return folded
  }
}

/** The members of a JSON-RPC message. There are no others. */
export const ENVELOPE_KEYS = new KnownKeys(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])

/** The members of a response's `error`. */
export const ERROR_KEYS = new KnownKeys(['code', 'message', 'data'])

/**
 * Members of `params` in any method of any revision. One set for all methods: an honest peer never
 * sends a case variant of another method's key.
 */
export const PARAMS_KEYS = new KnownKeys([
  '_meta',
  'name',
  'arguments',
  'task',
  'uri',
  'cursor',
  'ref',
  'argument',
  'context',
  'protocolVersion',
  'capabilities',
  'clientInfo',
  'level',
  'logger',
  'data',
  'progressToken',
  'progress',
  'total',
  'message',
  'requestId',
  'reason',
  'messages',
  'modelPreferences',
  'systemPrompt',
  'includeContext',
  'temperature',
  'maxTokens',
  'stopSequences',
  'metadata',
  'tools',
  'toolChoice',
  'mode',
  'requestedSchema',
  'elicitationId',
  'url',
  'taskId',
  'status',
  'statusMessage',
  'createdAt',
  'lastUpdatedAt',
  'ttl',
  'pollInterval',
  'inputResponses',
  'requestState',
  'notifications',
])

/** The members of `params._meta` that the gate reads. */
export const META_KEYS = new KnownKeys([
  'progressToken',
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
  'io.modelcontextprotocol/subscriptionId',
  'io.modelcontextprotocol/related-task',
])

/** The members of `params.ref`, which says what a completion is for. */
export const REF_KEYS = new KnownKeys(['type', 'name', 'uri'])
