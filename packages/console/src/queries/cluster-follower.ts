// Follows the ledgers of all gates that share a store into one copy in the data directory, which the console
// reads: records are fetched when somebody asks, and from then on every few seconds, so that it is up to date
// when somebody comes back. Runs in the thread that reads the ledger.

import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { lookAtStore } from '@sluice/ledger/merged/look-at-store'
import {
  isCorrupt,
  type MergedLedger,
  openMerged,
  removeMerged,
} from '@sluice/ledger/merged/merged-ledger'
import { keepNames, readStoredNames } from '@sluice/ledger/merged/store-names'
import { FOLLOWED_ROWS_MAX } from '@sluice/ledger/store/limits'
import { parsePostgresUrl } from '@sluice/ledger/store/postgres/address'
import { PostgresConnections } from '@sluice/ledger/store/postgres/connections'
import type { FollowedChains } from '@sluice/ledger/store/postgres/follow-chains'
import { FOLLOW_EVERY_MS, FOLLOW_FREE_BYTES_MIN } from './limits.ts'

export class ClusterFollower {
  readonly #directory: string
  readonly #connections: PostgresConnections
  readonly #merged: MergedLedger
  readonly #onGone: () => void
  #chains: FollowedChains | undefined
  #running: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #why: string | undefined
  /** The version of the names that are known. */
  #names = 0
  #behind = 0

  /** `store` is the address of the shared store. `onGone`: the files of the copy are no longer those that were
   * opened; readers have to open them again. */
  constructor(directory: string, store: string, onGone: () => void) {
    this.#directory = directory
    this.#onGone = onGone
    this.#merged = openMerged(directory)
    this.#connections = new PostgresConnections(parsePostgresUrl(store))
  }

  /** Why the copy may lack records that the shared store has; undefined if nothing is known to be wrong. */
  get why(): string | undefined {
    return this.#why
  }

  /** Records that are known to be in the shared store and not in the copy. */
  get behind(): number {
    return this.#behind
  }

  /** Brings the copy up to date with what is there now; what takes longer goes on in the background. Pages do not
   * wait for a store that did not answer the last time, nor for a copy that needs more than one step. */
  async follow(forMs: number): Promise<void> {
    if (this.#why !== undefined || this.#behind > FOLLOWED_ROWS_MAX) return void this.#start()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, forMs, 'late')
    })
    try {
      // One that has begun may have looked before what is asked for was written.
      for (const work of [() => this.#running, () => this.#start()])
        if ((await Promise.race([work(), late])) === 'late') {
          if (this.#behind === 0) this.#why ??= 'the shared store has not answered yet'
          return
        }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Makes the copy again if this error, of a reader, says that it is corrupt. */
  noteError(error: unknown): void {
    if (!isCorrupt(error)) return
    removeMerged(this.#directory)
    this.#onGone()
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      this.#timer = setTimeout(() => void this.#start(), FOLLOW_EVERY_MS)
    })
    return this.#running
  }

  async #run(): Promise<void> {
    if (!this.#merged.isInPlace) return this.#onGone()
    try {
      const { chains, dropped } = await lookAtStore(this.#connections, this.#merged, this.#chains)
      this.#chains = chains
      // From here on it is known how much is missing.
      this.#behind = chains.behind
      this.#why = undefined
      // Records may be here before the gate has the names that open their tokens.
      const { rows, version } = await readStoredNames(this.#connections, this.#names)
      if (rows.length > 0) keepNames(this.#directory, rows)
      this.#names = version
      await this.#copy(chains)
      this.#merged.drop(dropped)
    } catch (error) {
      // What was taken and not stored is taken again.
      this.#chains = undefined
      this.#why = (error as Error).message
      this.noteError(error)
    }
  }

  async #copy(chains: FollowedChains): Promise<void> {
    for (;;) {
      await this.#checkSpace()
      const records = await chains.take()
      const beganMs = performance.now()
      if (records.length > 0) this.#merged.append(records)
      this.#behind = chains.behind
      if (records.length === 0) return
      // Half of the time is the gate's.
      const tookMs = performance.now() - beganMs
      if (this.#behind > 0) await sleep(tookMs)
    }
  }

  /** The gate's own files must not be short of space because of a copy. */
  async #checkSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#directory)
    if (bavail * bsize < FOLLOW_FREE_BYTES_MIN)
      throw new Error(
        `less than ${FOLLOW_FREE_BYTES_MIN / 1_048_576} MiB are free on the disk of \`${this.#directory}\``,
      )
  }
}
