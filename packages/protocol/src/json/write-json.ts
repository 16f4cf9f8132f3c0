// Writes a value of the strict reader: numbers that no double represents keep the digits they were
// read with. Pure; for the parts of a message that the gate writes itself.

import { ExactNumber, isObject, type JsonValue } from '@sluice/policy/values/json'

export function writeJson(value: JsonValue): string {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}:${writeJson(member)}`,
    )
    return `{${members.join(',')}}`
  }
  // JSON.stringify drops the sign.
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}
