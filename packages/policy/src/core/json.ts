// JSON as the gate reads it. A number is a JS number where the double says exactly what was
// written, and an ExactNumber (the text) where it does not, so that nobody judges a rounded
// value by accident: an amount of 9007199254740993 must not pass as ...992.

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | ExactNumber
  | readonly JsonValue[]
  | JsonObject

export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** A number whose text no double reproduces. */
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
