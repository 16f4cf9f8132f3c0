import type { Id } from '../../wire/message.ts'
import type { HttpHost, HttpTransport, Outgoing } from './http-host.ts'
export declare class OldTransport implements HttpTransport {
  #private
  /** `onNone`: the server has no such transport either. */
  constructor(host: HttpHost, onNone: () => void)
  get size(): number
  send(message: Outgoing): void
  pause(): void
  resume(): void
  abort(): void
  close(): {
    unwritten: Id[]
    over: Promise<void>
  }
}
