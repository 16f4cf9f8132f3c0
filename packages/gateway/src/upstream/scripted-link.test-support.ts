// A link to a server that the test itself plays: what is sent is kept, what the server says goes
// through the strict reader, as every link's does.

import type { RequestId } from '@sluice/protocol/message'
import { readMessages } from '@sluice/protocol/read-message'
import type { MessageContext } from '../shared/transport.ts'
import type { Upstream, UpstreamEvents, UpstreamFailure } from './upstream.ts'

export interface Sent {
  id?: RequestId
  method?: string
  // biome-ignore lint/suspicious/noExplicitAny: what the gate sent, taken apart by the test
  params?: any
  // biome-ignore lint/suspicious/noExplicitAny: what the gate sent, taken apart by the test
  result?: any
  error?: { code: number; message: string }
}

export class ScriptedLink implements Upstream {
  events: UpstreamEvents = { onMessage() {}, onFailure() {}, onClose() {} }
  readonly failure = undefined
  readonly handle = undefined
  pausesApart = true
  readonly paused: ['pause' | 'resume', RequestId | undefined][] = []
  readonly ended = Promise.resolve()
  readonly sent: Sent[] = []
  readonly aborted: RequestId[] = []
  closed: string | undefined
  /** Answers at once, where it gives a result. */
  answers: (sent: Sent) => object | undefined = () => undefined

  /** As its owner gets it. */
  readonly connect = (events: UpstreamEvents): this => {
    this.events = events
    return this
  }

  send(text: string): boolean {
    if (this.closed !== undefined) return false
    const sent = JSON.parse(text) as Sent
    this.sent.push(sent)
    const result = sent.method === undefined ? undefined : this.answers(sent)
    if (result !== undefined) queueMicrotask(() => this.say({ id: sent.id, result }))
    return true
  }

  /** The last request of this method that was sent. */
  last(method: string): Sent & { id: RequestId } {
    const found = this.sent.findLast((each) => each.method === method)
    if (found?.id === undefined) throw new Error(`no \`${method}\` was sent`)
    return found as Sent & { id: RequestId }
  }

  all(method: string): Sent[] {
    return this.sent.filter((each) => each.method === method)
  }

  /** A message of the server's, as a value or as the text it writes. */
  say(message: object | string, related?: MessageContext): void {
    const text =
      typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
    const read = readMessages(text, { batches: false })
    if (!read.ok) throw new Error(`the strict reader refuses it: ${read.message}`)
    for (const each of read.messages) this.events.onMessage(each, related)
  }

  fail(
    request: RequestId,
    code: UpstreamFailure['code'] = 'UPSTREAM_OUTCOME_UNKNOWN',
    status = 0,
  ): void {
    this.events.onFailure({ code, message: `failed: ${code}`, request, repeatable: false, status })
  }

  pause(request?: RequestId): void {
    this.paused.push(['pause', request])
  }

  resume(request?: RequestId): void {
    this.paused.push(['resume', request])
  }

  abort(request: RequestId): void {
    this.aborted.push(request)
  }

  close(why: string): void {
    if (this.closed !== undefined) return
    this.closed = why
    this.events.onClose(why)
  }
}

/** Lets everything happen that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  // Several turns: on a busy machine a list is read in more than one slice.
  for (let turn = 0; turn < 8; turn++) {
    for (let step = 0; step < 20; step++) await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
