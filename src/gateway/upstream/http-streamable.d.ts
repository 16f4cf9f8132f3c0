import type { Id } from '../../wire/message.ts'
import type { HttpHost, HttpTransport, Outgoing } from './http-host.ts'
export declare class Streamable implements HttpTransport {
  #private
  constructor(host: HttpHost)
  get size(): number
  send(message: Outgoing): void
  pause(request?: Id): void
  resume(request?: Id): void
  abort(request: Id): void
  close(): {
    unwritten: Id[]
    over: Promise<void>
  }
}
