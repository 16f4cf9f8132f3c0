// Which sessions can do without their process for now: nobody waits for an answer, nobody listens, for
// as long as the configuration says. Looked at by the gate, every now and then.

import type { ClientTransport } from '../../shared/transport.ts'
import type { Upstream } from '../upstream.ts'

interface Session {
  readonly link: Upstream
  readonly client: Pick<ClientTransport, 'isIdle'>
  readonly openRequests: () => number
  readonly idleMs: number
}

export class RestingProcesses {
  /** When each was last in use. */
  readonly #lastBusyMs = new Map<Session, number>()

  /** Until the link has ended. */
  add(session: Session, nowMs: number): void {
    this.#lastBusyMs.set(session, nowMs)
    void session.link.ended.then(() => this.#lastBusyMs.delete(session))
  }

  look(nowMs: number): void {
    for (const [session, lastBusyMs] of this.#lastBusyMs) {
      const { link, client, openRequests, idleMs } = session
      if (client.isIdle !== true || openRequests() > 0) this.#lastBusyMs.set(session, nowMs)
      else if (nowMs - lastBusyMs >= idleMs) link.rest?.('nobody uses it')
    }
  }
}
