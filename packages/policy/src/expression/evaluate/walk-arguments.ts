// Converts arguments to CEL values: checked against the declared types, exact numbers only, and
// counted while they are walked, so that the cost of an expression is bounded before it runs.
// Throws UndecidableError; evaluate.ts catches it.

import { MACRO_PARTS_MAX, WALK_ENTRIES_MAX, WALK_LENGTH_MAX } from '../../language/limits.ts'
import { ExactNumber, type JsonObject, type JsonValue } from '../../values/json.ts'
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
  /** The one that is converted. */
  #variable: BoundVariable | undefined
  #repeated: { variable: BoundVariable; entries: number; length: number; top: number }[] | undefined

  /** The CEL value of one variable. Scalars, the common case, take the fast path. */
  convert(variable: BoundVariable, value: JsonValue): unknown {
    this.#valueEntries = 0
    this.#valueLength = 0
    this.#variable = variable
    const converted = this.#toCel(value, variable.declared)
    this.#entries += this.#valueEntries * variable.walks
    this.#converted += this.#valueEntries
    if (Math.max(this.#entries, this.#converted) > WALK_ENTRIES_MAX)
      throw tooMany(Math.max(this.#entries, this.#converted))
    this.#length += this.#valueLength * variable.walksWeighted
    if (variable.inMacros) this.#remember(variable, value)
    return converted
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

  #toCel(value: JsonValue, declared: DeclaredType): unknown {
    switch (typeof value) {
      case 'string':
        if ((declared.kinds & STRING) === 0) throw this.#mismatch('a string')
        this.#valueLength += value.length
        return value
      case 'number':
        return this.#toNumber(value, declared)
      case 'boolean':
        if ((declared.kinds & BOOLEAN) === 0) throw this.#mismatch('a boolean')
        return value
      default:
        if (value === null) {
          if ((declared.kinds & NULL) === 0) throw this.#mismatch('null')
          return null
        }
        if (value instanceof ExactNumber) return this.#toNumber(value, declared)
        return Array.isArray(value)
          ? this.#toList(value, declared)
          : this.#toMap(value as JsonObject, declared)
    }
  }

  #toList(list: readonly JsonValue[], declared: DeclaredType): unknown[] {
    if ((declared.kinds & LIST) === 0) throw this.#mismatch('a list')
    this.#addEntries(list.length)
    return list.map((item) => this.#toCel(item, declared.items ?? ANYTHING))
  }

  #toMap(map: JsonObject, declared: DeclaredType): object {
    if ((declared.kinds & MAP) === 0) throw this.#mismatch('an object')
    const result: Record<string, unknown> = Object.create(null)
    for (const name of Object.keys(map)) {
      this.#addEntries(1)
      this.#valueLength += name.length
      const inner = declared.properties?.get(name) ?? ANYTHING
      result[name] = this.#toCel(map[name] as JsonValue, inner)
    }
    return result
  }

  /** Entries are counted before they are converted, so that a huge list is never built. */
  #addEntries(count: number): void {
    this.#valueEntries += count
    if (this.#valueEntries > WALK_ENTRIES_MAX) throw tooMany(this.#valueEntries)
  }

  #toNumber(value: number | ExactNumber, declared: DeclaredType): number | bigint {
    if (isInteger(declared)) {
      const whole = toWhole(value)
      if (whole === undefined) throw this.#fault('is not a 64-bit integer')
      return whole
    }
    if ((declared.kinds & NUMBER) === 0) throw this.#mismatch('a number')
    // NaN is not JSON, and every comparison with it is false.
    if (value instanceof ExactNumber || !Number.isFinite(value))
      throw this.#fault('is a number that no double represents exactly')
    return value
  }

  #mismatch(got: string): UndecidableError {
    return this.#fault(`is ${got}, which the tool does not declare`)
  }

  #fault(what: string): UndecidableError {
    const { root, path } = this.#variable as BoundVariable
    return new UndecidableError(`\`${[root, ...path].join('.')}\` ${what}`)
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

const INT_MAX = 2n ** 63n

/** The integer that a number is; undefined if it is no integer of 64 bits. */
function toWhole(value: number | ExactNumber): bigint | undefined {
  const isWhole =
    typeof value === 'number' ? Number.isInteger(value) : /^-?\d{1,19}$/.test(value.text)
  const whole = isWhole ? BigInt(typeof value === 'number' ? value : value.text) : INT_MAX
  return whole < INT_MAX && whole >= -INT_MAX ? whole : undefined
}
