// A JSON value as a located tree without places, so that what comes over a socket or HTTP is checked by
// the same shapes as a document.

import { isObject, type JsonValue } from '../values/json.ts'
import type { LocatedNode, LocatedScalar } from './read-document.ts'
import type { Shape } from './shape.ts'

export function locateValue(value: JsonValue): LocatedNode {
  if (Array.isArray(value)) return { kind: 'list', at: 0, items: value.map(locateValue) }
  if (!isObject(value)) return scalarOf(value as LocatedScalar['value'])
  const entries = Object.entries(value).map(([name, inner]) => ({
    key: scalarOf(name),
    value: locateValue(inner),
  }))
  return { kind: 'map', at: 0, end: 0, entries }
}

function scalarOf(value: LocatedScalar['value']): LocatedScalar {
  return { kind: 'scalar', at: 0, contentAt: 0, value, text: String(value) }
}

/** A value out of a query or an option. As text if it is nothing else: the shape then says what belongs
 * there. */
export function fromText(shape: Shape, text: string): JsonValue {
  if (shape.kind === 'list') return text.split(',')
  if (shape.kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  const isNumber = shape.kind === 'integer' || shape.kind === 'duration'
  return isNumber && /^\d{1,15}$/.test(text) ? Number(text) : text
}
