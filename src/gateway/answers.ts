// What callers are told when a call does not go on. A denied tool call is a result the model can
// act on; a hidden name is answered exactly as a name no server has. Only the gate speaks under
// `sluice`: a server's answer loses that name on the way.

import type { Decision } from '../core/decision.ts'
import type { KnownTool } from '../core/tools.ts'
import { TOOL_CALL } from '../policy/methods.ts'
import type { Id } from '../wire/message.ts'
import { RPC } from '../wire/rpc-codes.ts'
import { writeError, writeResult } from '../wire/write-message.ts'

export function refusalAnswer(id: Id, method: string, name: string, decision: Decision, tool: KnownTool | undefined): string {
  if (decision.action === 'hide') return unknownAnswer(id, method, name)
  const told = {
    decision: decision.action,
    code: decision.code,
    reason: decision.reason,
    ...(Number.isFinite(decision.retryAfterMs) && decision.retryAfterMs > 0 ? { retryAfterMs: Math.ceil(decision.retryAfterMs) } : {}),
  }
  const text = `denied by policy: ${decision.reason}`
  if (method !== TOOL_CALL) return writeError(id, RPC.invalidRequest, text, { 'sluice/decision': told })
  return writeResult(
    id,
    JSON.stringify({
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'sluice/decision': told },
      ...(tool?.definition.outputSchema === undefined ? { structuredContent: { sluice: told } } : {}),
    }),
  )
}

function unknownAnswer(id: Id, method: string, name: string): string {
  if (method === TOOL_CALL) return writeError(id, RPC.invalidParams, `Unknown tool: ${name}`)
  if (method === 'prompts/get') return writeError(id, RPC.invalidParams, `Unknown prompt: ${name}`)
  return writeError(id, RPC.resourceNotFound, `Resource not found: ${name}`)
}

/** A server's result without what only the gate may say. */
export function withoutOurNames(resultText: string): string {
  if (!resultText.includes('sluice')) return resultText
  const result = JSON.parse(resultText) as { _meta?: Record<string, unknown>; structuredContent?: Record<string, unknown> }
  for (const key of Object.keys(result._meta ?? {})) if (/^sluice\b/i.test(key)) delete result._meta?.[key]
  if (result.structuredContent && typeof result.structuredContent === 'object') delete result.structuredContent.sluice
  return JSON.stringify(result)
}
