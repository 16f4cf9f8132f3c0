// Splits an object or array into the texts of its parts: split and joined again, every byte is
// preserved. Pure; for results the gate has to inspect (`tools/list` is filtered by omitting
// definitions, never by rewriting them). The text is one the strict reader accepted.

import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, OPEN_OBJECT } from './characters.ts'
import { JSON_LIMITS } from './limits.ts'
import { JsonReader } from './read-json.ts'
import { Skipper } from './skip-json.ts'
import { WireRejection } from './wire-rejection.ts'

/** In source order; empty if the text is not an object. */
export function splitMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  const reader = new JsonReader(text, JSON_LIMITS)
  const skipper = new Skipper(reader)
  try {
    reader.begin()
    if (reader.skipSpace() === OPEN_OBJECT)
      reader.eachMember((keyAt) => {
        const key = reader.readString()
        if (members.has(key)) reader.refuseDoubled(key, keyAt)
        reader.skipColon()
        members.set(key, readSpan(reader, skipper))
      })
    else skipper.skipValue()
    reader.end()
  } catch (thrown) {
    throw toError(thrown)
  }
  return members
}

/** One by one, so that the caller can pause in a long list; none if the text is not an array. */
export function* splitElements(text: string): Generator<string> {
  const reader = new JsonReader(text, JSON_LIMITS)
  const skipper = new Skipper(reader)
  try {
    reader.begin()
    if (reader.skipSpace() === OPEN_ARRAY) yield* readElements(reader, skipper)
    else skipper.skipValue()
    reader.end()
  } catch (thrown) {
    throw toError(thrown)
  }
}

function* readElements(reader: JsonReader, skipper: Skipper): Generator<string> {
  reader.enter()
  if (reader.skipSpace() !== CLOSE_ARRAY)
    for (;;) {
      yield readSpan(reader, skipper)
      const code = reader.skipSpace()
      if (code === CLOSE_ARRAY) break
      if (code !== COMMA) reader.refuseSyntax('`,` or `]`')
      reader.at++
    }
  reader.leave(null)
}

function readSpan(reader: JsonReader, skipper: Skipper): string {
  reader.skipSpace()
  const start = reader.at
  skipper.skipValue()
  return reader.text.slice(start, reader.at)
}

function toError(thrown: unknown): unknown {
  if (!(thrown instanceof WireRejection)) return thrown
  return new Error(`a text the strict reader refuses: ${thrown.message}`)
}
