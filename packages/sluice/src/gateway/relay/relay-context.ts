// What a relay needs of the gate and of its session, beside the client and the server it connects.

import type { CallContext } from '../call/call-session.ts'
import type { InspectDelivery } from '../call/deliveries.ts'
import type { NameRoots } from '../session/client-roots.ts'
import type { UpstreamQueries } from '../session/upstream-queries.ts'
import type { VisibleLists } from '../session/visible-lists.ts'
import type { ClientSend } from '../shared/transport.ts'

export interface RelayContext extends CallContext {
  /** Sends to the client; nothing else of the relay does. */
  readonly send: ClientSend
  readonly lists: (ask: UpstreamQueries['ask']) => VisibleLists
  /** Every message towards the client, before it is sent: adds the labels that it brings. */
  readonly onDelivery: InspectDelivery
  /** Undefined if every gate knows the labels that the session has. */
  readonly whenStored?: () => Promise<void> | undefined
  readonly nameRoots: NameRoots
  readonly onEnd: (why: string) => void
  /** Of a session from before the gate was started again. */
  readonly handle?: string | undefined
}
