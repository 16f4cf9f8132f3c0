// The transfer thread: reads what is imported and makes what is exported, with a heap of its own that
// is bounded, so that neither the gate nor anybody's agent waits for it or falls with it. Started by
// transfer-client.ts.

import { serveThread, threadData } from '../../sandbox/thread-port.ts'
import { TRANSFER_TIMEOUT_MS } from '../shared/limits.ts'
import type { TakenPieces } from './export-agent.ts'
import { readImport } from './read-import.ts'
import { bundleExport, type ExportOptions, sealExport } from './seal-export.ts'

export interface TransferThreadData {
  readonly directory: string
}

export type TransferRequest =
  | { readonly kind: 'import'; readonly given: Uint8Array }
  | {
      readonly kind: 'export'
      readonly pieces: TakenPieces
      readonly options: ExportOptions
      /** For a bundle. */
      readonly memory: Uint8Array | undefined
    }

export interface SealedExport {
  /** The export as JSON in UTF-8. */
  readonly json: Uint8Array
  readonly bundle: Uint8Array | undefined
}

const { directory } = threadData<TransferThreadData>()

serveThread(
  (request: TransferRequest) => {
    if (request.kind === 'import') return { value: readImport(request.given) }
    const { pieces, options, memory } = request
    const json = Buffer.from(JSON.stringify(sealExport(pieces, options)))
    const bundle = memory && bundleExport(json, memory, options, directory)
    return { value: { json, bundle } satisfies SealedExport }
  },
  { timeoutMs: TRANSFER_TIMEOUT_MS },
)
