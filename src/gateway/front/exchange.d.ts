import type { ServerResponse } from 'node:http'
import type { Id } from '../../wire/message.ts'
export declare class Exchange {
  #private
  /** `onGone` is told the requests still open when the client goes away. */
  constructor(
    response: ServerResponse,
    headers: Record<string, string>,
    ids: readonly Id[],
    batch: boolean,
    onGone: (open: readonly Id[]) => void,
  )
  answer(id: Id, text: string): void
  /** Something on the way to the answer. */
  tell(text: string): boolean
  setHeader(name: string, value: string): void
}
