// The texts of the parts of an object or array: what is taken apart here and put together again has
// every byte it came with. Pure; for results the gate has to look into (`tools/list` is filtered by
// leaving definitions out, never by writing them anew). The text is one the strict reader took.

import type { JsonValue } from '@sluice/policy/core/json'
import { JSON_LIMITS } from './limits.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from './read-json.ts'
import { Skipper } from './skip-json.ts'
import { WireRejection } from './wire-rejection.ts'

/** In the order they were written; empty where the text is no object. */
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

/** Empty where the text is no array. */
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
