// The pin of a definition: a digest of the whole of it in one canonical form, and of the server's
// instructions. Whatever order a server writes its members in, the pin is the same; whatever else it
// changes, it is another. Pure: the digest comes in as an argument.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonValue } from '@sluice/policy/values/json'

/** Where the instructions of a server stand beside a definition, where both are kept as one. */
export const INSTRUCTIONS = 'server/instructions'

/**
 * SHA-256 of a text, in hex. An argument, because this package does no I/O.
 *
 * @example
 * ```ts
 * const digest: Digest = (text) => createHash('sha256').update(text).digest('hex')
 * ```
 */
export type Digest = (text: string) => string

/**
 * The digest of a whole definition in canonical form, and of the server's instructions. `ignore`:
 * pointers of parts that follow the machine, such as `/description`.
 *
 * @example
 * ```ts
 * const pin = pinOf(definition, digest, { ignore: ['/description'] })
 * ```
 */
export function pinOf(
  definition: ToolDefinition,
  digest: Digest,
  { instructions = '', ignore = [] }: { instructions?: string; ignore?: readonly string[] } = {},
): string {
  const { server: _server, ...own } = definition
  const rest = ignore.length === 0 ? own : without(own as JsonValue, '', new Set(ignore))
  return `sha256:${digest(writeCanonicalJson([rest as JsonValue, instructions]))}`
}

function without(value: JsonValue, at: string, ignore: ReadonlySet<string>): JsonValue {
  if (Array.isArray(value))
    return value.map((item: JsonValue, index) => without(item, `${at}/${index}`, ignore))
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([key]) => !ignore.has(`${at}/${key}`))
  return Object.fromEntries(
    members.map(([key, member]) => [key, without(member, `${at}/${key}`, ignore)]),
  )
}
