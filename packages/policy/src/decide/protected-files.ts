// The built-in guardrail: arguments that have a path of the gate's configuration, policy or data in them are
// denied whatever the document allows, because an agent with a file tool must not rewrite its own
// rules. Only the exact path is found: that other spellings do not lead to the files either is the work of
// the server's isolation.

import { isObject, type JsonValue } from '../values/json.ts'

export const OWN_FILES = "the gate's own files"

const NAMED = "an argument names the gate's own configuration, policy or data"

/** Why `value` may not pass: a text or a key in it has one of `paths` in it. */
export function objectToFiles(
  value: JsonValue | undefined,
  paths: readonly string[],
): string | undefined {
  return names(value, paths) ? NAMED : undefined
}

function names(value: JsonValue | undefined, paths: readonly string[]): boolean {
  if (typeof value === 'string') return paths.some((path) => value.includes(path))
  if (Array.isArray(value)) return value.some((item: JsonValue) => names(item, paths))
  if (!isObject(value)) return false
  return Object.keys(value).some((name) => names(name, paths) || names(value[name], paths))
}
