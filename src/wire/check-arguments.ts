// Arguments whose key equals a declared property but for case: policy would judge `path` while a
// server that ignores case acts on `Path`. Pure; the gate asks it for every call of a tool whose
// definition it knows, once for each object whose properties are declared.

import type { JsonObject } from '../core/json.ts'
import { KnownKeys } from './known-keys.ts'

/** The first such key, or undefined. A key that is itself declared is no twin. */
export function caseTwin(args: JsonObject, declaredNames: Iterable<string>): string | undefined {
  const declared = new KnownKeys(declaredNames)
  return Object.keys(args).find((key) => declared.twinOf(key) !== undefined)
}
