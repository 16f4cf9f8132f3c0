// Splits an object or array into the texts of its parts: split and joined again, every byte is
// preserved. Pure; for results the gate has to inspect (`tools/list` is filtered by omitting
// definitions, never by rewriting them). The text is one the strict reader accepted.

import type { JsonValue } from '@sluice/policy/core/json'
import { JSON_LIMITS } from './limits.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from './read-json.ts'
import { Skipper } from './skip-json.ts'
import { WireRejection } from './wire-rejection.ts'

/** In source order; empty if the text is not an object. */
export function splitMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  walk(text, (reader, skipper) => {
    if (reader.skipSpace() !== OPEN_OBJECT) return skipper.skipValue()
    reader.eachMember((keyAt) => {
      const key = reader.readString()
      if (members.has(key)) reader.refuseDoubled(key, keyAt)
      reader.skipColon()
      members.set(key, readSpan(reader, skipper))
    })
  })
  return members
}

/** Empty if the text is not an array. */
export function splitElements(text: string): string[] {
  const elements: string[] = []
  walk(text, (reader, skipper) => {
    if (reader.skipSpace() !== OPEN_ARRAY) return skipper.skipValue()
    reader.readArray((): JsonValue => {
      elements.push(readSpan(reader, skipper))
      return null
    })
  })
  return elements
}

function readSpan(reader: JsonReader, skipper: Skipper): string {
  reader.skipSpace()
  const start = reader.at
  skipper.skipValue()
  return reader.text.slice(start, reader.at)
}

function walk(text: string, read: (reader: JsonReader, skipper: Skipper) => void): void {
  const reader = new JsonReader(text, JSON_LIMITS)
  try {
    reader.readText(() => read(reader, new Skipper(reader)))
  } catch (thrown) {
    if (!(thrown instanceof WireRejection)) throw thrown
    throw new Error(`a text the strict reader refuses: ${thrown.message}`)
  }
}
