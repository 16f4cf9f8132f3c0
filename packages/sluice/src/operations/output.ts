// What operations answer with over HTTP, as JSON Schema: the OpenAPI document has it as it is. The test of
// all operations compares recorded answers with it.

import type { JsonObject } from '@sluice/policy/core/json'

export const TEXT: JsonObject = { type: 'string' }
export const TIME: JsonObject = { type: 'string', format: 'date-time' }
export const COUNT: JsonObject = { type: 'integer' }
export const FLAG: JsonObject = { type: 'boolean' }
/** A value whose fields another part of the API describes. */
export const OBJECT: JsonObject = { type: 'object' }

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

export function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] }
}

/** All fields are there, but for the optional ones. */
export function fieldsOf(
  properties: Readonly<Record<string, JsonObject>>,
  optional: Readonly<Record<string, JsonObject>> = {},
): JsonObject {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
  }
}
