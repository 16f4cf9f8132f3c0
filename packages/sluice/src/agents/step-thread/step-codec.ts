// Requests to the step thread and its answers as they cross: JSON as one text, which is cheaper than
// a copy of objects, and bytes beside it. What the one who asked has said himself, and what an answer
// would say twice, is left out and put back on the other side. Used on both sides of the thread.

import {
  type AgentOrigin,
  type CreateEvent,
  newAgent,
  newFamily,
  rowOf,
  rowsOf,
} from '../journal/new-rows.ts'
import type { AgentRow, FamilyRow } from '../journal/rows.ts'
import type { ResultOf } from '../shared/sliced.ts'
import type { AppliedStep } from '../steps/stepper.ts'
import type { Operations } from './operations.ts'

export interface StepRequest {
  readonly name: keyof Operations
  readonly text: string
  /** Values that were not given, by their place. */
  readonly gaps: readonly number[]
  readonly bytes: readonly PlacedBytes[]
}

/** Bytes beside the text: a value, or a member of one. */
type PlacedBytes = readonly [place: number, bytes: Uint8Array, member?: string]

/** Operations whose values are objects with bytes in them. */
const WITH_BYTES: ReadonlySet<keyof Operations> = new Set(['move', 'import'])

/** As text; as it is if there are bytes in it. */
export type StepAnswer =
  | { readonly text: string | undefined }
  | { readonly text: null; readonly value: unknown }

/** Asks for the next slice of an operation that said it is not done. */
export interface NextSlice {
  readonly slice: number
}

/** The answer; or that there is more to do; or that a new thread knows nothing of it. */
export type SliceAnswer = StepAnswer | NextSlice | { readonly isLost: true }

export function packRequest(name: keyof Operations, values: readonly unknown[]): StepRequest {
  const gaps: number[] = []
  const bytes: PlacedBytes[] = []
  const plain = values.map((value, place) => {
    if (value === undefined) gaps.push(place)
    if (value instanceof Uint8Array) {
      bytes.push([place, value])
      return null
    }
    return WITH_BYTES.has(name) ? takeBytes(value, place, bytes) : value
  })
  return { name, text: JSON.stringify(plain), gaps, bytes }
}

/** The value without the members that are bytes, which are put into `bytes`. */
function takeBytes(value: unknown, place: number, bytes: PlacedBytes[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const rest: [string, unknown][] = []
  for (const [member, each] of Object.entries(value))
    if (each instanceof Uint8Array) bytes.push([place, each, member])
    else rest.push([member, each])
  return Object.fromEntries(rest)
}

export function readRequest({ text, gaps, bytes }: StepRequest): unknown[] {
  const values = JSON.parse(text) as unknown[]
  for (const place of gaps) values[place] = undefined
  for (const [place, each, member] of bytes)
    if (member === undefined) values[place] = each
    else (values[place] as Record<string, unknown>)[member] = each
  return values
}

/** `values` are those of the request, here and on the other side. */
export function packAnswer(
  name: keyof Operations,
  values: readonly unknown[],
  value: unknown,
): StepAnswer {
  if (hasBytes(name, value)) return { text: null, value }
  const short = SHORT[name] === undefined ? value : SHORT[name].shorten(value as never, values)
  return { text: JSON.stringify(short) }
}

export function readAnswer(
  name: keyof Operations,
  values: readonly unknown[],
  answer: StepAnswer,
): { value: unknown; length: number } {
  if (answer.text === null) return { value: answer.value, length: Number.POSITIVE_INFINITY }
  const { text } = answer
  const read = text === undefined ? undefined : JSON.parse(text)
  const value = SHORT[name] === undefined ? read : SHORT[name].restore(read as never, values)
  return { value, length: text?.length ?? 0 }
}

interface AnswerPacking<Whole, Part> {
  shorten(whole: Whole, values: readonly unknown[]): Part
  restore(part: Part, values: readonly unknown[]): Whole
}

interface PackedCreate extends Pick<AppliedStep, 'step' | 'runStartedAt'> {
  readonly key: number
  readonly family: number
  /** Null if it is one of its own. */
  readonly joined: FamilyRow | null
}

const CREATED: AnswerPacking<AppliedStep, PackedCreate> = {
  shorten: ({ agent, family, step, runStartedAt }, [given]) => {
    const joined = (given as AgentOrigin).family === undefined ? null : family
    return { key: agent.key, family: agent.family, joined, step, runStartedAt }
  },
  restore: ({ key, family, joined, step, runStartedAt }, [given, event]) => {
    const fresh = newAgent(given as AgentOrigin, event as CreateEvent)
    const agent = { key, id: fresh.id, ...rowOf({ ...fresh, family }, step.summary, 1) }
    return { agent, family: joined ?? newFamily(fresh), step, runStartedAt }
  },
}

type PackedStep = Omit<AppliedStep, 'agent'> & {
  agent: Omit<AgentRow, 'summary'> & Partial<AgentRow>
}

/** A step says how its agent stands, and so would the agent's row. */
const APPLIED: AnswerPacking<AppliedStep, PackedStep> = {
  shorten: (applied) => {
    const { summary, ...agent } = applied.agent
    return summary === applied.step.summary ? { ...applied, agent } : applied
  },
  restore: (applied) => {
    const { summary } = applied.step
    return { ...applied, agent: { summary, ...applied.agent } }
  },
}

interface PackedForks {
  readonly first: number
  readonly row: Omit<AgentRow, 'key' | 'id'>
}

/** Forks differ by their names, and these were given. */
const FORKED: AnswerPacking<AgentRow[], PackedForks> = {
  shorten: ([origin]) => {
    const { key, id: _, ...row } = origin as AgentRow
    return { first: key, row }
  },
  restore: ({ first, row }, values) => rowsOf(row, first, values[2] as string[]),
}

const SHORT: { readonly [Name in keyof Operations]?: AnswerPacking<never, never> } = {
  create: CREATED as AnswerPacking<never, never>,
  apply: APPLIED as AnswerPacking<never, never>,
  fork: FORKED as AnswerPacking<never, never>,
}

function hasBytes(name: keyof Operations, value: unknown): boolean {
  switch (name) {
    case 'ask':
      return (value as ReturnType<Operations['ask']>).content !== undefined
    case 'files':
      return (value as ResultOf<ReturnType<Operations['files']>>).files.some((file) => file.content)
    case 'programFiles':
    case 'takeExport':
      return true
    default:
      return false
  }
}
