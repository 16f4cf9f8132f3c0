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
  /** A time with a zone, or a day, which starts at 00:00 UTC. */
  | { readonly kind: 'time' }
  | FormShape
  /** Null or a value: over HTTP. */
  | { readonly kind: 'nullable'; readonly of: Shape }
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
  | FormShape

/** A text of one form. `check`: what the pattern cannot say. `secret`: problems do not repeat the text. */
export interface FormShape {
  readonly kind: 'form'
  readonly noun: string
  readonly form: RegExp
  readonly help: string
  readonly check?: (text: string) => boolean
  readonly secret?: true
  /** The code of the problem, if it is not that of a wrong name. */
  readonly code?: string
}

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

/** What a value is that fits a shape: for code behind the checker. Unknown if the shape is not known. */
export type ShapeValue<S> = Shape extends S ? unknown : KnownValue<S>

/** A shape that says less than the type of its values, which is declared elsewhere. Exists in types only. */
export interface TypedShape<T> {
  readonly typed: T
}

type KnownValue<S> =
  S extends TypedShape<infer T>
    ? T
    : S extends { kind: 'word'; words: readonly (infer Word)[] }
      ? Word
      : S extends { kind: 'text' | 'form' | 'time' }
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
                    : S extends { kind: 'nullable'; of: infer Of }
                      ? ShapeValue<Of> | null
                      : unknown

/** The same for the fields of an object: what is not required may be missing. */
export type FieldValues<Fields> = Members<Fields, { required: true }>

/** An object that was checked against these fields, by the type that follows from them. */
export function asFields<const Fields extends ShapeFields>(
  _fields: Fields,
  checked: unknown,
): FieldValues<Fields> {
  return checked as FieldValues<Fields>
}

/** The same after `fillDefaults`: what has a default is there. */
export type FilledValues<Fields> = Members<Fields, { required: true } | { default: unknown }>

type Members<Fields, Present> = {
  readonly [Name in keyof Fields as Fields[Name] extends Present
    ? Name
    : never]: Fields[Name] extends { shape: infer S } ? ShapeValue<S> : never
} & {
  readonly [Name in keyof Fields as Fields[Name] extends Present
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

const TIME = /^\d{4}-\d\d-\d\d(T(?:[01]\d|2[0-3]):\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/
export const TIME_HELP =
  'write a time like `2027-01-31T18:00:00Z`, or a day, which starts at 00:00 UTC'

/** The milliseconds of a time with a time zone, or of a day; undefined for any other text. */
export function parseTime(text: string): number | undefined {
  if (!TIME.test(text)) return undefined
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number)
  // biome-ignore-start lint/style/noRestrictedGlobals: a value from outside, not the present
  const days = (Date.UTC(year, month, 1) - Date.UTC(year, month - 1, 1)) / 86_400_000
  // `Date.parse` takes 31 February for 3 March.
  const ms = day > days ? Number.NaN : Date.parse(text)
  // biome-ignore-end lint/style/noRestrictedGlobals: as above
  return Number.isNaN(ms) ? undefined : ms
}

/** The fields of a value that fits them, with the defaults of those that are missing or blank. */
export function fillDefaults<const Fields extends ShapeFields>(
  fields: Fields,
  value: FieldValues<Fields>,
): FilledValues<Fields> {
  const filled = Object.entries(fields).flatMap(([name, { default: unset }]) =>
    unset === undefined ? [] : [[name, unset]],
  )
  const said = Object.entries(value).filter(([, each]) => each !== null)
  return { ...Object.fromEntries(filled), ...Object.fromEntries(said) } as FilledValues<Fields>
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 }
