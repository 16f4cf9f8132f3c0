// Brings the index of queries up to date while the gate has little else to do, a little at a time, so
// that `sluice ledger query` finds it so. A failure here is harmless: a query indexes too.

import type { DatabaseSync } from 'node:sqlite'
import { openLedgerReadOnly } from '@sluice/ledger/chain/read'
import type { Ledger } from '@sluice/ledger/ledger'
import { RecordIndex } from '@sluice/ledger/query/record-index'
import type { Log } from '../shared/log.ts'
import {
  INDEX_BUSY_RECORDS,
  INDEX_EVERY_MS,
  INDEX_RECORDS_MAX,
  INDEX_SLICE_MS,
  INDEX_SLICE_RECORDS,
} from './limits.ts'

const SQLITE_BUSY = 5

export class BackgroundIndexer {
  readonly #options: { directory: string; ledger: Ledger; isQuiet: () => boolean; log: Log }
  readonly #timer: NodeJS.Timeout
  #open: { readonly ledger: DatabaseSync; readonly index: RecordIndex } | undefined
  #through = 0
  #lastSeq = -1
  #isClosed = false

  constructor(options: {
    readonly directory: string
    readonly ledger: Ledger
    readonly isQuiet: () => boolean
    readonly log: Log
  }) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), INDEX_EVERY_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#isClosed = true
    this.#end()
  }

  #look(): void {
    const { ledger, isQuiet } = this.#options
    const { seq } = ledger.figures
    const arrived = seq - this.#lastSeq
    this.#lastSeq = seq
    if (seq === this.#through || ledger.state !== 'writing' || arrived > INDEX_BUSY_RECORDS) return
    if (arrived === 0 && isQuiet()) this.#take(INDEX_RECORDS_MAX, seq)
    // A gate that never rests: as much as came and a little more, a few records a turn.
    else this.#takeSlowly(arrived + INDEX_RECORDS_MAX, seq, { seq, ms: performance.now() })
  }

  /** `last` is how far the ledger was a slice ago: where it has become busy, calls come first. */
  #takeSlowly(left: number, seq: number, last: { seq: number; ms: number }): void {
    if (left <= 0 || this.#isClosed || this.#through === seq) return
    const now = { seq: this.#options.ledger.figures.seq, ms: performance.now() }
    const perMs = INDEX_BUSY_RECORDS / INDEX_EVERY_MS
    if (now.seq - last.seq > perMs * (now.ms - last.ms)) return
    if (this.#take(INDEX_SLICE_RECORDS, seq)) {
      const goOn = () => this.#takeSlowly(left - INDEX_SLICE_RECORDS, seq, now)
      setTimeout(goOn, INDEX_SLICE_MS).unref()
    }
  }

  #take(records: number, seq: number): boolean {
    try {
      this.#open ??= this.#start()
      if (this.#open.index.catchUp(records)) this.#through = seq
      return true
    } catch (error) {
      // The console's thread writes to it, and so brings it up to date.
      if ((error as { readonly errcode?: number }).errcode === SQLITE_BUSY) return false
      const why = (error as Error).message
      this.#options.log('debug', 'the index of queries was left for later', { why })
      this.#end()
      return false
    }
  }

  #end(): void {
    this.#open?.index.close()
    this.#open?.ledger.close()
    this.#open = undefined
  }

  #start() {
    const { directory } = this.#options
    const ledger = openLedgerReadOnly(directory)
    try {
      const index = new RecordIndex(directory, ledger)
      // While the console's thread writes to the index, calls would wait for its lock.
      index.database.exec('PRAGMA busy_timeout = 0')
      return { ledger, index }
    } catch (error) {
      ledger.close()
      throw error
    }
  }
}
