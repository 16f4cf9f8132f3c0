// What stands for redacted data in structured content: the first candidate that the tool's `outputSchema`
// accepts at that place, so that clients that validate go on to do so. Keywords that cannot be followed
// with certainty accept nothing: the answer is then denied. Patterns are matched in linear time.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { patternSteps } from '@sluice/policy/expression/pattern-steps'
import { SCHEMA_DEPTH_MAX } from '@sluice/policy/language/limits'
import { RE2JS } from 're2js'

/** Keywords that say nothing about a text or number by itself. */
const HARMLESS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  '$defs',
  'definitions',
  'contentEncoding',
  'contentMediaType',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'prefixItems',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])
const PATTERN_LENGTH_MAX = 500
const PATTERN_STEPS_MAX = 1_000

const FORMAT_VALUES: Readonly<Record<string, string>> = {
  email: 'redacted@redacted.invalid',
  'idn-email': 'redacted@redacted.invalid',
  uri: 'https://redacted.invalid/',
  url: 'https://redacted.invalid/',
  'uri-reference': 'redacted',
  iri: 'https://redacted.invalid/',
  hostname: 'redacted.invalid',
  'idn-hostname': 'redacted.invalid',
  uuid: '00000000-0000-0000-0000-000000000000',
  date: '1970-01-01',
  time: '00:00:00Z',
  'date-time': '1970-01-01T00:00:00Z',
  ipv4: '0.0.0.0',
  ipv6: '::',
}

export interface RedactedLeaf {
  readonly schema: JsonValue | undefined
  /** Below the root of the schema. */
  readonly path: readonly (string | number)[]
  /** The text as it came, and with what was found replaced. */
  readonly original: string
  readonly redacted: string
}

/** The text to write; undefined if the schema accepts none that is known. */
export function findValidText(leaf: RedactedLeaf): string | undefined {
  const schemas = schemasAt(leaf.schema, leaf.path)
  if (schemas === undefined) return undefined
  const formats = schemas.flatMap(({ format }) =>
    typeof format === 'string' ? [FORMAT_VALUES[format]] : [],
  )
  const candidates = [leaf.redacted, ...formats, '[redacted]', sameShape(leaf.original), '*', '']
  return candidates.find(
    (text) => text !== undefined && schemas.every((schema) => acceptsText(schema, text)),
  )
}

/** Whether a number may be replaced by zero. */
export function acceptsZero(schema: JsonValue | undefined, path: RedactedLeaf['path']): boolean {
  const schemas = schemasAt(schema, path)
  return schemas?.every((each) => acceptsNumber(each, 0)) ?? false
}

/** Digits become `0`, letters `x` and `X`: fits patterns and lengths of what was there. */
function sameShape(text: string): string {
  return text.replace(/\d/g, '0').replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X')
}

/** All that apply there; undefined if that cannot be said. */
function schemasAt(
  root: JsonValue | undefined,
  path: readonly (string | number)[],
): JsonObject[] | undefined {
  let level = expand(root, root)
  for (const step of path) {
    if (level === undefined) return undefined
    const next: JsonObject[] = []
    for (const schema of level) {
      const below = stepInto(schema, step)
      if (below === 'unknown') return undefined
      const expanded = below === undefined ? [] : expand(below, root)
      if (expanded === undefined) return undefined
      next.push(...expanded)
    }
    level = next
  }
  return level
}

/** A schema with what it refers to; undefined if it has branches or cannot be followed. */
function expand(
  schema: JsonValue | undefined,
  root: JsonValue | undefined,
): JsonObject[] | undefined {
  const schemas: JsonObject[] = []
  const queue: (JsonValue | undefined)[] = [schema]
  for (let steps = 0; queue.length > 0; steps++) {
    if (steps > SCHEMA_DEPTH_MAX) return undefined
    const next = queue.shift()
    if (next === true || next === undefined) continue
    if (!isObject(next)) return undefined
    const { $ref, allOf, ...own } = next
    if (typeof $ref === 'string') {
      const target = resolveReference($ref, root)
      if (target === undefined) return undefined
      queue.push(target)
    }
    if (Array.isArray(allOf)) queue.push(...(allOf as readonly JsonValue[]))
    schemas.push(own)
  }
  return schemas
}

function resolveReference(reference: string, root: JsonValue | undefined): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined
  let place: JsonValue | undefined = root
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(place) || !Object.hasOwn(place, name)) return undefined
    place = place[name]
  }
  return place
}

const STEPS_AHEAD: ReadonlySet<string> = new Set([
  'type',
  'minItems',
  'maxItems',
  'required',
  'enum',
  'const',
])

function stepInto(schema: JsonObject, step: string | number): JsonValue | undefined | 'unknown' {
  for (const keyword of Object.keys(schema))
    if (!HARMLESS.has(keyword) && (!STEPS_AHEAD.has(keyword) || IS_VALUE.has(keyword)))
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

/** They name whole values: a part that is replaced makes another. */
const IS_VALUE: ReadonlySet<string> = new Set(['enum', 'const'])

function acceptsText(schema: JsonObject, text: string): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'type':
        return value === 'string' || (Array.isArray(value) && value.includes('string'))
      case 'minLength':
        return [...text].length >= Number(value)
      case 'maxLength':
        return [...text].length <= Number(value)
      case 'enum':
        return Array.isArray(value) && value.includes(text)
      case 'const':
        return value === text
      case 'pattern':
        return typeof value === 'string' && matchesPattern(value, text)
      case 'format':
        return typeof value === 'string' && (FORMAT_VALUES[value] ?? text) === text
      default:
        return HARMLESS.has(keyword)
    }
  })
}

function matchesPattern(pattern: string, text: string): boolean {
  if (pattern.length > PATTERN_LENGTH_MAX || patternSteps(pattern) > PATTERN_STEPS_MAX) return false
  try {
    return RE2JS.compile(pattern).test(text)
  } catch {
    return false
  }
}

function acceptsNumber(schema: JsonObject, number: number): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'type': {
        const types = Array.isArray(value) ? value : [value]
        return types.includes('number') || types.includes('integer')
      }
      case 'minimum':
        return number >= Number(value)
      case 'maximum':
        return number <= Number(value)
      case 'enum':
        return Array.isArray(value) && value.includes(number)
      default:
        return HARMLESS.has(keyword)
    }
  })
}
