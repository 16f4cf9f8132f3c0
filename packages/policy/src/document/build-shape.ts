// Builders of shapes: each keeps the literal types, so that `ShapeValue` knows what a value is.

import type { FormShape, KeyShape, Shape, ShapeFields } from './shape.ts'

export const BOOLEAN = { kind: 'boolean' } as const

/** A list whose entries have one shape. */
export interface ListShape<Of extends Shape> {
  readonly kind: 'list'
  readonly of: Of
  readonly max: number
}

/** A field of an object that has to be there. */
export interface RequiredField<Of extends Shape> {
  readonly shape: Of
  readonly doc: string
  readonly required: true
  /** A value that fits the shape, for editors and the reference page. */
  readonly example?: unknown
}

/** A text with one character at least. */
export function text(max: number): { readonly kind: 'text'; readonly max: number } {
  return { kind: 'text', max } as const
}

/** A text that may have no characters. */
export function textOrEmpty(max: number): {
  readonly kind: 'text'
  readonly max: number
  readonly empty: true
} {
  return { kind: 'text', max, empty: true } as const
}

/** One of these words. */
export function word<const Word extends string>(
  words: readonly Word[],
): { readonly kind: 'word'; readonly words: readonly Word[] } {
  return { kind: 'word', words } as const
}

/** A text of one form, which problems call `noun` and describe by `help`. */
export function form(
  noun: string,
  pattern: RegExp,
  help: string,
  more: Pick<FormShape, 'check' | 'secret' | 'code'> = {},
): FormShape {
  return { kind: 'form', noun, form: pattern, help, ...more }
}

export function integer(
  min: number,
  max: number,
): { readonly kind: 'integer'; readonly min: number; readonly max: number } {
  return { kind: 'integer', min, max } as const
}

export function duration(maxSeconds: number): {
  readonly kind: 'duration'
  readonly maxSeconds: number
} {
  return { kind: 'duration', maxSeconds } as const
}

/** A list, which may be empty. */
export function list<const Of extends Shape>(of: Of, max = 100): ListShape<Of> {
  return { kind: 'list', of, max } as const
}

/** A list with one entry at least: an empty one would mean nothing, or the opposite of what it looks like. */
export function someOf<const Of extends Shape>(
  of: Of,
  max = 100,
): ListShape<Of> & { readonly min: 1 } {
  return { kind: 'list', of, max, min: 1 } as const
}

export function record<const Keys extends KeyShape, const Of extends Shape>(
  keys: Keys,
  of: Of,
): { readonly kind: 'record'; readonly keys: Keys; readonly of: Of } {
  return { kind: 'record', keys, of } as const
}

/** `noun`: what problems call it. */
export function object<const Fields extends ShapeFields>(
  noun: string,
  fields: Fields,
): { readonly kind: 'object'; readonly noun: string; readonly fields: Fields } {
  return { kind: 'object', noun, fields } as const
}

/** A field that has to be there. */
export function required<const Of extends Shape>(
  shape: Of,
  doc: string,
  example?: unknown,
): RequiredField<Of> {
  return { shape, doc, required: true, ...(example === undefined ? {} : { example }) } as const
}
