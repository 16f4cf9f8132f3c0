/** `lastDelayMs` is what was waited before the run that ended now, undefined for the first run. */
export declare function restartDelayMs(lastDelayMs: number | undefined, upMs: number): number
export declare class Restarter {
  #private
  /** `start` is called for every new run; the first one has begun already. */
  constructor(start: () => void, nowMs?: () => number)
  /** The run ended: says in how many ms the next one begins, or undefined if none will. */
  ended(): number | undefined
  /** Somebody needs the server at once: cuts the wait short. Without one it does nothing. */
  now(): void
  stop(): void
}
