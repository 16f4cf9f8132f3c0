import type { Readable } from 'node:stream'
import type { Log } from './upstream.ts'
export declare class StderrLog {
  #private
  constructor(stderr: Readable, log: Log)
  /** The last lines, in one, for a reason; empty where it said nothing. */
  lastWords(): string
}
/** Cut, and with no character in it that could rewrite a terminal or a log line. */
export declare function shorten(line: string, lengthMax: number): string
