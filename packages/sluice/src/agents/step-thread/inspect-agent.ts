// An agent as somebody looks at it from outside: conversation, todos, files and what its family has
// used, now or as it was after a turn. Looking changes nothing. Called in the step thread.

import type { AgentQuery, ChatMessage, FileFacts, PortableAgent } from '../../guest/protocol.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import { AgentError } from '../shared/errors.ts'
import { LOOKED_MESSAGES_MAX, MESSAGES_PAGE_LENGTH } from '../shared/limits.ts'
import { LIMITS } from '../steps/residents.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'

export interface AgentSnapshot {
  readonly agent: AgentRow
  readonly family: FamilyRow
  readonly portable: Omit<PortableAgent, 'messages'>
  /** The last of them, as far as they fit. */
  readonly messages: readonly ChatMessage[]
  readonly files: readonly FileFacts[]
}

type RunQuery = (text: string) => string

export function inspectAgent(
  stepper: Stepper,
  agent: AgentRow,
  turn: number | null,
  nowMs: number,
): AgentSnapshot {
  const { journal, residents } = stepper
  const family = journal.family(agent.family)
  if (turn === null || turn >= agent.summary.turnCount)
    return residents.asking(agent, nowMs, (ask) =>
      collectSnapshot(agent, family, (text) => ask(text).text),
    )
  const seq = journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError('AGENT_INPUT', `\`${agent.id}\` has no turn ${turn} in its journal`)
  const instance = residents.at(agent, seq)
  try {
    return collectSnapshot(
      agent,
      family,
      (text) => instance.call({ operation: 'ask', text, nowMs }, LIMITS).text,
    )
  } finally {
    residents.release(instance)
  }
}

function collectSnapshot(agent: AgentRow, family: FamilyRow, ask: RunQuery): AgentSnapshot {
  const value = <Value>(question: AgentQuery) => unwrap<Value>(ask(JSON.stringify(question)))
  const messages: ChatMessage[] = []
  for (let from: number | null = 0; from !== null; ) {
    const question: AgentQuery = { ask: 'messages', from, bytesMax: MESSAGES_PAGE_LENGTH }
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
  readonly messages: readonly ChatMessage[]
  readonly next: number | null
}
