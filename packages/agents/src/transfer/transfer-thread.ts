// The transfer thread: reads what is imported and makes what is exported, with a heap of its own that
// is bounded, so that neither the gate nor anybody's agent waits for it or falls with it. Started by
// transfer-client.ts.

import type { Config } from '../guest/protocol.ts'
import { openImage } from '../sandbox/image.ts'
import { serveThread, threadData } from '../sandbox/thread-port.ts'
import { TRANSFER_TIMEOUT_MS } from '../shared/limits.ts'
import { AgentBeginner } from './begin-agent.ts'
import { writeBundle } from './bundle.ts'
import { loadBundleKey } from './bundle-key.ts'
import type { ExportPieces } from './export-agent.ts'
import { writeFirstEvent } from './import-agent.ts'
import { type ReadImport, readImport } from './read-import.ts'
import { type ExportOptions, sealExport } from './seal-export.ts'

export interface TransferThreadData {
  /** Where the key of bundles is, or its seed. */
  readonly keySource: string | Uint8Array
  /** The image of an agent's core. */
  readonly core: Uint8Array<ArrayBuffer>
}

export type TransferRequest =
  | { readonly kind: 'import'; readonly bytes: Uint8Array }
  | ({
      readonly kind: 'begin'
      readonly id: string
      readonly at: number
      readonly config: Config
    } & Pick<ReadImport, 'files' | 'rest' | 'bytes'>)
  | {
      readonly kind: 'move'
      readonly pieces: ExportPieces
      readonly memory: Uint8Array
      readonly atMs: number
    }
  | ExportRequest

export interface ExportRequest {
  readonly kind: 'export'
  readonly pieces: ExportPieces
  readonly options: ExportOptions
  readonly isBundle: boolean
  /** The memory of a bundle that keeps secrets. */
  readonly memory: Uint8Array | undefined
}

export interface SealedBytes {
  /** The export as JSON in UTF-8. */
  readonly json: Uint8Array
  readonly bundle: Uint8Array | undefined
}

const { keySource, core } = threadData<TransferThreadData>()
const beginner = new AgentBeginner(() => openImage(core))

serveThread(
  (request: TransferRequest) => {
    if (request.kind === 'import') return { value: readImport(request.bytes) }
    if (request.kind === 'begin') {
      const { bytes, at } = request
      const text = writeFirstEvent(request, request)
      return { value: beginner.begin({ text, bytes, atMs: at }) }
    }
    if (request.kind === 'move')
      return { value: beginner.move(request.pieces, request.memory, request.atMs) }
    const { pieces, options, isBundle, memory = new Uint8Array() } = request
    const json = Buffer.from(JSON.stringify(sealExport(pieces, options)))
    const bundle = isBundle ? writeBundle(json, memory, loadBundleKey(keySource).key) : undefined
    return { value: { json, bundle } satisfies SealedBytes }
  },
  { timeoutMs: TRANSFER_TIMEOUT_MS },
)
