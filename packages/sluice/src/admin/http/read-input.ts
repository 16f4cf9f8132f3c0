// The input of an operation as a request brings it: names in the path, and the query or the body. A
// query is text; its values become what their shapes say.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import type { Shape, ShapeFields } from '@sluice/policy/document/shape'
import { InputError } from '../../core/operation-error.ts'
import { checkInput } from '../../operations/run-operation.ts'

export function readInput(
  fields: ShapeFields,
  params: Readonly<Record<string, string>>,
  given: URLSearchParams | (() => unknown),
): JsonObject {
  const rest = typeof given === 'function' ? given() : fromQuery(fields, given)
  if (!isObject(rest)) throw new InputError('the body is no object', 'see /api/openapi.json')
  const doubled = Object.keys(params).find((name) => Object.hasOwn(rest, name))
  if (doubled !== undefined)
    throw new InputError(`\`${doubled}\` is in the path already`, 'leave it out elsewhere')
  const input = { ...rest, ...params }
  checkInput(fields, input)
  return input
}

function fromQuery(fields: ShapeFields, query: URLSearchParams): JsonObject {
  return Object.fromEntries(
    [...query].map(([name, text]) => {
      const shape = Object.hasOwn(fields, name) ? fields[name]?.shape : undefined
      return [name, shape === undefined ? text : fromText(shape, text)]
    }),
  )
}

/** As text where it is nothing else: the shape then says what belongs there. */
function fromText(shape: Shape, text: string): JsonValue {
  if (shape.kind === 'list') return text.split(',')
  if (shape.kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return shape.kind === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text
}
