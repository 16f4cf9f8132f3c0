// What a client is sent has lost the gate's own tokens and links: an agent that reads somebody's mail,
// log or shell history through the gate is not to find there what lets a person in. One search for a
// rare word a message; the rest only where it is found.

import { withoutOwnTokens } from '../../identity/own-tokens.ts'
import type { ClientLink } from '../link.ts'

/** From here on, whatever is sent on this link. */
export function stripOwn(link: ClientLink): void {
  const send = link.send.bind(link)
  link.send = (text, related) => send(withoutOwnTokens(text), related)
}
