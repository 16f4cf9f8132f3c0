// Tools of OpenAI Agents (`@openai/agents`) behind a gate. The gate is asked when the framework asks whether a call needs
// approval, and by the same id again when it makes the call: a call that waits interrupts the run, whose state can be
// saved and resumed as with any other approval of the framework.

import type { FunctionTool } from '@openai/agents-core'
import type { AcsClient, Verdict } from '../support/acs-client.ts'

// biome-ignore lint/suspicious/noExplicitAny: arguments of any form, as in the framework's own type of all tools
type AnyTool = FunctionTool<unknown, any, any>

/** The same tool, decided on by the gate. */
export function guardTool(acs: AcsClient, tool: AnyTool): AnyTool {
  /** Decided on, and not made yet. */
  const verdicts = new Map<string, Verdict>()
  const ask = (input: string, id: string) =>
    acs.ask({ id, tool: tool.name, args: JSON.parse(input) })
  return {
    ...tool,
    needsApproval: async (_, args, id = '') => {
      const verdict = await ask(typeof args === 'string' ? args : JSON.stringify(args), id)
      if (verdict.is !== 'waiting') verdicts.set(id, verdict)
      return verdict.is === 'waiting'
    },
    invoke: async (context, input, details) => {
      const id = details?.toolCall?.callId ?? ''
      const verdict = verdicts.get(id) ?? (await ask(input, id))
      verdicts.delete(id)
      // The model reads why, and can do something else.
      if (verdict.is !== 'allowed') return verdict.reason
      const output = await tool.invoke(context, JSON.stringify(verdict.args), details)
      const text = typeof output === 'string' ? output : JSON.stringify(output)
      return String(await acs.result(verdict.step, tool.name, text))
    },
  }
}
