// A client's session with a frozen server: its first request is refused, and it ends. No server is
// started or reached for it.

import { buildFrozenReply } from '../call/replies.ts'
import {
  type ClientEnd,
  type ClientEvents,
  type ClientSend,
  NO_CLIENT_EVENTS,
} from '../shared/transport.ts'
import { type Freeze, frozenReason } from '../state/freezes.ts'

export function refuseFrozen(client: ClientEnd, send: ClientSend, frozen: Freeze): ClientEvents {
  return {
    ...NO_CLIENT_EVENTS,
    onMessage(message) {
      if (message.kind !== 'request') return
      const { id } = message
      send(buildFrozenReply(id, frozen, false).text, { request: id, answers: true })
      client.close(frozenReason(frozen))
    },
  }
}
