// The path of a call, top to bottom, for requests of either side: parse, look up, decide, hold, charge
// limits and record, forward, inspect, answer, record. There is no other. Authentication comes before
// it, at the front. A fault on the way is a reply that says so; only an admitted call is forwarded.

import { acceptCall } from './accept-call.ts'
import { admitCall } from './admit-call.ts'
import { answerFault, answerRequest } from './answer-request.ts'
import type { AdmittedCall } from './call-request.ts'
import type { Exchange, IncomingRequest } from './call-session.ts'
import { type ForwardRequestOptions, forwardRequest } from './forward-request.ts'
import { inspectResult } from './inspect-result.ts'
import { inspectAhead, lookUpCall } from './look-up-call.ts'
import { noteArrival } from './note-arrival.ts'
import { parseRequest } from './parse-request.ts'
import { recordContent } from './record-content.ts'
import { recordOutcome } from './record-outcome.ts'
import { refuseCall } from './refuse-call.ts'

export async function handleCall(incoming: IncomingRequest): Promise<void> {
  const { message, sender, session } = incoming
  const requests = sender === 'client' ? session.down : session.up
  const pending = requests.begin(message)
  const exchange: Exchange = { sender, requests, pending, session }
  let admitted: AdmittedCall | undefined
  try {
    // A step that need not wait is not waited for: its request keeps its place among the sender's
    // notifications, and a wait costs memory.
    const read = parseRequest(incoming)
    const parsed = read.status === 'check' ? await read.check() : read
    if (parsed.status === 'refused') return refuseCall({ exchange, reply: parsed.reply })
    let forwarding: ForwardRequestOptions
    if (parsed.status === 'passes') forwarding = { exchange, passes: parsed }
    else {
      const ahead = inspectAhead(parsed, session)
      if (ahead !== undefined) await ahead
      const lookUp = () => {
        noteArrival(parsed, session)
        return lookUpCall({ parsed, pending, session })
      }
      const lookup = lookUp()
      const request = lookup instanceof Promise ? await lookup : lookup
      const accepted = acceptCall({ parsed, request, session })
      const refused = accepted instanceof Promise ? await accepted : accepted
      if (refused !== undefined) return refuseCall({ exchange, reply: refused })
      const decided = await admitCall({ pipeline: session.pipeline, request, lookUp })
      if (decided.admission === undefined) return refuseCall({ exchange, parsed, refused: decided })
      admitted = decided
      forwarding = { exchange, parsed, admitted }
    }
    const result = await forwardRequest(forwarding)
    const answer = inspectResult({ exchange, result })
    const inspected = answer instanceof Promise ? await answer : answer
    answerRequest({ exchange, inspected })
    recordContent({ recorder: session.pipeline.recorder, admitted, reply: inspected.reply?.text })
    recordOutcome({ exchange, admitted, outcome: inspected.outcome })
    if (inspected.closes !== undefined) session.close(inspected.closes)
  } catch (error) {
    const outcome = answerFault({ exchange, error: error as Error })
    recordOutcome({ exchange, admitted, outcome })
  }
}
