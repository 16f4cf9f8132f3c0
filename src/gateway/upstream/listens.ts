// Subscriptions of clients of the stateless era, over one session with a server: each says what it
// wants to hear of, is told what of that it will, and hears nothing else.

import { isObject, type JsonValue } from '../../core/json.ts'
import type { Id, Members } from '../../wire/message.ts'

const CHANGES: ReadonlyMap<string, { readonly wish: string; readonly capability: string }> =
  new Map([
    ['notifications/tools/list_changed', { wish: 'toolsListChanged', capability: 'tools' }],
    ['notifications/prompts/list_changed', { wish: 'promptsListChanged', capability: 'prompts' }],
    [
      'notifications/resources/list_changed',
      { wish: 'resourcesListChanged', capability: 'resources' },
    ],
  ])

interface Listen {
  readonly wishes: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

export interface ListensOptions {
  readonly tell: (listen: Id, method: string, texts: Record<string, string>) => void
  /** `resources/subscribe` or `resources/unsubscribe`. */
  readonly ask: (method: string, uri: string) => void
}

export class Listens {
  readonly #options: ListensOptions
  readonly #open = new Map<Id, Listen>()

  constructor(options: ListensOptions) {
    this.#options = options
  }

  open(id: Id, wanted: JsonValue | undefined, capabilities: JsonValue): void {
    const filter = isObject(wanted) ? wanted : {}
    const granted: Record<string, JsonValue> = {}
    for (const { wish, capability } of CHANGES.values())
      if (filter[wish] === true && has(capabilities, capability, 'listChanged'))
        granted[wish] = true
    const wantedUris = Array.isArray(filter.resourceSubscriptions)
      ? filter.resourceSubscriptions.filter((uri) => typeof uri === 'string')
      : []
    const uris = has(capabilities, 'resources', 'subscribe') ? wantedUris : []
    if (uris.length > 0) granted.resourceSubscriptions = uris
    for (const uri of uris) if (!this.#isHeard(uri)) this.#options.ask('resources/subscribe', uri)
    this.#open.set(id, { wishes: new Set(Object.keys(granted)), uris: new Set(uris) })
    const texts = { notifications: JSON.stringify(granted) }
    this.#options.tell(id, 'notifications/subscriptions/acknowledged', texts)
  }

  /** False where it is no subscription. */
  close(id: Id): boolean {
    const listen = this.#open.get(id)
    this.#open.delete(id)
    for (const uri of listen?.uris ?? [])
      if (!this.#isHeard(uri)) this.#options.ask('resources/unsubscribe', uri)
    return listen !== undefined
  }

  /** Tells whoever wanted to hear of it. */
  tellOf(method: string, params: Members | undefined): void {
    const change = CHANGES.get(method)
    if (change === undefined && method !== 'notifications/resources/updated') return
    const uri = String(params?.value.uri)
    const texts = change === undefined ? { uri: JSON.stringify(uri) } : {}
    for (const [id, { wishes, uris }] of this.#open)
      if (change === undefined ? isAmong(uri, uris) : wishes.has(change.wish))
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
