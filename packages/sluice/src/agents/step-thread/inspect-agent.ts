// An agent as somebody looks at it from outside: conversation, todos, files and what its family has
// used, now or as it was after a turn. Looking changes nothing. Called in the step thread.

import type { FileFacts, Message, Portable, Question } from '../../guest/protocol.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import { AgentError } from '../shared/errors.ts'
import { LOOKED_MESSAGES_MAX, MESSAGES_PAGE_LENGTH } from '../shared/limits.ts'
import { LIMITS } from '../steps/residents.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'

export interface Looked {
  readonly agent: AgentRow
  readonly family: FamilyRow
  readonly portable: Omit<Portable, 'messages'>
  /** The last of them, as far as they fit. */
  readonly messages: readonly Message[]
  readonly files: readonly FileFacts[]
}

type Ask = (text: string) => string

export function lookAt(
  stepper: Stepper,
  agent: AgentRow,
  turn: number | null,
  nowMs: number,
): Looked {
  const { journal, residents } = stepper
  const family = journal.family(agent.family)
  if (turn === null || turn >= agent.summary.turnCount)
    return residents.asking(agent, nowMs, (ask) => look(agent, family, (text) => ask(text).text))
  const seq = journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError('AGENT_INPUT', `\`${agent.id}\` has no turn ${turn} in its journal`)
  const instance = residents.at(agent, seq)
  try {
    return look(
      agent,
      family,
      (text) => instance.call({ operation: 'ask', text, nowMs }, LIMITS).text,
    )
  } finally {
    residents.giveBack(instance)
  }
}

function look(agent: AgentRow, family: FamilyRow, ask: Ask): Looked {
  const value = <Value>(question: Question) => unwrap<Value>(ask(JSON.stringify(question)))
  const messages: Message[] = []
  for (let from: number | null = 0; from !== null; ) {
    const question: Question = { ask: 'messages', from, bytesMax: MESSAGES_PAGE_LENGTH }
    const page: MessagePage = value(question)
    messages.push(...page.messages)
    if (messages.length > LOOKED_MESSAGES_MAX)
      messages.splice(0, messages.length - LOOKED_MESSAGES_MAX)
    from = page.next
  }
  return {
    ...{ agent, family, messages },
    portable: value({ ask: 'portable' }),
    files: value({ ask: 'files' }),
  }
}

interface MessagePage {
  readonly messages: readonly Message[]
  readonly next: number | null
}
