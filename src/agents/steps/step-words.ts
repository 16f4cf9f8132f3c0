// Requests to the step thread and its answers as they cross: JSON as one text, which is cheaper than
// a copy of objects, and bytes beside it. Used on both sides of the thread.

import type { Operations } from './operations.ts'

export interface StepRequest {
  readonly name: keyof Operations
  readonly text: string
  /** Values that were not given, by their place. */
  readonly gaps: readonly number[]
  readonly bytes: readonly (readonly [place: number, bytes: Uint8Array])[]
}

/** As text; as it is where there are bytes in it. */
export type StepAnswer =
  | { readonly text: string | undefined }
  | { readonly text: null; readonly value: unknown }

export function packRequest(name: keyof Operations, values: readonly unknown[]): StepRequest {
  const gaps: number[] = []
  const bytes: [number, Uint8Array][] = []
  const plain = values.map((value, place) => {
    if (value === undefined) gaps.push(place)
    if (!(value instanceof Uint8Array)) return value
    bytes.push([place, value])
    return null
  })
  return { name, text: JSON.stringify(plain), gaps, bytes }
}

export function readRequest({ text, gaps, bytes }: StepRequest): unknown[] {
  const values = JSON.parse(text) as unknown[]
  for (const place of gaps) values[place] = undefined
  for (const [place, each] of bytes) values[place] = each
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
      return (value as ReturnType<Operations['files']>).files.some((file) => file.content)
    case 'export':
      return (value as ReturnType<Operations['export']>).memory !== undefined
    case 'allFiles':
      return true
    default:
      return false
  }
}
