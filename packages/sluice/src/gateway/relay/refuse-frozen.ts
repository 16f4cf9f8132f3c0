// A client's session with what is frozen: its first request is told so, and it ends. No server is
// started or reached for it.

import { frozenAnswer } from '../call/replies.ts'
import type { ClientLink } from '../shared/transport.ts'
import { type Frozen, frozenReason } from '../state/freezes.ts'

export function refuseFrozen(client: ClientLink, frozen: Frozen): void {
  client.onMessage = (message) => {
    if (message.kind !== 'request') return
    const { id } = message
    client.send(frozenAnswer(id, frozen, false).text, { request: id, answers: true })
    client.close(frozenReason(frozen))
  }
}
