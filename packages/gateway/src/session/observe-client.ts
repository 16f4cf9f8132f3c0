// What a client calls itself: `clientInfo` of its `initialize`, or of the first request of the stateless
// protocol. Only for people to read: nothing is decided by it. Used by the gate, once for each client.

import { isObject, type JsonValue } from '@sluice/policy/values/json'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { getMeta, META } from '@sluice/protocol/protocol-generation'
import type { ClientEvents } from '../shared/transport.ts'

/** From the first request that has it. */
export function observeClient(events: ClientEvents, onName: (name: string) => void): ClientEvents {
  let isNamed = false
  const onMessage: ClientEvents['onMessage'] = (message, related) => {
    const name = isNamed ? undefined : nameIn(message)
    if (name !== undefined) {
      isNamed = true
      onName(name)
    }
    events.onMessage(message, related)
  }
  return { ...events, onMessage }
}

function nameIn(message: JsonRpcMessage): string | undefined {
  if (message.kind !== 'request') return undefined
  const { method, params } = message
  const claimed: JsonValue | undefined =
    method === 'initialize' ? params?.value.clientInfo : getMeta(params)[META.client]
  if (!isObject(claimed) || typeof claimed.name !== 'string') return undefined
  const version = typeof claimed.version === 'string' ? ` ${claimed.version}` : ''
  return `${claimed.name}${version}`
}
