// The model of the agents that run a client's programs: the prompt is the program, its only turn is `run_code`, and what
// that results in is the answer. So a program has what every run has: a name, a queue, a result that stays.

import type { ChatMessage } from '../guest/protocol.ts'
import type { ModelAnswer } from './models.ts'

export const PROGRAM_MODEL = 'code:program'

const NOTHING = { inputTokens: 0, outputTokens: 0 }

export function passProgram(last: ChatMessage | undefined, turn: number): ModelAnswer {
  const content = last?.content ?? ''
  if (last?.role === 'tool') return { text: content, toolCalls: [], usage: NOTHING }
  const call = { id: `code_${turn}`, name: 'run_code', input: { code: content } }
  return { text: '', toolCalls: [call], usage: NOTHING }
}
