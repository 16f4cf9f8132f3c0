import type { ServerResponse } from 'node:http'
import type { Message } from '../../wire/message.ts'
import type { Link, Related } from '../link.ts'
export declare class HttpSession implements Link {
  #private
  readonly id: string
  /** The revision both sides agreed on; empty until then. */
  revision: string
  lastUsedMs: number
  onMessage: Link['onMessage']
  onClose: Link['onClose']
  constructor(id: string, nowMs: number)
  get closed(): boolean
  get openRequests(): number
  /** A request id that is still open must not be used again; too many open ones are refused. */
  refuses(messages: readonly Message[]): string | undefined
  accept(messages: readonly Message[], batch: boolean, response: ServerResponse): void
  /** The client's GET: one at a time, the newest holds. Missed events come first. */
  listen(response: ServerResponse, lastEventId: string | undefined): void
  send(text: string, { request, answers }?: Related): boolean
  close(why: string): void
}
