import type { IncomingHttpHeaders } from 'node:http'
import { EventParser } from '../../wire/sse.ts'
import { type Said } from './read-said.ts'
/** `unreadable`: compressed although nobody asked for it, or in another character set. */
export type BodyKind = 'json' | 'events' | 'other' | 'unreadable'
export declare function bodyKindOf(headers: IncomingHttpHeaders): BodyKind
export interface BodyEvents {
  onSaid(said: Said): void
  /** More in one message than the gate reads; the rest of it is passed over. */
  onTooLarge(): void
  /** An event that is no message, such as the old transport's `endpoint`. */
  onEvent?(event: string, data: string): void
}
export interface Body {
  push(chunk: Buffer): void
  end(): void
}
export declare class JsonBody implements Body {
  #private
  constructor(events: BodyEvents, batches: boolean)
  push(chunk: Buffer): void
  end(): void
}
export declare class EventBody implements Body {
  #private
  readonly parser: EventParser
  constructor(events: BodyEvents, batches: () => boolean)
  push(chunk: Buffer): void
  /** An event that the stream breaks off is none. */
  end(): void
}
