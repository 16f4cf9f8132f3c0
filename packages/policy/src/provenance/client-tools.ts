// The tools that a coding client carries out itself: its shell, its editor. A user asks for what they do
// and not for them by name, a command line is made of words that stand in every README, and an edit quotes
// the file that it changes. So under `balanced` only what leaves the machine is checked: URLs, hosts and
// other addresses.

import type { JsonObject } from '../values/json.ts'
import { CHECKED_CHARS_MAX, CHECKED_VALUES_MAX } from './limits.ts'
import { listAddresses } from './read-value.ts'

/** The arguments that do something: not where the client stands, nor the model's note beside a command. */
export function withoutDescription(args: JsonObject): JsonObject {
  const { cwd, ...rest } = args
  if (typeof rest.command !== 'string') return rest
  const { description, ...does } = rest
  return does
}

/** The addresses in the text that an edit replaces: they are in the file already, so the edit does not bring them. */
export function listReplaced({ old_string: before }: JsonObject): ReadonlySet<string> {
  if (typeof before !== 'string' || before.length > CHECKED_CHARS_MAX) return new Set()
  return new Set(listAddresses(before, CHECKED_VALUES_MAX).map(({ whole }) => whole))
}
