// Notifications for a client with a session from a server of the stateless generation: one
// subscription for the lists that may change and the resources that the client subscribed to. It is
// opened again if that changes, and if the server ends it.

import type { JsonValue } from '@sluice/policy/values/json'
import { withMembers } from '@sluice/protocol/members'
import type { RequestId } from '@sluice/protocol/message'
import { LISTEN_RESOURCES_MAX } from '../../shared/limits.ts'
import { restartDelayMs } from '../../shared/restart.ts'
import type { OutboundRequest } from '../upstream.ts'

export interface ChangeStreamEvents {
  readonly ask: (passing: OutboundRequest) => void
  readonly end: (listen: RequestId) => void
}

export class ChangeStream {
  readonly #events: ChangeStreamEvents
  readonly #resources = new Set<string>()
  /** The lists of whose changes the server tells. */
  lists: Readonly<Record<string, boolean>> = {}
  #listening: RequestId | undefined
  #pauseMs: number | undefined
  #timer: NodeJS.Timeout | undefined
  #lastId = 0

  constructor(events: ChangeStreamEvents) {
    this.#events = events
  }

  /** `capabilities` are the server's, as text. */
  learn(capabilities: string): void {
    const declared = JSON.parse(capabilities) as Record<
      string,
      { listChanged?: unknown } | undefined
    >
    const lists = ['tools', 'prompts', 'resources'].filter(
      (kind) => declared[kind]?.listChanged === true,
    )
    this.lists = Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true]))
  }

  /** False if there are too many. */
  subscribe(uri: string): boolean {
    if (this.#resources.size >= LISTEN_RESOURCES_MAX && !this.#resources.has(uri)) return false
    this.#resources.add(uri)
    this.open()
    return true
  }

  unsubscribe(uri: string): void {
    if (this.#resources.delete(uri)) this.open()
  }

  /** Opens a stream for what is wanted now; the one before ends after, so that nothing is missed between. */
  open(): void {
    clearTimeout(this.#timer)
    const before = this.#listening
    this.#listening = undefined
    const resources = [...this.#resources]
    const wanted: Record<string, JsonValue> = {
      ...this.lists,
      ...(resources.length === 0 ? {} : { resourceSubscriptions: resources }),
    }
    if (Object.keys(wanted).length > 0) {
      this.#listening = `listen-${++this.#lastId}`
      const params = withMembers(undefined, { notifications: JSON.stringify(wanted) })
      this.#events.ask({ id: this.#listening, method: 'subscriptions/listen', params })
    }
    if (before !== undefined) this.#events.end(before)
  }

  /** The server has taken it: it need not be patient the next time. */
  acknowledged(): void {
    this.#pauseMs = undefined
  }

  isOne(request: RequestId | null | undefined): boolean {
    return typeof request === 'string' && request.startsWith('listen-')
  }

  /** The server ended it; `isFinal` if the server offers none. */
  ended(listen: RequestId, isFinal: boolean): void {
    if (listen !== this.#listening) return
    this.#listening = undefined
    if (isFinal) return
    this.#pauseMs = restartDelayMs(this.#pauseMs, 0)
    this.#timer = setTimeout(() => this.open(), this.#pauseMs).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#listening = undefined
  }
}
