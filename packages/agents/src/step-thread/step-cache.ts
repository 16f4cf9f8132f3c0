// What this side knows of agents since the step thread spoke of them last: rows, the family's count
// and answers of guests, followed from step to step. The thread is the only one that changes any of it and speaks in
// the order in which it works, so this is never older than what any caller has been told. Losing it
// loses nothing. Owned by step-client.ts.

import { LruMap } from '@sluice/policy/structures/lru-map'
import type { AgentQuery, StepResult, Summary, Todo } from '../guest/protocol.ts'
import { findHostStop } from '../journal/family-limits.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import { AgentError } from '../shared/errors.ts'
import {
  ANSWER_KEPT_BYTES_MAX,
  ANSWERS_KEPT_BYTES_MAX,
  ANSWERS_KEPT_MAX,
  ROWS_KEPT_MAX,
} from '../shared/limits.ts'
import type { AppliedStep } from '../steps/stepper.ts'
import type { AgentAnswer, AgentFiles, AgentStatus } from './operation-results.ts'
import type { Operations } from './operations.ts'

type Name = keyof Operations
type AnswerValue = AgentAnswer | AgentFiles

interface CachedAgent {
  readonly agent: AgentRow
  /** When the run began; undefined if it was not said. */
  readonly runStartedAt: number | null | undefined
}

interface CachedAnswer {
  readonly seq: number
  readonly answered: AnswerValue
  readonly length: number
}

const TODOS: AgentQuery = { ask: 'todos' }
/** What a list takes beside its texts, an element. */
const ELEMENT_LENGTH = 120

export class StepCache {
  readonly #agents = new LruMap<string, CachedAgent>(ROWS_KEPT_MAX)
  readonly #families = new LruMap<number, FamilyRow>(ROWS_KEPT_MAX)
  readonly #answers = new Map<string, CachedAnswer>()
  #length = 0

  /** Returns undefined if the thread has to be asked. */
  answer(name: Name, values: readonly unknown[]): unknown {
    if (name === 'standing') {
      const [owner, id, nowMs] = values as Parameters<Operations['standing']>
      return this.#standing(owner, id, nowMs)
    }
    if (name !== 'ask' && name !== 'files') return undefined
    const [owner, id, question] = values as [string | null, string, AgentQuery]
    const agent = this.#find(owner, id)?.agent
    if (agent === undefined) return undefined
    const known = this.#answer(titleOf(name, id, question), agent.seq)
    if (known !== undefined) return known.answered
    const value = name === 'ask' && question.ask === 'todos' ? noTodos(agent.summary) : undefined
    return value && { agent, value, content: undefined }
  }

  /** What an agent holds in files; undefined if nothing is known of it. */
  fileBytes(id: string): number | undefined {
    return this.#agents.get(id)?.agent.summary.fileBytes
  }

  /** Whose agent it is; undefined if nothing is known of it. */
  ownerOf(id: string): string | undefined {
    return this.#agents.get(id)?.agent.owner
  }

  #answer(title: string, seq: number): CachedAnswer | undefined {
    const known = this.#answers.get(title)
    return known?.seq === seq ? known : undefined
  }

  /** What the thread said. */
  note(name: Name, values: readonly unknown[], value: unknown, length: number): void {
    switch (name) {
      case 'create':
      case 'apply':
      case 'addLabels':
      case 'standing': {
        const { agent, family, runStartedAt } = value as AppliedStep | AgentStatus
        if (name === 'apply') this.#follow(agent, (value as AppliedStep).step)
        this.#keep(agent, runStartedAt)
        this.#families.set(agent.family, family)
        return
      }
      case 'move':
        return this.#keep(value as AgentRow, undefined)
      case 'chargeFamily':
        return this.#families.delete(values[0] as number)
      case 'chargeCall': {
        const known = this.#agents.get(String(values[0]))
        return known && this.#families.delete(known.agent.family)
      }
      case 'import':
        return this.#families.delete((value as { agent: AgentRow }).agent.family)
      case 'takeOver':
        return (value as { wasFenced: boolean }).wasFenced ? this.#clear() : undefined
      case 'remove':
        return this.forget(name, values)
      case 'ask':
      case 'files': {
        const answered = value as AnswerValue
        this.#keep(answered.agent, undefined)
        return this.#keepAnswer(titleOf(name, answered.agent.id, values[2]), answered, length)
      }
    }
  }

  /** Todos after a step, as it says what it made of them; if it says nothing, those before it. */
  #follow(agent: AgentRow, { changes }: StepResult): void {
    const before = this.#agents.get(agent.id)?.agent
    if (changes === undefined || before?.seq !== agent.seq - 1) return
    const title = titleOf('ask', agent.id, TODOS)
    const known = this.#answer(title, before.seq)
    const same = (known?.answered as { value: readonly Todo[] } | undefined)?.value
    const value = changes?.todos ?? same ?? noTodos(before.summary)
    if (value === undefined) return
    const length = value === same ? known?.length : lengthOf(value)
    this.#keepAnswer(title, { agent, value, content: undefined }, length ?? 0)
  }

  /** A change of which nobody knows whether it was made. */
  forget(name: Name, values: readonly unknown[]): void {
    if (name === 'apply' || name === 'remove' || name === 'move')
      this.#agents.delete(String(values[1]))
  }

  #clear(): void {
    this.#agents.clear()
    this.#families.clear()
    this.#answers.clear()
    this.#length = 0
  }

  #standing(owner: string | null, id: string, nowMs: number): AgentStatus | undefined {
    const known = this.#find(owner, id)
    if (known?.runStartedAt === undefined) return undefined
    const { agent, runStartedAt } = known
    const family = this.#families.get(agent.family)
    if (family === undefined) return undefined
    const footing = { family, runStartedAt }
    return { agent, held: findHostStop(agent, footing, nowMs), ...footing }
  }

  /** Somebody else's agent is as unknown as one that never was. */
  #find(owner: string | null, id: string): CachedAgent | undefined {
    const known = this.#agents.get(id)
    if (known !== undefined && owner !== null && known.agent.owner !== owner)
      throw new AgentError('AGENT_NOT_FOUND', `there is no agent \`${id}\``)
    return known
  }

  #keep(agent: AgentRow, runStartedAt: number | null | undefined): void {
    const before = this.#agents.get(agent.id)
    const isSame = before?.agent.seq === agent.seq
    const started = runStartedAt === undefined && isSame ? before.runStartedAt : runStartedAt
    this.#agents.set(agent.id, { agent, runStartedAt: started })
  }

  #keepAnswer(title: string, answered: AnswerValue, length: number): void {
    const before = this.#answers.get(title)
    if (before !== undefined) this.#length -= before.length
    this.#answers.delete(title)
    if (length > ANSWER_KEPT_BYTES_MAX) return
    this.#answers.set(title, { seq: answered.agent.seq, answered, length })
    this.#length += length
    for (const [name, oldest] of this.#answers) {
      if (this.#answers.size <= ANSWERS_KEPT_MAX && this.#length <= ANSWERS_KEPT_BYTES_MAX) break
      this.#answers.delete(name)
      this.#length -= oldest.length
    }
  }
}

function titleOf(name: Name, id: string, question: unknown): string {
  return `${id} ${name} ${JSON.stringify(question)}`
}

function lengthOf(todos: readonly Todo[]): number {
  return todos.reduce((length, { content }) => length + ELEMENT_LENGTH + content.length, 0)
}

/** The list of an agent that has none; undefined if it has some. */
function noTodos({ todos }: Summary): readonly Todo[] | undefined {
  return Object.values(todos).every((count) => count === 0) ? [] : undefined
}
