// Every message towards a client passes here: answers, errors, notifications and questions of its
// server's, and what the gate itself says. It is inspected before it is sent, so that the labels of
// the session are in force before anybody has read it. Used by the relay, once for each client.

import type { Strictness } from '../../guard/inspect-answer.ts'
import type { ClientLink } from '../link.ts'

/** The labels that a message brings into the session and that were not there yet. */
export type InspectDelivery = (text: string, strictness: Strictness) => readonly string[]

const NONE: readonly string[] = []

export class Deliveries {
  #found: readonly string[] = NONE

  /** From here on, whatever is sent on this link. */
  constructor(client: ClientLink, inspect: InspectDelivery) {
    const send = client.send.bind(client)
    client.send = (text, related) => {
      this.#found = inspect(text, related?.isDefinition === true ? 'definition' : 'answer')
      return send(text, related)
    }
  }

  /** What the last message brought in. */
  get found(): readonly string[] {
    return this.#found
  }
}

/** Answers that describe a server and its tools: the pins judge them too. */
const DEFINITIONS: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'tools/list'])

export function isDefinition(method: string, isError: boolean): boolean {
  return !isError && DEFINITIONS.has(method)
}
