import type { Readable } from 'node:stream'
import { type Line } from '../../wire/lines.ts'
export declare class StdioReader {
  #private
  /** `onEnd`: stdout has ended and every line of it was handed over. */
  constructor(stdout: Readable, onLine: (line: Line) => void, onEnd: () => void)
  /** A message was sent: one may come back at full speed. */
  expectOne(): void
  pause(): void
  resume(): void
  /** Hands over nothing more. Goes on reading, so that a process on its way out is not blocked. */
  stop(): void
}
