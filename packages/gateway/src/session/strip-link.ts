// Takes the gate's own tokens out of everything that is sent on a client's link. A long message is looked
// through in slices, so that other calls go on meanwhile. Messages about the same request stay in
// order; others need not wait for a long one. Used by the gate, once for each client.

import type { RequestId } from '@sluice/protocol/message'
import { ANSWER_AT_ONCE_LENGTH_MAX } from '../shared/limits.ts'
import { runInSlices, takeTurn } from '../shared/slices.ts'
import type { ClientSend, ClientTransport, MessageContext } from '../shared/transport.ts'
import { STRIP_WAITING_LENGTH_MAX } from './limits.ts'
import { stripOwnSteps, stripOwnTokens } from './strip-gate-tokens.ts'

/** What is sent on this link is to be sent by the result alone. */
export function stripOwn(link: Pick<ClientTransport, 'send' | 'close'>): ClientSend {
  const send: ClientSend = (text, related) => link.send(text, related)
  /** The last message about each request that waits to be looked through. */
  const waiting = new Map<RequestId | undefined, Promise<void>>()
  let waitingLength = 0

  const sendLater = async (
    text: string,
    related: MessageContext | undefined,
    before: Promise<void> | undefined,
  ): Promise<void> => {
    try {
      await before
      await takeTurn()
      send(await runInSlices(stripOwnSteps(text), 'answer'), related)
    } catch (error) {
      // Nothing is passed on that was not looked through.
      link.close(`a message could not be looked through: ${(error as Error).message}`)
    } finally {
      waitingLength -= text.length
    }
  }

  return (text, related) => {
    const isShort = text.length <= ANSWER_AT_ONCE_LENGTH_MAX
    if (isShort && waiting.size === 0) return send(stripOwnTokens(text), related)
    const request = related?.request
    const before = waiting.get(request)
    const isTooMuch = waitingLength + text.length > STRIP_WAITING_LENGTH_MAX
    if (before === undefined && (isShort || isTooMuch)) return send(stripOwnTokens(text), related)
    if (isTooMuch) {
      link.close(`more than ${STRIP_WAITING_LENGTH_MAX} characters wait to be looked through`)
      return false
    }
    waitingLength += text.length
    const sent = sendLater(text, related, before).finally(() => {
      if (waiting.get(request) === sent) waiting.delete(request)
    })
    waiting.set(request, sent)
    return true
  }
}
