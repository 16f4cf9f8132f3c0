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

/** An object's own member: never one that every object inherits. */
export function getOwn<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** The object that a text is; undefined if it is not one. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A copy without prototypes and undefined members. */
export function cloneJson<T = JsonValue>(value: unknown): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** The texts of a list; none if it is no list. */
export function listStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The value at a path of names; own members only. */
export function getMember(document: JsonValue, path: readonly string[]): JsonValue | undefined {
  let place: JsonValue | undefined = document
  for (const name of path)
    place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined
  return place
}

/** The objects of a list; none if it is no list. */
export function listObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

const PLAIN_TEXT = /^[ !#-[\]-~]*$/

/** Quotes a text like JSON.stringify, which is only called if something has to be escaped. */
export function quoteJson(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text)
}
