// Subscriptions of clients of the stateless generation to all servers: each is one at every server that is
// there, also at one that comes later. The client is told once what it will hear of; what any of the
// servers tells goes on under the id that the client knows.

import { isObject, type JsonValue, listStrings } from '@sluice/policy/values/json'
import { patchObject, withMembers } from '@sluice/protocol/members'
import type { JsonRpcNotification, RequestId } from '@sluice/protocol/message'
import { LIST_CHANGES, META } from '@sluice/protocol/protocol-generation'
import { readMessages } from '@sluice/protocol/read-message'
import { writeNotification } from '@sluice/protocol/write-message'
import { LISTEN_RESOURCES_MAX, MEMBER_WAIT_MS_MAX, SESSION_EVENTS_MAX } from '../shared/limits.ts'
import { restartDelayMs } from '../shared/restart.ts'
import type { ClientSend } from '../shared/transport.ts'
import { withTimeout } from '../shared/with-timeout.ts'
import type { AggregateMember } from './member.ts'
import { qualifyUri } from './qualified-handles.ts'
import type { OwnedResource } from './route-request.ts'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
interface AggregateSubscription {
  readonly changes: readonly string[]
  readonly uris: ReadonlyMap<AggregateMember, readonly string[]>
  readonly granted: Set<string>
  /** How to give up what each server was asked for. */
  readonly at: Map<AggregateMember, () => void>
  /** Messages that arrived before the subscription was acknowledged. */
  early: string[] | undefined
}

export interface AllListensContext {
  readonly members: () => Iterable<AggregateMember>
  readonly ownerOf: (uri: string) => Promise<OwnedResource | undefined>
  readonly send: ClientSend
  /** What is known of resources may no longer hold. */
  readonly onResources: () => void
}

export class AggregateSubscriptions {
  readonly #context: AllListensContext
  readonly #open = new Map<RequestId, AggregateSubscription>()

  constructor(context: AllListensContext) {
    this.#context = context
  }

  get size(): number {
    return this.#open.size
  }

  /** `isWanted` says whether the client still waits. */
  async open(id: RequestId, wanted: JsonValue | undefined, isWanted: () => boolean): Promise<void> {
    const filter = isObject(wanted) ? wanted : {}
    const changes = [...LIST_CHANGES.values()].filter((change) => filter[change] === true)
    const listen: AggregateSubscription = {
      changes,
      uris: await this.#owners(filter.resourceSubscriptions),
      granted: new Set(),
      at: new Map(),
      early: [],
    }
    if (!isWanted()) return
    this.#open.set(id, listen)
    const there = [...this.#context.members()].filter(({ begun }) => begun !== undefined)
    const requests = there.map((member) => this.#ask(id, listen, member))
    await withTimeout(Promise.all(requests), MEMBER_WAIT_MS_MAX)
    if (this.#open.get(id) !== listen) return
    const resources = [...listen.granted]
    const subscribed = {
      ...Object.fromEntries(changes.map((change) => [change, true])),
      ...(resources.length === 0 ? {} : { resourceSubscriptions: resources }),
    }
    const { early } = listen
    listen.early = undefined
    this.#notify(id, listen, ACKNOWLEDGED, { notifications: JSON.stringify(subscribed) })
    for (const text of early ?? []) this.#context.send(text, { request: id })
  }

  close(id: RequestId): void {
    const listen = this.#open.get(id)
    this.#open.delete(id)
    for (const giveUp of listen?.at.values() ?? []) giveUp()
  }

  /** A server has come. */
  extend(member: AggregateMember): void {
    for (const [id, listen] of this.#open) void this.#ask(id, listen, member)
  }

  /** To its subscribers. */
  changed(method: string): void {
    for (const [id, listen] of this.#open)
      if (listen.changes.includes(LIST_CHANGES.get(method) ?? ''))
        this.#notify(id, listen, method, {})
  }

  /** Only resources of which it is known whose they are. */
  async #owners(wanted: JsonValue | undefined): Promise<AggregateSubscription['uris']> {
    const uris = new Map<AggregateMember, string[]>()
    for (const uri of Array.isArray(wanted) ? wanted.slice(0, LISTEN_RESOURCES_MAX) : []) {
      const owner = typeof uri === 'string' ? await this.#context.ownerOf(uri) : undefined
      if (owner !== undefined)
        uris.set(owner.member, [...(uris.get(owner.member) ?? []), owner.uri])
    }
    return uris
  }

  /** Resolves when the server has said what of it it grants, or that it has no such thing. One that
   * ends a subscription is asked again after a while. */
  #ask(
    id: RequestId,
    listen: AggregateSubscription,
    member: AggregateMember,
    restedMs?: number,
  ): Promise<void> {
    const own = listen.uris.get(member)
    const notifications = {
      ...Object.fromEntries(listen.changes.map((change) => [change, true])),
      ...(own === undefined ? {} : { resourceSubscriptions: own }),
    }
    const params = withMembers(undefined, { notifications: JSON.stringify(notifications) })
    const beganMs = performance.now()
    let isGranted = false
    return new Promise((resolve) => {
      const giveUp = member.listen(params, (text) => {
        if (this.#open.get(id) !== listen) return
        if (text === undefined) {
          const restMs = restartDelayMs(restedMs, performance.now() - beganMs)
          // Not if a server that came back was asked already.
          const isLatest = () => this.#open.get(id) === listen && listen.at.get(member) === giveUp
          const again = () => isLatest() && this.#ask(id, listen, member, restMs)
          if (isGranted) setTimeout(again, restMs).unref()
          return resolve()
        }
        const { method, params: received } = parseNotification(text)
        if (method === ACKNOWLEDGED) {
          isGranted = true
          for (const uri of grantedIn(received?.value.notifications))
            listen.granted.add(qualifyUri(member.name, uri))
          return resolve()
        }
        if (method === 'notifications/resources/list_changed') this.#context.onResources()
        const { uri } = received?.value ?? {}
        const far =
          typeof uri === 'string' ? { uri: JSON.stringify(qualifyUri(member.name, uri)) } : {}
        this.#notify(id, listen, method, { ...Object.fromEntries(received?.text ?? []), ...far })
      })
      if (giveUp === undefined) resolve()
      else listen.at.set(member, giveUp)
    })
  }

  #notify(
    id: RequestId,
    listen: AggregateSubscription,
    method: string,
    texts: Record<string, string>,
  ): void {
    const meta = patchObject(texts._meta, { [META.subscription]: JSON.stringify(id) })
    const { text: params } = withMembers(undefined, { ...texts, _meta: meta })
    const text = writeNotification(method, params)
    if (listen.early === undefined) this.#context.send(text, { request: id })
    else if (listen.early.length < SESSION_EVENTS_MAX) listen.early.push(text)
  }
}

function grantedIn(notifications: JsonValue | undefined): string[] {
  return isObject(notifications) ? listStrings(notifications.resourceSubscriptions) : []
}

/** The relay wrote it. */
function parseNotification(text: string): JsonRpcNotification {
  const reading = readMessages(text, { batches: false })
  const [message] = reading.ok ? reading.messages : []
  if (message?.kind === 'notification') return message
  throw new Error('what came on a subscription is not a notification')
}
