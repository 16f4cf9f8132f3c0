// Describes what a document may look like. Both the checker (check-shape.ts) and the JSON Schema
// for editors (json-schema.ts) are derived from it, so that the editor and the engine cannot
// disagree.

export type Shape =
  /** `note`: why other words are not allowed. */
  | { readonly kind: 'word'; readonly words: readonly string[]; readonly note?: string }
  | { readonly kind: 'constant'; readonly value: number }
  /** `example`: what such a text looks like. `empty`: it may have no characters. `blank`: the value may
   * be left out behind its key. */
  | {
      readonly kind: 'text'
      readonly max: number
      readonly example?: string
      readonly empty?: true
      readonly blank?: true
    }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly zero?: string }
  | { readonly kind: 'decimal' }
  | { readonly kind: 'duration'; readonly maxSeconds: number }
  | { readonly kind: 'boolean' }
  /** Any value: arguments of a case. */
  | { readonly kind: 'any' }
  /** `min` 1: an empty list would mean nothing, or the opposite of what it looks like. */
  | { readonly kind: 'list'; readonly of: Shape; readonly max: number; readonly min?: 1 }
  /** `schema`: what editors use if another reader checks the entries. */
  | {
      readonly kind: 'record'
      readonly keys: KeyShape
      readonly of: Shape
      readonly schema?: Shape & { readonly kind: 'object' }
    }
  /** `elsewhere`: keys that users write here by mistake, and what they mean. */
  | {
      readonly kind: 'object'
      readonly noun: string
      readonly example?: string
      readonly fields: ShapeFields
      readonly elsewhere?: Readonly<Record<string, string>>
    }
  /** The first alternative whose kind of node fits: a bare word, a list, a mapping. */
  | { readonly kind: 'either'; readonly of: readonly Shape[] }

export type KeyShape =
  | { readonly kind: 'word'; readonly words: readonly string[] }
  /** `<server>/<name>`, globs allowed. */
  | { readonly kind: 'name'; readonly noun: string }
  /** A unique name of this form. */
  | { readonly kind: 'form'; readonly noun: string; readonly form: RegExp; readonly help: string }

export type ShapeFields = Readonly<Record<string, Field>>

export interface Field {
  readonly shape: Shape
  readonly doc: string
  readonly required?: true
  /** The value that holds where the field is left out. */
  readonly default?: string | number | boolean
  /** What holds where the field is left out, if that is no fixed value. */
  readonly unset?: string
  /** A value that fits the shape, for editors and the reference page. */
  readonly example?: unknown
}

/** What a value is that fits a shape: for code behind the checker. */
export type ShapeValue<S> = S extends { kind: 'word'; words: readonly (infer Word)[] }
  ? Word
  : S extends { kind: 'text' }
    ? string
    : S extends { kind: 'integer' | 'decimal' | 'constant' }
      ? number
      : S extends { kind: 'duration' }
        ? string | number
        : S extends { kind: 'boolean' }
          ? boolean
          : S extends { kind: 'list'; of: infer Of }
            ? readonly ShapeValue<Of>[]
            : S extends { kind: 'record'; of: infer Of }
              ? Readonly<Record<string, ShapeValue<Of>>>
              : S extends { kind: 'object'; fields: infer Fields }
                ? FieldValues<Fields>
                : unknown

/** The same for the fields of an object: what is not required may be missing. */
export type FieldValues<Fields> = {
  readonly [Name in keyof Fields as Fields[Name] extends { required: true }
    ? Name
    : never]: Fields[Name] extends { shape: infer S } ? ShapeValue<S> : never
} & {
  readonly [Name in keyof Fields as Fields[Name] extends { required: true }
    ? never
    : Name]?: Fields[Name] extends { shape: infer S } ? ShapeValue<S> : never
}

/** Seconds, or a number with s, m, h or d; undefined if it is neither. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d{1,9})(s|m|h|d)$/.exec(value)
  if (match === null) return undefined
  const seconds = Number(match[1]) * UNIT_SECONDS[match[2] as keyof typeof UNIT_SECONDS]
  return seconds > 0 ? seconds : undefined
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 }
