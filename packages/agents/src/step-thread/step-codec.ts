// Requests to the step thread and its answers as they cross: JSON as one text, which is cheaper than
// a copy of objects, unless there are bytes in them. Used on both sides of the thread.

import type { ResultOf } from '../shared/sliced.ts'
import type { Operations } from './operations.ts'

/** A request as text, or as it is if there are bytes in it. */
export type StepRequest = { readonly name: keyof Operations } & (
  | {
      readonly text: string
      /** Values that were not given, by their place. */
      readonly gaps: readonly number[]
    }
  | { readonly text: null; readonly values: unknown[] }
)

/** Operations whose values are objects with bytes in them. */
const WITH_BYTES: ReadonlySet<keyof Operations> = new Set(['move', 'import'])

/** An answer as text, or as it is if there are bytes in it. */
export type StepAnswer =
  | { readonly text: string | undefined }
  | { readonly text: null; readonly value: unknown }

/** Asks for the next slice of an operation that said it is not done. */
export interface NextSlice {
  readonly slice: number
}

/** The answer; or that there is more to do; or that a new thread knows nothing of it. */
export type SliceAnswer = StepAnswer | NextSlice | { readonly isLost: true }

export function packRequest(name: keyof Operations, values: unknown[]): StepRequest {
  if (WITH_BYTES.has(name) || values.some((value) => value instanceof Uint8Array))
    return { name, text: null, values }
  const gaps = values.flatMap((value, place) => (value === undefined ? [place] : []))
  return { name, text: JSON.stringify(values), gaps }
}

export function readRequest(request: StepRequest): unknown[] {
  if (request.text === null) return request.values
  const values = JSON.parse(request.text) as unknown[]
  for (const place of request.gaps) values[place] = undefined
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
