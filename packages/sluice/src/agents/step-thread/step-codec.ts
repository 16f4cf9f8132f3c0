// Requests to the step thread and its answers as they cross: JSON as one text, which is cheaper than
// a copy of objects, and bytes beside it. Used on both sides of the thread.

import type { ResultOf } from '../shared/sliced.ts'
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

export function packAnswer(name: keyof Operations, value: unknown): StepAnswer {
  return hasBytes(name, value) ? { text: null, value } : { text: JSON.stringify(value) }
}

export function readAnswer(answer: StepAnswer): { value: unknown; length: number } {
  if (answer.text === null) return { value: answer.value, length: Number.POSITIVE_INFINITY }
  const { text } = answer
  return { value: text === undefined ? undefined : JSON.parse(text), length: text?.length ?? 0 }
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
