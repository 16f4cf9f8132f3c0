export interface Leftover {
  readonly pid: number
  /** When the leader started, as the system counts; empty where it does not tell. */
  readonly started: string
}
export declare function writeLeftovers(
  file: string,
  mark: string,
  groups: readonly Leftover[],
): void
/** Ends what the file names and is still ours; removes the file. Says the leaders of what it ended. */
export declare function endLeftovers(file: string): Promise<number[]>
