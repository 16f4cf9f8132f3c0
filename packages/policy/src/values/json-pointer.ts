// JSON Pointer (RFC 6901): the escapes of one part, and what a reference of a schema points to.

import { getMember, type JsonValue } from './json.ts'

export function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The value that a `$ref` of a JSON Schema names in its document; undefined if it has none. */
export function followReference(reference: string, document: JsonValue): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined
  return getMember(document, reference.slice(2).split('/').map(unescapePointer))
}
