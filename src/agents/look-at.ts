// An agent as somebody looks at it from outside: conversation, todos, files and what its family has
// used, now or as it was after a turn. Looking changes nothing. Called in the step thread.

import type { FileFacts, Portable } from '../guest/words.ts'
import { AgentError } from './errors.ts'
import { LIMITS } from './residents.ts'
import type { AgentRow, FamilyRow } from './rows.ts'
import { type Stepper, unwrap } from './stepper.ts'

export interface Looked {
  readonly agent: AgentRow
  readonly family: FamilyRow
  readonly portable: Portable
  readonly files: readonly FileFacts[]
}

const PORTABLE = '{"ask":"portable"}'
const FILES = '{"ask":"files"}'

export function lookAt(
  stepper: Stepper,
  agent: AgentRow,
  turn: number | null,
  nowMs: number,
): Looked {
  const { journal, residents } = stepper
  const family = journal.family(agent.family)
  if (turn === null || turn >= agent.summary.turnCount)
    return residents.asking(agent, nowMs, (ask) => ({
      ...{ agent, family },
      portable: unwrap<Portable>(ask(PORTABLE).text),
      files: unwrap<FileFacts[]>(ask(FILES).text),
    }))
  const seq = journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError('AGENT_INPUT', `\`${agent.id}\` has no turn ${turn} in its journal`)
  const instance = residents.at(agent, seq)
  try {
    const ask = (text: string) => instance.call({ operation: 'ask', text, nowMs }, LIMITS).text
    return {
      ...{ agent, family },
      portable: unwrap<Portable>(ask(PORTABLE)),
      files: unwrap<FileFacts[]>(ask(FILES)),
    }
  } finally {
    residents.giveBack(instance)
  }
}
