// The arguments that an input schema names. A server may put anything in its place.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'

const NONE: JsonObject = {}

export function propertiesOf(schema: JsonValue | undefined): JsonObject {
  const properties = isObject(schema) ? schema.properties : undefined
  return isObject(properties) ? properties : NONE
}
