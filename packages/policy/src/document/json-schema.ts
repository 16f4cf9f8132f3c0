// Converts a shape to JSON Schema, for editors. Built from the same description as the checker, so
// that the two cannot disagree.

import type { Field, KeyShape, Shape } from './shape.ts'

export type Schema = { readonly [key: string]: unknown }

export type ObjectShape = Shape & { kind: 'object' }

export function toJsonSchema(title: string, description: string, shape: ObjectShape): Schema {
  const nested = [...nestedObjects(shape)]
  const names = nested.map(definitionName)
  const doubled = names.find((name, at) => names.indexOf(name) !== at)
  if (doubled !== undefined) throw new Error(`two shapes are called \`${doubled}\``)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    description,
    ...object(shape, refer),
    definitions: Object.fromEntries(
      nested.map((below) => [definitionName(below), object(below, refer)]),
    ),
  }
}

/** The same without definitions: what is nested stands where it is used. */
export function toInlineSchema(shape: Shape): Schema {
  return toSchema(shape, (below) => object(below, toInlineSchema))
}

type ToNestedSchema = (shape: ObjectShape) => Schema

function refer(shape: ObjectShape): Schema {
  return { $ref: `#/definitions/${definitionName(shape)}` }
}

/** Every object below another, once: rules appear in six places. */
function nestedObjects(shape: Shape, objects = new Set<ObjectShape>()): Set<ObjectShape> {
  for (const below of listInner(shape)) {
    if (below.kind === 'object') {
      if (objects.has(below)) continue
      objects.add(below)
    }
    nestedObjects(below, objects)
  }
  return objects
}

function listInner(shape: Shape): readonly Shape[] {
  if (shape.kind === 'object') return Object.values(shape.fields).map((field) => field.shape)
  if (shape.kind === 'either') return shape.of
  if (shape.kind === 'record') return [shape.schema ?? shape.of]
  return shape.kind === 'list' ? [shape.of] : []
}

function definitionName(shape: ObjectShape): string {
  return shape.noun.replace(/^an? /, '').replaceAll(' ', '_')
}

function toSchema(shape: Shape, nest: ToNestedSchema): Schema {
  switch (shape.kind) {
    case 'word':
      return { enum: shape.words }
    case 'constant':
      return { const: shape.value }
    case 'text':
      return {
        type: shape.blank === true ? ['string', 'null'] : 'string',
        ...(shape.empty === true ? {} : { minLength: 1 }),
        maxLength: shape.max,
      }
    case 'integer':
      return { type: 'integer', minimum: shape.min, maximum: shape.max }
    case 'decimal':
      return { type: 'number', exclusiveMinimum: 0 }
    case 'boolean':
      return { type: 'boolean' }
    case 'form':
      // Where secrets and addresses belong, editors see the name of a variable.
      if (shape.secret === true || shape.check !== undefined) return { type: 'string' }
      return { type: 'string', pattern: shape.form.source }
    case 'time':
      return { type: 'string', maxLength: 40 }
    case 'nullable':
      return { anyOf: [toSchema(shape.of, nest), { type: 'null' }] }
    case 'any':
      return {}
    case 'duration':
      return {
        anyOf: [
          { type: 'integer', minimum: 1, maximum: shape.maxSeconds },
          { type: 'string', pattern: '^\\d{1,9}(s|m|h|d)$' },
        ],
      }
    case 'list':
      return {
        type: shape.min === undefined ? ['array', 'null'] : 'array',
        items: toSchema(shape.of, nest),
        ...(shape.min === undefined ? {} : { minItems: shape.min }),
        maxItems: shape.max,
      }
    case 'either':
      return { anyOf: shape.of.map((one) => toSchema(one, nest)) }
    case 'record':
      return shape.schema === undefined
        ? record(shape.keys, toSchema(shape.of, nest))
        : toSchema(shape.schema, nest)
    default:
      return nest(shape)
  }
}

function record(keys: KeyShape, of: Schema): Schema {
  const members =
    keys.kind === 'word'
      ? { properties: Object.fromEntries(keys.words.map((word) => [word, of])) }
      : { patternProperties: { [keys.kind === 'name' ? '^[^/]+/.+' : keys.form.source]: of } }
  return { type: ['object', 'null'], ...members, additionalProperties: false }
}

function object(shape: ObjectShape, nest: ToNestedSchema): Schema {
  const fields = Object.entries(shape.fields)
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, { ...notes(field), ...toSchema(field.shape, nest) }]),
    ),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  }
}

/** What an editor shows next to a field, and offers for it. */
function notes({ doc, default: value, unset, example }: Field): Schema {
  return {
    description: unset === undefined ? doc : `${doc}. If left out: ${unset}`,
    ...(value === undefined ? {} : { default: value }),
    ...(example === undefined ? {} : { examples: [example] }),
  }
}
