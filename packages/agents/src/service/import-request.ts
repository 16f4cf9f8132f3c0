// Exports and imports as the service hands them on: pieces from the step thread, the long work in the
// transfer thread. Which tools and prices an import has is decided from its new owner's side, never
// from the export's.

import { asBuffer } from '@sluice/ledger/store/as-buffer'
import type { GrantedTool } from '../guest/protocol.ts'
import { AgentError } from '../shared/errors.ts'
import type { GateTool } from '../shared/tool-gate.ts'
import type { Steps } from '../step-thread/step-client.ts'
import { grantTools, toGranted } from '../transfer/create-config.ts'
import type { AgentImportOptions, AgentImportResult } from '../transfer/import-agent.ts'
import type { AgentExport } from '../transfer/portable.ts'
import type { ExportOptions } from '../transfer/seal-export.ts'
import type { Transfers } from '../transfer/transfer-client.ts'

export interface TransferSetting {
  readonly steps: Steps
  readonly transfers: Transfers
  readonly owner: string
}

export interface ImportSetting
  extends TransferSetting,
    Pick<AgentImportOptions, 'id' | 'nowMs' | 'installation' | 'trusted' | 'prices'> {
  /** What may be granted. */
  readonly available: readonly GateTool[]
  /** What was chosen of it, as at create. */
  readonly tools: readonly string[] | undefined
  readonly parent: string | undefined
  readonly labels: readonly string[] | undefined
}

export async function importForOwner(
  input: unknown,
  setting: ImportSetting,
): Promise<AgentImportResult> {
  const { steps, transfers, available, tools: patterns, ...rest } = setting
  if (typeof input !== 'string' && (typeof input !== 'object' || input === null))
    throw new AgentError('AGENT_IMPORT', 'an import is an export as object or text, or a bundle')
  const bytes = Buffer.from(typeof input === 'string' ? input : JSON.stringify(input))
  const tools: GrantedTool[] = available.map(toGranted)
  const chosen = patterns && grantTools(patterns, available).map(nameOf)
  const options: AgentImportOptions = { ...rest, tools, chosen }
  const read = await transfers.read(rest.owner, bytes)
  const { facts, memory } = read
  const { config, usesMemory } = await steps.planImport(facts, memory !== undefined, options)
  if (usesMemory) return steps.import({ ...options, planned: 'memory' }, read)
  const first = { id: rest.id, at: rest.nowMs, config }
  const begun = await transfers.begin(rest.owner, read, first)
  return steps.import(options, { ...read, memory: undefined }, { ...begun, config })
}

function nameOf({ server, tool }: GrantedTool): string {
  return `${server}/${tool}`
}

/** An agent as it leaves the installation. */
export interface ExportedAgent {
  readonly exported: AgentExport
  /** The signed bundle with the memory, in base64; undefined if JSON was asked for. */
  readonly bundle: string | undefined
}

export async function exportAgent(
  id: string,
  format: 'json' | 'bundle',
  options: ExportOptions,
  { steps, transfers, owner }: TransferSetting,
): Promise<ExportedAgent> {
  const isBundle = format === 'bundle'
  // Where secrets are replaced the memory stays here: it has them in clear, also those of files that were deleted,
  // and in pieces that no search finds.
  const withMemory = isBundle && options.secrets === 'keep'
  const { exported, bundle } = await transfers.seal(owner, async () => {
    const { memory, ...pieces } = await steps.takeExport(owner, id, options.nowMs, withMemory)
    return { kind: 'export', pieces, options, isBundle, memory }
  })
  return { exported, bundle: bundle && asBuffer(bundle).toString('base64') }
}
