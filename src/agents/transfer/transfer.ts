// Imports on their way in, as the service hands them on: which tools and which price the new owner has
// is decided here, from the owner's side, never from the export's.

import type { Price } from '../../guest/words.ts'
import { AgentError } from '../errors.ts'
import type { Steps } from '../steps/step-client.ts'
import type { GateTool } from '../tool-gate.ts'
import type { Imported } from './bring-import.ts'

export interface ImportSetting {
  readonly steps: Steps
  readonly owner: string
  readonly id: string
  readonly nowMs: number
  readonly installation: string
  readonly trusted: readonly string[]
  readonly available: readonly GateTool[]
  priceOf(model: string): Price | null
}

export async function importGiven(given: unknown, setting: ImportSetting): Promise<Imported> {
  const { steps, available, priceOf, ...rest } = setting
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null))
    throw new AgentError('AGENT_IMPORT', 'an import is an export as object or text, or a bundle')
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const tools = available.map(({ server, name, description, inputSchema }) => ({
    name: `${server}__${name}`.replace(/[^\w-]/g, '_').slice(0, 64),
    server,
    tool: name,
    description,
    inputSchema,
  }))
  const price = priceOf(modelIn(given))
  return steps.import(text, { ...rest, tools, price })
}

/** Only to find the price by; what it says is checked where the import is read. */
function modelIn(given: unknown): string {
  const { agentState } = (typeof given === 'object' ? given : {}) as {
    agentState?: { config?: { model?: unknown } }
  }
  const model = agentState?.config?.model
  return typeof model === 'string' ? model : ''
}
