// What may stand for redacted data in structured content, so that clients which validate it against the
// tool's `outputSchema` accept it: a text where the schema allows any, null where it allows that, otherwise
// nothing, and the answer is denied. A keyword that is not known here allows nothing. The schema is the
// server's, so the steps for one answer are bounded.

import { SCHEMA_DEPTH_MAX } from '@sluice/policy/language/limits'
import { toWordSet } from '@sluice/policy/structures/word-set'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import { followReference } from '@sluice/policy/values/json-pointer'
import { PLACEHOLDER_STEPS_MAX } from '../shared/limits.ts'

/** Keywords that say nothing about a text or null by itself. */
const HARMLESS = toWordSet(`
  title description default examples deprecated readOnly writeOnly $comment $schema $id $anchor
  $defs definitions contentEncoding contentMediaType properties required items
  additionalProperties prefixItems minItems maxItems minProperties maxProperties
`)
/** Keywords that say nothing about null. */
const OF_TEXTS_AND_NUMBERS = toWordSet(`
  minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
`)

/** The schema of one answer, and how many steps may still be taken in it. */
export class PlaceholderSchema {
  readonly #root: JsonValue
  readonly #references = new Map<string, JsonValue | undefined>()
  #stepsLeft = PLACEHOLDER_STEPS_MAX

  constructor(root: JsonValue) {
    this.#root = root
  }

  /** What may be written at this path below the root of the schema; undefined if nothing may. */
  find(path: readonly (string | number)[]): 'text' | 'null' | undefined {
    let level = this.#expand([this.#root])
    for (const step of path) {
      const below = level?.map((schema) => stepInto(schema, step))
      if (below === undefined || below.includes('unknown')) return undefined
      level = this.#expand(below)
    }
    if (level === undefined) return undefined
    if (level.every((schema) => accepts(schema, 'string'))) return 'text'
    return level.every((schema) => accepts(schema, 'null')) ? 'null' : undefined
  }

  /** Schemas with what they refer to; undefined if they cannot be followed. */
  #expand(queue: (JsonValue | undefined)[]): JsonObject[] | undefined {
    const schemas: JsonObject[] = []
    for (let steps = 0; queue.length > 0; steps++) {
      if (steps > SCHEMA_DEPTH_MAX || --this.#stepsLeft < 0) return undefined
      const next = queue.shift()
      if (next === true || next === undefined) continue
      if (!isObject(next)) return undefined
      const { $ref, allOf, ...own } = next
      if (typeof $ref === 'string') {
        const target = this.#resolve($ref)
        if (target === undefined) return undefined
        queue.push(target)
      }
      if (Array.isArray(allOf)) {
        if (allOf.length > SCHEMA_DEPTH_MAX) return undefined
        queue.push(...(allOf as readonly JsonValue[]))
      }
      schemas.push(own)
    }
    return schemas
  }

  #resolve(reference: string): JsonValue | undefined {
    if (!this.#references.has(reference))
      this.#references.set(reference, followReference(reference, this.#root))
    return this.#references.get(reference)
  }
}

function stepInto(schema: JsonObject, step: string | number): JsonValue | undefined | 'unknown' {
  // Others, such as `enum`, name whole values: a part that is replaced makes another.
  if (Object.keys(schema).some((keyword) => keyword !== 'type' && !HARMLESS.has(keyword)))
    return 'unknown'
  if (typeof step === 'number') {
    const { items, prefixItems } = schema
    if (Array.isArray(prefixItems) && step < prefixItems.length)
      return prefixItems[step] as JsonValue
    return items === false ? 'unknown' : items
  }
  const { properties, additionalProperties } = schema
  if (isObject(properties) && Object.hasOwn(properties, step)) return properties[step]
  return additionalProperties === false ? 'unknown' : additionalProperties
}

/** Whether a schema accepts null, or any text. Of branches, one that has none itself has to. */
function accepts(schema: JsonValue, type: 'string' | 'null', hasBranches = true): boolean {
  if (!isObject(schema)) return false
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === 'type') return value === type || (Array.isArray(value) && value.includes(type))
    if (keyword === 'anyOf' && hasBranches && Array.isArray(value))
      return value
        .slice(0, SCHEMA_DEPTH_MAX)
        .some((branch: JsonValue) => accepts(branch, type, false))
    return HARMLESS.has(keyword) || (type === 'null' && OF_TEXTS_AND_NUMBERS.has(keyword))
  })
}
