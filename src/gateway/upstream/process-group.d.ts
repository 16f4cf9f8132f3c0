/** False where there is no such group, or none that we may signal. */
export declare function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean
/** SIGTERM to the group, SIGKILL where that did not help. False if something is left even then. */
export declare function endGroup(leader: number, termGraceMs?: number): Promise<boolean>
/** The processes of a group, on Linux; elsewhere only its leader. */
export declare function membersOf(leader: number): number[]
interface Stat {
  readonly state: string
  readonly group: number
  /** Clock ticks since boot; with the pid it names a process for as long as the machine runs. */
  readonly started: string
}
/** From /proc, so on Linux only. */
export declare function readStat(pid: number): Stat | undefined
