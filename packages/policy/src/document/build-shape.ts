// Builders of shapes: each keeps the literal types, so that `ShapeValue` knows what a value is.

import type { FormShape, KeyShape, Shape, ShapeFields } from './shape.ts'

export const BOOLEAN = { kind: 'boolean' } as const

export function text(max: number) {
  return { kind: 'text', max } as const
}

/** A text that may have no characters. */
export function textOrEmpty(max: number) {
  return { kind: 'text', max, empty: true } as const
}

export function word<const Word extends string>(words: readonly Word[]) {
  return { kind: 'word', words } as const
}

/** A text of one form, which problems call `noun` and describe by `help`. */
export function form(
  noun: string,
  pattern: RegExp,
  help: string,
  more: Pick<FormShape, 'check' | 'secret' | 'code'> = {},
) {
  return { kind: 'form', noun, form: pattern, help, ...more } as const
}

export function integer(min: number, max: number) {
  return { kind: 'integer', min, max } as const
}

export function duration(maxSeconds: number) {
  return { kind: 'duration', maxSeconds } as const
}

export function list<const Of extends Shape>(of: Of, max = 100) {
  return { kind: 'list', of, max } as const
}

/** A list with one entry at least: an empty one would mean nothing, or the opposite of what it looks like. */
export function someOf<const Of extends Shape>(of: Of, max = 100) {
  return { kind: 'list', of, max, min: 1 } as const
}

export function record<const Keys extends KeyShape, const Of extends Shape>(keys: Keys, of: Of) {
  return { kind: 'record', keys, of } as const
}

/** `noun`: what problems call it. */
export function object<const Fields extends ShapeFields>(noun: string, fields: Fields) {
  return { kind: 'object', noun, fields } as const
}

/** A field that has to be there. */
export function required<const Of extends Shape>(shape: Of, doc: string, example?: unknown) {
  return { shape, doc, required: true, ...(example === undefined ? {} : { example }) } as const
}
