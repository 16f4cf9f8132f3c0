// Passes an agent's prompt, and who wrote it, to the gate before the run that it begins. An agent of the
// same family is judged by the same session, so that nothing has to be handed on.

import { processClock } from '@sluice/ledger/store/process-clock'
import type { AgentRow } from '../journal/rows.ts'
import type { ToolGate } from '../shared/tool-gate.ts'
import type { Steps } from '../step-thread/step-client.ts'
import type { PromptArguments } from './service-types.ts'

export async function notePrompt(
  { owner, id, family }: AgentRow,
  { input, writer = { kind: 'model' } }: PromptArguments,
  steps: Pick<Steps, 'standing'>,
  gate: ToolGate | undefined,
): Promise<void> {
  if (gate?.notePrompt === undefined) return
  const nowMs = processClock.nowMs()
  if ('agent' in writer) {
    const { agent } = await steps.standing(owner, writer.agent, nowMs)
    if (agent.family === family) return
  }
  const { labels } = (await steps.standing(owner, id, nowMs)).family
  const isUsers = 'kind' in writer && writer.kind === 'person'
  await gate.notePrompt({ owner, family: String(family), labels, text: input, isUsers })
}
