// The figures of the console, worked out from what `sluice ledger export` writes and from nothing else.

import { join } from 'node:path'
import { sluice } from '../support/run-sluice.ts'
import type { ServingGate } from '../support/start-gate.ts'

/** A line of an export, as far as the figures need it. */
interface ExportedRecord {
  readonly kind: string
  readonly atMs: number
  readonly session: string
  readonly approval?: string
  readonly server: string
  readonly name: string
  readonly principal: { readonly id: string }
  readonly decision?: { readonly action: string; readonly code: string; readonly reason: string }
  readonly detail?: { readonly request?: unknown }
  readonly judged?: Readonly<Record<string, number | string>>
}

export type ExportedCall = ExportedRecord & Required<Pick<ExportedRecord, 'decision'>>

/**
 * Every call that is on record, as the glossary counts: of a held call that was made again the last record, and a denial
 * if it was refused and nobody came back.
 */
export async function exportCalls(gate: Pick<ServingGate, 'folder'>): Promise<ExportedCall[]> {
  const calls: ExportedCall[] = []
  const [made, refused] = [new Set<string>(), new Set<unknown>()]
  for (const record of (await exportRecords(gate)).reverse()) {
    if (/^approval-(denied|expired)$/.test(record.kind === 'event' ? record.name : ''))
      refused.add(record.detail?.request)
    const { decision, approval = '' } = record
    if (decision === undefined) continue
    const isHeld = decision.action === 'require_approval'
    if (!isHeld || !made.has(approval)) {
      const action = isHeld && refused.has(approval) ? 'deny' : decision.action
      calls.unshift({ ...record, decision: { ...decision, action } })
    }
    if (approval !== '') made.add(approval)
  }
  return calls
}

async function exportRecords(gate: Pick<ServingGate, 'folder'>): Promise<ExportedRecord[]> {
  const config = join(gate.folder, 'sluice.yaml')
  const { stdout } = await sluice(['ledger', 'export', '--config', config, '--format', 'jsonl'])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportedRecord)
}

export function countBy(
  calls: readonly ExportedCall[],
  nameOf: (call: ExportedCall) => string,
): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const call of calls) counts[nameOf(call)] = (counts[nameOf(call)] ?? 0) + 1
  return counts
}

/** As the console writes an amount. Summed in cents: the console adds exactly. */
export function sumAmounts(calls: readonly ExportedCall[]): string {
  const cents = calls.reduce((sum, call) => sum + Math.round(amountOf(call) * 100), 0)
  return (cents / 100).toLocaleString('en', { maximumFractionDigits: 6 })
}

export function amountOf({ judged }: ExportedCall): number {
  return Number(judged?.['args.amount'] ?? 0)
}
