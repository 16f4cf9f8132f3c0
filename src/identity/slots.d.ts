import type { SessionFacts } from '../core/call.ts'
export interface Slot extends SessionFacts {
  readonly principal: string
}
interface Held {
  readonly principal: string
  readonly number: number
  id: string
  startedAtMs: number
  lastUsedMs: number
  calls: number
  readonly saw: Set<string>
  /** Connections that use it now. */
  users: number
}
export declare class Slots {
  #private
  /** The slot for a new connection: a free one, the longest unused first; where none is free, the
   * one with the fewest connections. */
  open(principal: string, count: number, nowMs: number): SlotUse
  /** Puts back what the record says of a slot: after a restart it goes on as it was. */
  restore(id: string, lastUsedMs: number, calls: number, saw: Iterable<string>): void
}
/** One connection's hold on a slot. */
export declare class SlotUse {
  #private
  constructor(slot: Held)
  /** The session as rules see it; a slot that has rested too long begins anew. */
  facts(nowMs: number): SessionFacts
  used(nowMs: number): void
  see(labels: Iterable<string>): void
  release(): void
}
