// What stands for redacted data in structured content: the first candidate that the tool's `outputSchema`
// accepts at that place, so that clients that validate go on to do so. Keywords that cannot be followed
// with certainty accept nothing: the answer is then denied. Patterns are matched in linear time, each is
// compiled once an answer, and all the work for one answer has a budget: schema and texts are the server's.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { unescapePointer } from '@sluice/policy/core/json-pointer'
import { patternSteps } from '@sluice/policy/expression/pattern-steps'
import { SCHEMA_DEPTH_MAX } from '@sluice/policy/language/limits'
import { RE2JS } from 're2js'
import { PLACEHOLDER_WORK_MICROS_MAX } from '../shared/limits.ts'

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
  /** Below the root of the schema. */
  readonly path: readonly (string | number)[]
  /** The text as it came, and with what was found replaced. */
  readonly original: string
  readonly redacted: string
}

/** The schema of one answer, and what may still be spent on it. */
export class PlaceholderSchema {
  readonly #root: JsonValue
  readonly #patterns = new Map<string, RE2JS | undefined>()
  #microsLeft = PLACEHOLDER_WORK_MICROS_MAX

  constructor(root: JsonValue) {
    this.#root = root
  }

  /** The text to write; undefined if the schema accepts none that is known. */
  findValidText({ path, original, redacted }: RedactedLeaf): string | undefined {
    const schemas = this.#schemasAt(path)
    if (schemas === undefined) return undefined
    const formats = schemas.flatMap(({ format }) =>
      typeof format === 'string' ? [FORMAT_VALUES[format]] : [],
    )
    const candidates = [redacted, ...formats, '[redacted]', sameShape(original), '*', '']
    return candidates.find(
      (text) => text !== undefined && schemas.every((schema) => this.#acceptsText(schema, text)),
    )
  }

  /** Whether a number may be replaced by zero. */
  acceptsZero(path: RedactedLeaf['path']): boolean {
    return this.#schemasAt(path)?.every((each) => acceptsNumber(each, 0)) ?? false
  }

  /** False once the budget is used up. */
  #spend(micros: number): boolean {
    this.#microsLeft -= micros
    return this.#microsLeft >= 0
  }

  /** All that apply there; undefined if that cannot be said. */
  #schemasAt(path: readonly (string | number)[]): JsonObject[] | undefined {
    let level = this.#expand(this.#root)
    for (const step of path) {
      if (level === undefined) return undefined
      const next: JsonObject[] = []
      for (const schema of level) {
        const below = stepInto(schema, step)
        if (below === 'unknown') return undefined
        const expanded = below === undefined ? [] : this.#expand(below)
        if (expanded === undefined) return undefined
        next.push(...expanded)
      }
      level = next
    }
    return level
  }

  /** A schema with what it refers to; undefined if it has branches or cannot be followed. */
  #expand(schema: JsonValue): JsonObject[] | undefined {
    const schemas: JsonObject[] = []
    const queue: (JsonValue | undefined)[] = [schema]
    for (let steps = 0; queue.length > 0; steps++) {
      if (steps > SCHEMA_DEPTH_MAX || !this.#spend(EXPAND_MICROS)) return undefined
      const next = queue.shift()
      if (next === true || next === undefined) continue
      if (!isObject(next)) return undefined
      const { $ref, allOf, ...own } = next
      if (typeof $ref === 'string') {
        const target = this.#spend($ref.length / REFERENCE_CHARS_PER_MICRO)
          ? resolveReference($ref, this.#root)
          : undefined
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

  #acceptsText(schema: JsonObject, text: string): boolean {
    if (!this.#spend(text.length / TEXT_CHARS_PER_MICRO)) return false
    return Object.entries(schema).every(([keyword, value]) => {
      switch (keyword) {
        case 'type':
          return value === 'string' || (Array.isArray(value) && value.includes('string'))
        case 'minLength':
          return [...text].length >= Number(value)
        case 'maxLength':
          return [...text].length <= Number(value)
        case 'enum':
          return Array.isArray(value) && this.#spend(value.length / 100) && value.includes(text)
        case 'const':
          return value === text
        case 'pattern':
          return typeof value === 'string' && this.#matchesPattern(value, text)
        case 'format':
          return typeof value === 'string' && (FORMAT_VALUES[value] ?? text) === text
        default:
          return HARMLESS.has(keyword)
      }
    })
  }

  #matchesPattern(pattern: string, text: string): boolean {
    if (pattern.length > PATTERN_LENGTH_MAX) return false
    const steps = patternSteps(pattern)
    if (steps > PATTERN_STEPS_MAX) return false
    if (!this.#patterns.has(pattern)) {
      if (!this.#spend(COMPILE_MICROS + COMPILE_STEP_MICROS * steps)) return false
      this.#patterns.set(pattern, compilePattern(pattern))
    }
    return (
      this.#spend((steps * text.length) / MATCHED_PER_MICRO) &&
      (this.#patterns.get(pattern)?.test(text) ?? false)
    )
  }
}

/** What the parts of the work take at most. */
const EXPAND_MICROS = 1
const REFERENCE_CHARS_PER_MICRO = 20
const TEXT_CHARS_PER_MICRO = 50
const COMPILE_MICROS = 50
const COMPILE_STEP_MICROS = 5
/** Steps of a pattern times characters. */
const MATCHED_PER_MICRO = 100

function compilePattern(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern)
  } catch {
    return undefined
  }
}

/** Digits become `0`, letters `x` and `X`: fits patterns and lengths of what was there. */
function sameShape(text: string): string {
  return text.replace(/\d/g, '0').replace(/[a-z]/g, 'x').replace(/[A-Z]/g, 'X')
}

function resolveReference(reference: string, root: JsonValue | undefined): JsonValue | undefined {
  if (!reference.startsWith('#/')) return undefined
  let place: JsonValue | undefined = root
  for (const part of reference.slice(2).split('/')) {
    const name = unescapePointer(part)
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
