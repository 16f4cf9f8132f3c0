// Shapes of answers: their types are what handlers return and pages read, their JSON Schema is in the
// OpenAPI document as it is. The test of all operations compares recorded answers with it.

import type { Field, Shape, ShapeFields, TypedShape } from '@sluice/policy/document/shape'
import type { JsonObject } from '@sluice/policy/values/json'

export const TEXT = { kind: 'text', max: Number.MAX_SAFE_INTEGER } as const
export const TIME = { kind: 'time' } as const
export const COUNT = { kind: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER } as const
export const FLAG = { kind: 'boolean' } as const
/** A value whose fields another part of the API describes. */
export const OBJECT = {
  kind: 'record',
  keys: { kind: 'name', noun: '' },
  of: { kind: 'any' },
} as const

/** The same, if the type of the value is declared elsewhere. */
export function objectOf<T extends object>(): typeof OBJECT & TypedShape<T> {
  return OBJECT as typeof OBJECT & TypedShape<T>
}

/** The shape of a list. */
export interface ListShapeOf<S extends Shape> {
  readonly kind: 'list'
  readonly of: S
  readonly max: number
}

/** The shape of a value that may be null. */
export interface NullableShapeOf<S extends Shape> {
  readonly kind: 'nullable'
  readonly of: S
}

export function listOf<const S extends Shape>(of: S): ListShapeOf<S> {
  return { kind: 'list', of, max: Number.MAX_SAFE_INTEGER }
}

export function orNull<const S extends Shape>(of: S): NullableShapeOf<S> {
  return { kind: 'nullable', of }
}

type Shapes = Readonly<Record<string, Shape>>
type Present<All> = { readonly [Name in keyof All]: { shape: All[Name]; doc: ''; required: true } }
type Perhaps<All> = { readonly [Name in keyof All]: { shape: All[Name]; doc: '' } }

type ObjectOf<Fields> = { readonly kind: 'object'; readonly noun: ''; readonly fields: Fields }

/** All fields are there, but for the optional ones. */
export function fieldsOf<const All extends Shapes>(all: All): ObjectOf<Present<All>>
export function fieldsOf<const All extends Shapes, const Some extends Shapes>(
  all: All,
  some: Some,
): ObjectOf<Present<All> & Perhaps<Some>>
export function fieldsOf(all: Shapes, some: Shapes = {}): ObjectOf<ShapeFields> {
  const described = (shapes: Shapes, more: Partial<Field>) =>
    Object.entries(shapes).map(([name, shape]) => [name, { shape, doc: '', ...more }])
  const fields = [...described(all, { required: true }), ...described(some, {})]
  return { kind: 'object', noun: '', fields: Object.fromEntries(fields) }
}

export function toAnswerSchema(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'object': {
      const fields = Object.entries(shape.fields)
      return {
        type: 'object',
        properties: Object.fromEntries(
          fields.map(([name, field]) => [name, toAnswerSchema(field.shape)]),
        ),
        required: fields.filter(([, field]) => field.required).map(([name]) => name),
      }
    }
    case 'list':
      return { type: 'array', items: toAnswerSchema(shape.of) }
    case 'nullable':
      return { anyOf: [toAnswerSchema(shape.of), { type: 'null' }] }
    case 'record':
      return { type: 'object' }
    case 'time':
      return { type: 'string', format: 'date-time' }
    case 'integer':
    case 'boolean':
      return { type: shape.kind }
    case 'word':
      return { enum: [...shape.words] }
    case 'any':
      return {}
    default:
      return { type: 'string' }
  }
}
