// Keys that differ only in case, from each other or from a declared property: policy would decide
// on `path` while a case-insensitive server acts on `Path`. And keys that pollute prototypes. Pure; the gate checks
// every call.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { foldCase } from './json/fold-case.ts'
import { KnownKeys } from './known-keys.ts'

/** The keys by the `properties` object of a definition, which is the same for every call of a tool. */
const known = new WeakMap<JsonObject, KnownKeys>()

/** The first such key, or undefined. A key that is itself declared is not a variant. */
export function findCaseVariant(args: JsonObject, properties: JsonObject): string | undefined {
  let declared = known.get(properties)
  if (declared === undefined) {
    declared = new KnownKeys(Object.keys(properties))
    known.set(properties, declared)
  }
  for (const key of Object.keys(args)) if (declared.findVariant(key) !== undefined) return key
  return undefined
}

/** Two keys that differ only in case, or one that sets the prototype of what a careless server merges it into. */
type UnsafeKeys = readonly [string, string] | readonly [string]

/**
 * Unsafe keys of an object, at any depth. Independent of the schema, which may allow any key or describe the object
 * if it is not checked (`$ref`, `anyOf`).
 */
export function findUnsafeKeys(value: JsonValue | undefined): UnsafeKeys | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (const item of value) {
      const unsafe = typeof item === 'object' ? findUnsafeKeys(item as JsonValue) : undefined
      if (unsafe !== undefined) return unsafe
    }
    return undefined
  }
  if (!isObject(value)) return undefined
  const keys = Object.keys(value)
  const twins = keys.length > 1 ? twinsAmong(keys) : undefined
  if (twins !== undefined) return twins
  for (const key of keys) {
    const inner = value[key]
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner))) return [key]
    const below = typeof inner === 'object' ? findUnsafeKeys(inner) : undefined
    if (below !== undefined) return below
  }
  return undefined
}

function hasPrototype(value: JsonValue | undefined): boolean {
  return isObject(value) && Object.hasOwn(value, 'prototype')
}

/** Folding changes none of these, and an object has no duplicate keys. */
const FOLDED = /^[a-z0-9_]*$/

function twinsAmong(keys: readonly string[]): readonly [string, string] | undefined {
  if (keys.every((key) => FOLDED.test(key))) return undefined
  const seen = new Map<string, string>()
  for (const key of keys) {
    const folded = foldCase(key)
    const twin = seen.get(folded)
    if (twin !== undefined) return [twin, key]
    seen.set(folded, key)
  }
  return undefined
}
