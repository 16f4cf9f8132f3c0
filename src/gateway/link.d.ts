import type { Id, Message } from '../wire/message.ts'
/** Which of the other side's requests a message belongs to, where that is known: on HTTP it decides
 * the stream a message goes out on. */
export interface Related {
  readonly request?: Id
  /** The message is the answer to that request. */
  readonly answers?: boolean
}
export interface Link {
  /** Carries one message, given as text on one line. Returns false where the link is closed. */
  send(text: string, related?: Related): boolean
  /** Set by whoever listens, before anything arrives. */
  onMessage: (message: Message, related?: Related) => void
  /** Once, with the reason in words. */
  onClose: (why: string) => void
  close(why: string): void
}
