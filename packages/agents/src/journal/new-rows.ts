// Rows of agents that are being made. Pure.

import type { JournalEvent, Limits, Summary } from '../guest/protocol.ts'
import type { AgentRow, FamilyRow } from './rows.ts'

/** What an agent is made with. */
type MadeFields = 'id' | 'owner' | 'depth' | 'image' | 'createdAt' | 'asked' | 'model' | 'template'

export interface NewAgent extends Pick<AgentRow, MadeFields | 'grants' | 'price'> {
  /** Absent: a family of its own. */
  readonly family?: number
  /** Joins the family even if its last agent was removed: its budget goes on. */
  readonly continues?: boolean
  readonly limits: Limits
  /** Labels of its creator; its family has them from now on. */
  readonly labels?: readonly string[]
}

export type CreateEvent = Extract<JournalEvent, { kind: 'create' }>

/** What the event that creates an agent does not say of it. */
export type AgentOrigin = Pick<
  NewAgent,
  'owner' | 'family' | 'depth' | 'image' | 'asked' | 'grants' | 'labels'
>

export function newAgent(beside: AgentOrigin, { id, at, config }: CreateEvent): NewAgent {
  const { owner, family, depth, image, asked, grants, labels = [] } = beside
  const { model, template, limits, price } = config
  const made = { id, owner, depth, image, createdAt: at, asked, model, template, grants }
  return { ...made, limits, price, labels, ...(family === undefined ? {} : { family }) }
}

/** What agents have in common that are made at once. */
export type SharedAgentFields = Omit<NewAgent, 'id' | 'limits' | 'labels' | 'continues'> & {
  readonly family: number
}

export function rowOf(
  about: SharedAgentFields,
  summary: Summary,
  seq: number,
): Omit<AgentRow, 'key' | 'id'> {
  const { owner, family, depth, image, createdAt, asked, model, price, template, grants } = about
  const known = { owner, family, depth, image, createdAt, asked, model, price, template, grants }
  return { ...known, seq, state: summary.state, summary, hostStop: null, pausedAt: null }
}

export function newFamily(made: Pick<NewAgent, 'limits' | 'price' | 'labels'>): FamilyRow {
  const { limits, price, labels = [] } = made
  return { turns: 0, tokens: 0, costMicros: 0, calls: 0, members: 1, limits, price, labels }
}

/** Keys of one statement follow one another. */
export function rowsOf(
  row: Omit<AgentRow, 'key' | 'id'>,
  first: number,
  ids: readonly string[],
): AgentRow[] {
  return ids.map((id, at) => ({ key: first + at, id, ...row }))
}
