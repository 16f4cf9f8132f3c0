// A link to a server of the other era than its client's: what both directions of the bridge share.
// Everything that is not about the eras goes to the link inside.

import type { Answer, Id, Message } from '../../wire/message.ts'
import { writeError, writeResult } from '../../wire/write-message.ts'
import type { Related } from '../link.ts'
import { failureAnswer } from './failure-answer.ts'
import type { Carried, UpstreamFailure, UpstreamLink } from './upstream.ts'

export abstract class Adapted implements UpstreamLink {
  onMessage: (message: Message, related?: Related) => void = () => {}
  onClose: (why: string) => void = () => {}
  onFailure: (failure: UpstreamFailure) => void = (failure) => {
    const answer = failureAnswer(failure)
    if (answer !== undefined) this.onMessage(answer)
  }
  protected readonly inner: UpstreamLink
  protected readonly log: (text: string) => void

  constructor(inner: UpstreamLink, log: (text: string) => void) {
    this.inner = inner
    this.log = log
    inner.onMessage = (message, related) => this.fromServer(message, related)
    inner.onFailure = (failure) => this.failed(failure)
    inner.onClose = (why) => this.onClose(why)
  }

  abstract send(text: string, carried?: Carried): boolean
  protected abstract fromServer(message: Message, related?: Related): void
  protected abstract failed(failure: UpstreamFailure): void

  get failure(): UpstreamFailure | undefined {
    return this.inner.failure
  }

  get handle(): string | undefined {
    return undefined
  }

  get ended(): Promise<void> {
    return this.inner.ended
  }

  pause(request?: Id): void {
    this.inner.pause(request)
  }

  resume(request?: Id): void {
    this.inner.resume(request)
  }

  abort(request: Id): void {
    this.inner.abort(request)
  }

  close(why: string): void {
    this.inner.close(why)
  }

  /** Answers in the server's place; in a turn of its own, as a server would. */
  protected answerHere(id: Id, result: string): boolean {
    const source = writeResult(id, result)
    return this.#later({ kind: 'answer', id, result, error: undefined, source })
  }

  protected refuseHere(id: Id, code: number, message: string): boolean {
    const source = writeError(id, code, message)
    return this.#later({ kind: 'answer', id, result: undefined, error: { code, message }, source })
  }

  #later(answer: Answer): true {
    queueMicrotask(() => this.onMessage(answer))
    return true
  }
}
