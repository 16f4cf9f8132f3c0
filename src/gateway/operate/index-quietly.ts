// Brings the index of queries up to date while the gate has nothing else to do, a little at a time, so
// that `sluice ledger query` finds it so. What goes wrong with it hurts nobody: a query indexes too.

import type { DatabaseSync } from 'node:sqlite'
import type { Ledger } from '../../ledger/ledger.ts'
import { openLedgerReadOnly } from '../../ledger/read.ts'
import { RecordIndex } from '../../ledger/record-index.ts'
import { INDEX_EVERY_MS, INDEX_RECORDS_MAX } from '../limits.ts'
import type { Log } from '../upstream/upstream.ts'

export class QuietIndex {
  readonly #options: { directory: string; ledger: Ledger; isQuiet: () => boolean; log: Log }
  readonly #timer: NodeJS.Timeout
  #open: { readonly ledger: DatabaseSync; readonly index: RecordIndex } | undefined
  #through = 0
  #lastSeq = -1

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
    this.#open?.index.close()
    this.#open?.ledger.close()
    this.#open = undefined
  }

  #look(): void {
    const { ledger, isQuiet, log } = this.#options
    const { seq } = ledger.figures
    const rested = seq === this.#lastSeq
    this.#lastSeq = seq
    if (!rested || seq === this.#through || ledger.state !== 'writing' || !isQuiet()) return
    try {
      this.#open ??= this.#start()
      if (this.#open.index.catchUp(INDEX_RECORDS_MAX)) this.#through = seq
    } catch (error) {
      log('debug', 'the index of queries was left for later', { why: (error as Error).message })
      this.close()
    }
  }

  #start() {
    const { directory } = this.#options
    const ledger = openLedgerReadOnly(directory)
    try {
      return { ledger, index: new RecordIndex(directory, ledger) }
    } catch (error) {
      ledger.close()
      throw error
    }
  }
}
