// Keys that mean something, and those that a careless peer would take for them: Go's encoding/json,
// Newtonsoft and others match keys whatever their case, so `"Name"` beside `"name"` is two tools to
// two readers. Pure; the readers of messages and arguments ask it.

export class KnownKeys {
  readonly #exact: ReadonlySet<string>
  /** Folded key -> the known key. Made when a key is met that is not known: mostly never. */
  #folded: Map<string, string> | undefined

  constructor(keys: Iterable<string>) {
    this.#exact = new Set(keys)
  }

  /** The known key that this one, itself unknown, equals but for case. */
  twinOf(key: string): string | undefined {
    if (this.#exact.has(key)) return undefined
    this.#folded ??= new Map([...this.#exact].map((known) => [foldCase(known), known]))
    return this.#folded.get(foldCase(key))
  }
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** Equal for keys that any peer might call equal but for case: by simple folding (Go takes `ſ` for
 * `s` and the Kelvin sign for `k`), by full folding, with the Turkish i's, and in full width. */
export function foldCase(key: string): string {
  if (!BEYOND_ASCII.test(key)) return key.toLowerCase()
  const plain = key.normalize('NFKC').replaceAll('İ', 'i')
  return plain.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC')
}

/** Of every JSON-RPC message. There are no others. */
export const ENVELOPE_KEYS = new KnownKeys(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])

/** Of an answer's `error`. */
export const ERROR_KEYS = new KnownKeys(['code', 'message', 'data'])

/** Members of `params` in any method of any revision. One set for all methods: a twin of another
 * method's key is nothing an honest peer sends. */
export const PARAMS_KEYS = new KnownKeys([
  ...['_meta', 'name', 'arguments', 'task', 'uri', 'cursor', 'ref', 'argument', 'context'],
  ...['protocolVersion', 'capabilities', 'clientInfo', 'level', 'logger', 'data'],
  ...['progressToken', 'progress', 'total', 'message', 'requestId', 'reason'],
  ...['messages', 'modelPreferences', 'systemPrompt', 'includeContext', 'temperature'],
  ...['maxTokens', 'stopSequences', 'metadata', 'tools', 'toolChoice'],
  ...['mode', 'requestedSchema', 'elicitationId', 'url'],
  ...['taskId', 'status', 'statusMessage', 'createdAt', 'lastUpdatedAt', 'ttl', 'pollInterval'],
  ...['inputResponses', 'requestState', 'notifications'],
])

/** Of `params._meta`, as far as the gate reads it. */
export const META_KEYS = new KnownKeys([
  'progressToken',
  'io.modelcontextprotocol/protocolVersion',
  'io.modelcontextprotocol/clientInfo',
  'io.modelcontextprotocol/clientCapabilities',
  'io.modelcontextprotocol/logLevel',
  'io.modelcontextprotocol/subscriptionId',
  'io.modelcontextprotocol/related-task',
])

/** Of `params.ref`: what a completion is for. */
export const REF_KEYS = new KnownKeys(['type', 'name', 'uri'])
