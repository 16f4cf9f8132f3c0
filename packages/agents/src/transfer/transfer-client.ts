// The transfer thread as the rest of the module sees it. Owners take turns: whose exports are many waits
// for itself. Started when it is first needed. Owned by the service.

import { extname, join } from 'node:path'
import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { Config } from '../guest/protocol.ts'
import { FairQueue } from '../sandbox/fair-queue.ts'
import { Thread } from '../sandbox/thread.ts'
import { toAgentError } from '../shared/errors.ts'
import {
  SEALED_HERE_BYTES_MAX,
  TRANSFER_HEAP_MEGABYTES,
  TRANSFERS_AT_ONCE,
} from '../shared/limits.ts'
import type { BegunAgent } from '../steps/stepper.ts'
import type { MovedAgent } from './begin-agent.ts'
import type { AgentExport } from './portable.ts'
import type { ReadImport } from './read-import.ts'
import { sealExport } from './seal-export.ts'
import type {
  ExportRequest,
  SealedBytes,
  TransferRequest,
  TransferThreadData,
} from './transfer-thread.ts'

type FirstEventFields = { readonly id: string; readonly at: number; readonly config: Config }

/** An export that is ready to leave. */
export interface SealedExport {
  readonly exported: AgentExport
  /** The signed bundle; undefined if JSON was asked for. */
  readonly bundle: Uint8Array | undefined
}

export class Transfers {
  readonly #data: TransferThreadData
  readonly #turns = new FairQueue(TRANSFERS_AT_ONCE)
  #thread: Thread | undefined

  constructor(data: TransferThreadData) {
    this.#data = data
  }

  /** `make` is asked when it is its turn: what waits is not in memory yet. */
  read(owner: string, bytes: Uint8Array): Promise<ReadImport> {
    return this.#run(owner, async () => ({ kind: 'import', bytes }))
  }

  /** The first event of an import, run with the config that it gets here. */
  begin(owner: string, read: ReadImport, first: FirstEventFields): Promise<BegunAgent> {
    const { files, rest, bytes } = read
    return this.#run(owner, async () => ({ kind: 'begin', files, rest, bytes, ...first }))
  }

  /** An agent of an older core, in this one. */
  move(owner: string, make: () => Promise<TransferRequest>): Promise<MovedAgent> {
    return this.#run(owner, make)
  }

  /** A small export is sealed here: that takes less than the way to the thread and back. */
  seal(owner: string, make: () => Promise<ExportRequest>): Promise<SealedExport> {
    return this.#turns.run(owner, async () => {
      const request = await make()
      const { pieces, options, isBundle } = request
      if (!isBundle && pieces.messages.length + pieces.bytes.length <= SEALED_HERE_BYTES_MAX)
        return { exported: sealExport(pieces, options), bundle: undefined }
      const { json, bundle } = await this.#ask<SealedBytes>(request)
      return { exported: JSON.parse(asBuffer(json).toString('utf8')) as AgentExport, bundle }
    })
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  #run<Answer>(owner: string, make: () => Promise<TransferRequest>): Promise<Answer> {
    return this.#turns.run(owner, async () => this.#ask<Answer>(await make()))
  }

  #ask<Answer>(request: TransferRequest): Promise<Answer> {
    this.#thread ??= this.#start()
    return this.#thread.ask<Answer>(request)
  }

  #start(): Thread {
    const file = join(import.meta.dirname, `transfer-thread${extname(import.meta.filename)}`)
    const heapMegabytes = TRANSFER_HEAP_MEGABYTES
    return new Thread(file, this.#data, toAgentError, { heapMegabytes })
  }
}
