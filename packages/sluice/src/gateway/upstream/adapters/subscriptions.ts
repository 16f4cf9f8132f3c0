// Subscriptions of clients of the stateless generation, over one session with a server: each says what it
// wants to hear of, is told what of that it will, and hears nothing else.

import { isObject, type JsonValue } from '@sluice/policy/core/json'
import type { ParsedMembers, RequestId } from '../../../protocol/message.ts'
import { LIST_CHANGES } from '../../../protocol/protocol-generation.ts'

interface StatelessSubscription {
  readonly changes: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

export interface ListensOptions {
  readonly tell: (listen: RequestId, method: string, texts: Record<string, string>) => void
  /** `resources/subscribe` or `resources/unsubscribe`. */
  readonly ask: (method: string, uri: string) => void
}

export class StatelessSubscriptions {
  readonly #options: ListensOptions
  readonly #open = new Map<RequestId, StatelessSubscription>()

  constructor(options: ListensOptions) {
    this.#options = options
  }

  open(id: RequestId, wanted: JsonValue | undefined, capabilities: JsonValue): void {
    const filter = isObject(wanted) ? wanted : {}
    const granted: Record<string, JsonValue> = {}
    for (const [method, change] of LIST_CHANGES)
      if (filter[change] === true && has(capabilities, method.split('/')[1] ?? '', 'listChanged'))
        granted[change] = true
    const wantedUris = Array.isArray(filter.resourceSubscriptions)
      ? filter.resourceSubscriptions.filter((uri) => typeof uri === 'string')
      : []
    const uris = has(capabilities, 'resources', 'subscribe') ? wantedUris : []
    if (uris.length > 0) granted.resourceSubscriptions = uris
    for (const uri of uris) if (!this.#isHeard(uri)) this.#options.ask('resources/subscribe', uri)
    this.#open.set(id, { changes: new Set(Object.keys(granted)), uris: new Set(uris) })
    const texts = { notifications: JSON.stringify(granted) }
    this.#options.tell(id, 'notifications/subscriptions/acknowledged', texts)
  }

  /** False where it is no subscription. */
  close(id: RequestId): boolean {
    const listen = this.#open.get(id)
    this.#open.delete(id)
    for (const uri of listen?.uris ?? [])
      if (!this.#isHeard(uri)) this.#options.ask('resources/unsubscribe', uri)
    return listen !== undefined
  }

  /** Tells its subscribers. */
  tellOf(method: string, params: ParsedMembers | undefined): void {
    const change = LIST_CHANGES.get(method)
    if (change === undefined && method !== 'notifications/resources/updated') return
    const uri = String(params?.value.uri)
    const texts = change === undefined ? { uri: JSON.stringify(uri) } : {}
    for (const [id, { changes, uris }] of this.#open)
      if (change === undefined ? isAmong(uri, uris) : changes.has(change))
        this.#options.tell(id, method, texts)
  }

  #isHeard(uri: string): boolean {
    return [...this.#open.values()].some(({ uris }) => uris.has(uri))
  }
}

/** Servers may tell of a part of what was subscribed to. */
function isAmong(uri: string, subscribed: ReadonlySet<string>): boolean {
  if (subscribed.has(uri)) return true
  return [...subscribed].some((whole) => uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`))
}

function has(capabilities: JsonValue, capability: string, detail: string): boolean {
  const found = isObject(capabilities) ? capabilities[capability] : undefined
  return isObject(found) && found[detail] === true
}
