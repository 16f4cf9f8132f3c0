// JSON as the gate reads it. A number is a JS number if the double represents the text exactly, and
// otherwise an ExactNumber (the text), so that no rule decides on a rounded value: an amount of
// 9007199254740993 must not pass as ...992.

/**
 * Any JSON value. Numbers that a double would round are an `ExactNumber`.
 *
 * @example
 * ```ts
 * const value: JsonValue = [1, 'a', { b: null }]
 * ```
 */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | ExactNumber
  | readonly JsonValue[]
  | JsonObject

/**
 * A JSON object.
 *
 * @example
 * ```ts
 * const args: JsonObject = { order: 'A-1', amount: 20 }
 * ```
 */
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/**
 * A number whose text no double reproduces.
 *
 * @example
 * ```ts
 * const amount = new ExactNumber('9007199254740993')
 * ```
 */
export class ExactNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  )
}

/** The objects of a list; none if it is no list. */
export function listObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
