// What a caller reads of a run: with a schema, the value of its final answer. An answer that does not fit is asked for
// again once, by a run whose request is named after the first, so that a caller who looks again finds it.

import type { PromptAnswer } from '../service/service-types.ts'
import { type AnswerSchema, askAgain, type CheckedAnswer } from './answer-schema.ts'
import type { ToolSetting } from './tool-table.ts'
import { type AnsweredPromptView, promptView, type RunningPromptView } from './views.ts'

export interface AnswerSetting
  extends Pick<ToolSetting, 'service' | 'owner' | 'onProgress' | 'signal'> {
  /** The schema of the final answer, if the caller has one. */
  readonly wanted: AnswerSchema | undefined
  readonly waitMs: number | undefined
}

const SECOND = 'schema '

export async function viewAnswer(
  answer: PromptAnswer,
  setting: AnswerSetting,
): Promise<RunningPromptView | (AnsweredPromptView & Partial<CheckedAnswer>)> {
  const { wanted, service, owner, onProgress, signal, waitMs } = setting
  if (wanted === undefined || answer.state === 'running' || answer.stop.reason !== 'answered')
    return promptView(answer)
  const checked = await wanted.check(answer.response)
  const { id } = answer.agent
  if ('output' in checked || (await isSecond(answer, setting)))
    return { ...promptView(answer), ...checked }
  const prompt = {
    input: askAgain(checked.outputFault),
    form: wanted.form,
    requestId: SECOND + answer.runId,
    waitMs,
  }
  return viewAnswer(await service.prompt(owner, id, prompt, onProgress, signal), setting)
}

async function isSecond(
  { agent, runId }: Extract<PromptAnswer, { state: 'ended' }>,
  { service, owner }: AnswerSetting,
): Promise<boolean> {
  const run = await service.steps.run(owner, agent.id, runId)
  return run?.request?.startsWith(SECOND) === true
}
