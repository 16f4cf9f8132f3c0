import type { Writable } from 'node:stream'
export declare class StdioWriter {
  #private
  /** `onFull` is told once, when more waits than the bound allows; that message is not taken. */
  constructor(stdin: Writable, onFull: () => void)
  send(line: string): void
  /** Nobody reads any more: what comes now is never written. */
  hold(): void
  /** Ends stdin, after what waits if it can still be written, and returns what never was. */
  end(): string[]
}
