import type { Log } from './upstream.ts'
export declare class Watcher {
  #private
  /** In the environment of every server (`SLUICE_CHILD`), so that its processes can be told from
   * others that have a recycled pid. */
  readonly mark: string
  /** `file` is where the groups are kept for the next start; without it only the pipe watches. */
  constructor(options: {
    file?: string | undefined
    log: Log
  })
  get pid(): number | undefined
  add(pid: number): void
  remove(pid: number): void
  /** Groups still on the list are ended by the watcher, as if the gate had died. */
  close(): Promise<void>
}
