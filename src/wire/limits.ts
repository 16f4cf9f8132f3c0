// Every bound of the readers of the wire, by name and unit. An error that meets one of them says
// the bound.

export interface JsonLimits {
  /** The text, in UTF-16 code units. */
  readonly lengthMax: number
  /** Nesting of arrays and objects; `[]` is 1. Never more than JSON_DEPTH_CEILING. */
  readonly depthMax: number
  /** Values of any kind, arrays and objects themselves included, keys not. */
  readonly valuesMax: number
  /** Characters of one number. */
  readonly numberLengthMax: number
}

export const JSON_LIMITS: JsonLimits = {
  lengthMax: 16 * 1_048_576,
  depthMax: 64,
  valuesMax: 1_000_000,
  numberLengthMax: 1_000,
}

/** The reader recurses: a larger `depthMax` is cut to this, which takes 350 of 984 KiB of stack. */
export const JSON_DEPTH_CEILING = 1_000

/** Characters of a key or number that a message repeats. */
export const SHOWN_LENGTH_MAX = 64
