// Arguments whose key equals a declared property but for case: policy would judge `path` while a
// server that ignores case acts on `Path`. Pure; the gate asks it for every call of a tool whose
// definition it knows, once for each object whose properties are declared.

import type { JsonObject } from '../core/json.ts'
import { KnownKeys } from './known-keys.ts'

/** Of the `properties` of definitions: a tool's are the same with every call. */
const known = new WeakMap<JsonObject, KnownKeys>()

/** The first such key, or undefined. A key that is itself declared is no twin. */
export function caseTwin(args: JsonObject, properties: JsonObject): string | undefined {
  let declared = known.get(properties)
  if (declared === undefined) {
    declared = new KnownKeys(Object.keys(properties))
    known.set(properties, declared)
  }
  for (const key of Object.keys(args)) if (declared.twinOf(key) !== undefined) return key
  return undefined
}
