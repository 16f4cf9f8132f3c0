// An agent as somebody looks at it from outside: conversation, todos, files and what its family has
// used, now or as it was after a turn. Looking changes nothing. Called in the step thread.

import type {
  AgentQuery,
  ChatMessage,
  FileFacts,
  PortableAgent,
  Summary,
} from '../guest/protocol.ts'
import { readAgent } from '../journal/read-rows.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import type { GuestAnswer } from '../sandbox/instance.ts'
import { AgentError } from '../shared/errors.ts'
import {
  LOOKED_FILE_BYTES_MAX,
  LOOKED_MESSAGES_MAX,
  LOOKED_TASK_LENGTH,
  MESSAGES_PAGE_LENGTH,
} from '../shared/limits.ts'
import { LIMITS } from '../steps/residents.ts'
import { type Stepper, unwrap } from '../steps/stepper.ts'
import type { ListedAgent } from './operation-results.ts'

export interface AgentSnapshot {
  readonly agent: AgentRow
  readonly family: FamilyRow
  readonly portable: Omit<PortableAgent, 'messages'>
  /** The last of them, as far as they fit. */
  readonly messages: readonly ChatMessage[]
  readonly files: readonly FileFacts[]
  /** What was known of the agent then. */
  readonly summary: Summary
}

type RunQuery = (text: string) => GuestAnswer

export function inspectAgent(
  stepper: Stepper,
  agent: AgentRow,
  turn: number | null,
  nowMs: number,
): AgentSnapshot {
  const family = stepper.journal.family(agent.family)
  return askAt({ stepper, agent, turn, nowMs }, (ask) => collectSnapshot(agent, family, ask))
}

/** A file as it is, or as it was after a turn. */
export interface InspectedFile {
  readonly isText: boolean
  /** The content, cut; in base64 if it is no text. */
  readonly text: string
}

/** Throws AgentError if there is no such file. */
export function inspectFile(place: InspectedPlace, path: string): InspectedFile {
  return askAt(place, (ask) => {
    const { text, bytes = new Uint8Array() } = ask(JSON.stringify({ ask: 'read', path }))
    const { isText } = unwrap<FileFacts>(text)
    const content = Buffer.from(bytes.subarray(0, LOOKED_FILE_BYTES_MAX))
    return { isText, text: content.toString(isText ? 'utf8' : 'base64') }
  })
}

/** The newest agents of every owner but those of programs (`toProgramOwner`). The first prompt is among the first
 * events, if there is one. */
const LIST_ALL = `SELECT a.*,
    (SELECT substr(json_extract(e.event, '$.input'), 1, ${LOOKED_TASK_LENGTH}) FROM events e
      WHERE e.agent = a.agent AND e.seq < 50 AND e.kind = 'prompt' ORDER BY e.seq LIMIT 1) AS task,
    (SELECT e.at FROM events e WHERE e.agent = a.agent AND e.seq = a.seq) AS last_at
  FROM agents a WHERE a.owner NOT LIKE 'code/%' ORDER BY a.agent DESC LIMIT $1`

export function listAllAgents({ journal }: Stepper, limit: number): ListedAgent[] {
  return journal.all(LIST_ALL, limit).map((row) => ({
    ...readAgent(row),
    task: typeof row.task === 'string' ? row.task : null,
    lastAt: Number(row.last_at ?? row.created_at),
  }))
}

export interface InspectedPlace {
  readonly stepper: Stepper
  readonly agent: AgentRow
  /** Null for now. */
  readonly turn: number | null
  readonly nowMs: number
}

function askAt<Result>(
  { stepper, agent, turn, nowMs }: InspectedPlace,
  work: (ask: RunQuery) => Result,
): Result {
  const { journal, residents } = stepper
  if (turn === null || turn >= agent.summary.turnCount) return residents.asking(agent, nowMs, work)
  const seq = journal.seqOfTurn(agent.key, turn)
  if (seq === undefined)
    throw new AgentError('AGENT_INPUT', `\`${agent.id}\` has no turn ${turn} in its journal`)
  const instance = residents.at(agent, seq)
  try {
    return work((text) => instance.call({ operation: 'ask', text, nowMs }, LIMITS))
  } finally {
    residents.release(instance)
  }
}

function collectSnapshot(agent: AgentRow, family: FamilyRow, ask: RunQuery): AgentSnapshot {
  const value = <Value>(question: AgentQuery) => unwrap<Value>(ask(JSON.stringify(question)).text)
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
    agent,
    family,
    messages,
    portable: value({ ask: 'portable' }),
    files: value({ ask: 'files' }),
    summary: value({ ask: 'summary' }),
  }
}

interface MessagePage {
  readonly messages: readonly ChatMessage[]
  readonly next: number | null
}
