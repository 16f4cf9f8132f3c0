// Converts arguments to CEL values: checked against the declared types, exact numbers only, and
// counted while they are walked, so that the cost of an expression is bounded before it runs.
// Throws UndecidableError; evaluate.ts catches it.

import { ExactNumber, type JsonObject, type JsonValue } from '../../core/json.ts'
import { MACRO_PARTS_MAX, WALK_ENTRIES_MAX, WALK_LENGTH_MAX } from '../../language/limits.ts'
import { UndecidableError } from '../functions/undecidable-error.ts'
import type { Macro } from '../macro-cost.ts'
import type { BoundVariable } from './bound-variable.ts'
import {
  ANYTHING,
  BOOLEAN,
  type DeclaredType,
  isInteger,
  LIST,
  MAP,
  NULL,
  NUMBER,
  STRING,
} from './declared-types.ts'

/** One evaluation's walk over the arguments it reads. */
export class ArgumentWalk {
  #entries = 0
  #length = 0
  /** Entries converted, so that not all variables are built before they are found to be too many. */
  #converted = 0
  /** Entries of the current value so far. */
  #valueEntries = 0
  #valueLength = 0
  #repeated: { variable: BoundVariable; entries: number; length: number; top: number }[] | undefined

  /** The CEL value of one variable. Scalars, the common case, take the fast path. */
  convert(variable: BoundVariable, value: JsonValue): unknown {
    this.#valueEntries = 0
    this.#valueLength = 0
    const converted = convert(value, variable.declared, variable, this)
    this.#entries += this.#valueEntries * variable.walks
    this.#converted += this.#valueEntries
    if (Math.max(this.#entries, this.#converted) > WALK_ENTRIES_MAX)
      throw tooMany(Math.max(this.#entries, this.#converted))
    this.#length += this.#valueLength * variable.walksWeighted
    if (variable.inMacros) this.#remember(variable, value)
    return converted
  }

  /** Entries are counted before they are converted, so that a huge list is never built. */
  addEntries(count: number): void {
    this.#valueEntries += count
    if (this.#valueEntries > WALK_ENTRIES_MAX) throw tooMany(this.#valueEntries)
  }

  addLength(count: number): void {
    this.#valueLength += count
  }

  /** After the last variable: checks everything walked, for every use that walks it. */
  hold(macros: readonly Macro[]): void {
    let ran = 0
    for (const macro of macros) ran += macro.parts * this.#times(macro)
    if (ran > MACRO_PARTS_MAX)
      throw new UndecidableError(
        `its macros would run ${ran} parts, the limit is ${MACRO_PARTS_MAX}`,
      )
    for (const { variable, entries, length } of this.#repeated ?? []) {
      for (const use of variable.uses) {
        if (use.repeatedBy === undefined) continue
        const times = this.#times(use.repeatedBy)
        this.#entries += entries * times
        this.#length += length * times * use.weight
      }
    }
    if (this.#entries > WALK_ENTRIES_MAX) throw tooMany(this.#entries)
    if (this.#length > WALK_LENGTH_MAX)
      throw new UndecidableError(
        `it would walk ${this.#length} characters, the limit is ${WALK_LENGTH_MAX}`,
      )
  }

  /** How often a macro runs its body; at least once, for the cost of its range. */
  #times({ lists, whole, written }: Macro): number {
    let times = written
    for (const { variable, entries, top } of this.#repeated ?? [])
      if (lists.includes(variable.name)) times += whole ? top : entries
    return Math.max(1, times)
  }

  #remember(variable: BoundVariable, value: JsonValue): void {
    const top = Array.isArray(value) ? value.length : this.#valueEntries
    this.#repeated ??= []
    this.#repeated.push({ variable, entries: this.#valueEntries, length: this.#valueLength, top })
  }
}

function tooMany(entries: number): UndecidableError {
  return new UndecidableError(`it would walk ${entries} entries, the limit is ${WALK_ENTRIES_MAX}`)
}

function convert(
  value: JsonValue,
  declared: DeclaredType,
  variable: BoundVariable,
  walk: ArgumentWalk,
): unknown {
  switch (typeof value) {
    case 'string':
      if ((declared.kinds & STRING) === 0) throw mismatch(variable, 'a string')
      walk.addLength(value.length)
      return value
    case 'number':
      return convertNumber(value, declared, variable)
    case 'boolean':
      if ((declared.kinds & BOOLEAN) === 0) throw mismatch(variable, 'a boolean')
      return value
    default:
      if (value === null) {
        if ((declared.kinds & NULL) === 0) throw mismatch(variable, 'null')
        return null
      }
      if (value instanceof ExactNumber) return convertNumber(value, declared, variable)
      return Array.isArray(value)
        ? convertList(value, declared, variable, walk)
        : convertMap(value as JsonObject, declared, variable, walk)
  }
}

function convertList(
  list: readonly JsonValue[],
  declared: DeclaredType,
  variable: BoundVariable,
  walk: ArgumentWalk,
): unknown[] {
  if ((declared.kinds & LIST) === 0) throw mismatch(variable, 'a list')
  walk.addEntries(list.length)
  return list.map((item) => convert(item, declared.items ?? ANYTHING, variable, walk))
}

function convertMap(
  map: JsonObject,
  declared: DeclaredType,
  variable: BoundVariable,
  walk: ArgumentWalk,
): object {
  if ((declared.kinds & MAP) === 0) throw mismatch(variable, 'an object')
  const result: Record<string, unknown> = Object.create(null)
  for (const name of Object.keys(map)) {
    walk.addEntries(1)
    walk.addLength(name.length)
    const inner = declared.properties?.get(name) ?? ANYTHING
    result[name] = convert(map[name] as JsonValue, inner, variable, walk)
  }
  return result
}

function convertNumber(
  value: number | ExactNumber,
  declared: DeclaredType,
  variable: BoundVariable,
): number | bigint {
  if (isInteger(declared)) return wholeNumber(value, variable)
  if ((declared.kinds & NUMBER) === 0) throw mismatch(variable, 'a number')
  // NaN is not JSON, and every comparison with it is false.
  if (value instanceof ExactNumber || !Number.isFinite(value))
    throw new UndecidableError(
      `\`${formatVariable(variable)}\` is a number that no double represents exactly`,
    )
  return value
}

const INT_MAX = 2n ** 63n

function wholeNumber(value: number | ExactNumber, variable: BoundVariable): bigint {
  const isWhole =
    typeof value === 'number' ? Number.isInteger(value) : /^-?\d{1,19}$/.test(value.text)
  if (isWhole) {
    const whole = BigInt(typeof value === 'number' ? value : value.text)
    if (whole < INT_MAX && whole >= -INT_MAX) return whole
  }
  throw new UndecidableError(`\`${formatVariable(variable)}\` is not a 64-bit integer`)
}

function mismatch(variable: BoundVariable, got: string): UndecidableError {
  return new UndecidableError(
    `\`${formatVariable(variable)}\` is ${got}, which the tool does not declare`,
  )
}

function formatVariable({ root, path }: BoundVariable): string {
  return [root, ...path].join('.')
}
