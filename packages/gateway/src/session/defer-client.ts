// A client whose session is being looked up in the shared store: what it sends waits, in order, until the
// session is known. If the store does not answer, its requests are refused, and why is logged. Used by the gate.

import { UNAVAILABLE_RETRY_MS } from '@sluice/ledger/store/limits'
import type { JsonRpcMessage } from '@sluice/protocol/message'
import { buildOutageReply } from '../shared/error-reply.ts'
import { SESSION_REQUESTS_MAX } from '../shared/limits.ts'
import type { Log } from '../shared/log.ts'
import { type ClientEvents, type ClientTransport, NO_CLIENT_EVENTS } from '../shared/transport.ts'
import type { OpenSession } from './open-sessions.ts'

const OUTAGE = `temporary outage: the session cannot be looked up; try again in ${UNAVAILABLE_RETRY_MS / 1_000} s`

export function deferClient(
  client: Pick<ClientTransport, 'send' | 'close'>,
  opening: Promise<OpenSession>,
  { connect, log }: { connect: (session: OpenSession) => ClientEvents; readonly log: Log },
): ClientEvents {
  let events: ClientEvents | undefined
  let isClosed = false
  const waiting: ((to: ClientEvents) => void)[] = []
  const pass = (step: (to: ClientEvents) => void): void => {
    if (events !== undefined) return step(events)
    waiting.push(step)
    // Requests are bounded by the transport, notifications are not.
    if (waiting.length > 2 * SESSION_REQUESTS_MAX)
      client.close(
        `more than ${2 * SESSION_REQUESTS_MAX} messages came before the session was known`,
      )
  }
  opening.then(
    (session) => {
      if (isClosed) return session.release()
      events = connect(session)
      for (const step of waiting.splice(0)) step(events)
    },
    (error: Error) => {
      log('warn', 'a session cannot be looked up', { why: error.message })
      const refusing = {
        ...NO_CLIENT_EVENTS,
        onMessage(message: JsonRpcMessage) {
          if (message.kind !== 'request') return
          const { id } = message
          client.send(buildOutageReply(id, OUTAGE).text, { request: id, answers: true })
        },
      }
      for (const step of waiting.splice(0)) step(refusing)
      client.close(OUTAGE)
    },
  )
  return {
    onMessage: (message, related) => pass((to) => to.onMessage(message, related)),
    onPressure: (isFull, request) => pass((to) => to.onPressure(isFull, request)),
    onClose: (why) => {
      isClosed = true
      events?.onClose(why)
    },
  }
}
