// Tells a text that is one JSON document from any other, which is prose.

import { attempt } from '../structures/attempt.ts'
import type { JsonValue } from '../values/json.ts'

/** What a JSON document begins with: an attempt to parse another text costs an exception. */
const DOCUMENT_START = /^\s*(?:\[\s*[[{"\d\]tfn-]|\{\s*["}]|"|-?\d)/

/** The text as one JSON document; undefined if it is not one. */
export function parseDocument(text: string): JsonValue | undefined {
  return DOCUMENT_START.test(text) ? attempt(() => JSON.parse(text) as JsonValue) : undefined
}
