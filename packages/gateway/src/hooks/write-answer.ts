// Writes the gate's answer to a hook in the words of each client. What the policy allows gets no opinion, so
// the client still asks its own questions. Codex runs a command on every answer but a denial with a reason,
// so nothing else is ever written for it before a tool.

import type { JsonObject } from '@sluice/policy/core/json'
import type { HookAnswer, HookClient, HookEvent } from './hook-event.ts'

export function writeHookAnswer(
  client: HookClient,
  kind: HookEvent['kind'],
  answer: HookAnswer,
): JsonObject {
  if (answer.kind === 'pass') return {}
  if (answer.kind === 'replace') return writeReplacement(client, answer)
  const { reason } = answer
  if (client === 'gemini') return { decision: 'deny', reason }
  if (kind !== 'before') return { decision: 'block', reason }
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }
}

function writeReplacement(
  client: HookClient,
  { output, reason }: Extract<HookAnswer, { kind: 'replace' }>,
): JsonObject {
  // Gemini CLI shows the model the reason in place of the output.
  if (client === 'gemini') {
    const text = typeof output === 'string' ? output : JSON.stringify(output)
    return { decision: 'deny', reason: reason ?? text }
  }
  const why = reason === undefined ? {} : { decision: 'block', reason }
  return { ...why, hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: output } }
}
