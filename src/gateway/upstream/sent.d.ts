import type { Id, Message } from '../../wire/message.ts'
/** A request has both, a notification only a method, an answer only an id. */
export interface Sent {
  readonly id: Id | undefined
  readonly method: string | undefined
}
export declare function sentOf(text: string): Sent
export declare class Conversation {
  #private
  /** Requests without an answer. */
  readonly open: Set<Id>
  /** The revision that `initialize` settled. */
  revision: string | undefined
  sent({ id, method }: Sent): void
  received(message: Message): void
  /** JSON-RPC batches were in the first two revisions. */
  get batches(): boolean
}
