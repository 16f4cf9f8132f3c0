// How a value is written into a record, together with when two values are written the same: code that stores the text of a
// value to use it again compares the fields that the text has, and no other. Pure.

export interface FieldCodec<Value> {
  readonly write: (value: Value) => string
  /** True only if both are written the same. It may be false although they are. */
  readonly isSame: (one: Value, other: Value) => boolean
}

/** Values that are compared by identity, such as texts. */
export function plain<Value>(write: (value: Value) => string): FieldCodec<Value> {
  return { write, isSame: (one, other) => one === other }
}

/** A member of an object. */
export function field<Whole, Value>(
  read: (whole: Whole) => Value,
  { isSame, write }: FieldCodec<Value>,
): FieldCodec<Whole> {
  return {
    write: (whole) => write(read(whole)),
    isSame: (one, other) => isSame(read(one), read(other)),
  }
}

/** Several members, separated by commas. */
export function fields<Whole>(all: readonly FieldCodec<Whole>[]): FieldCodec<Whole> {
  return {
    write: (whole) => {
      let text = ''
      for (const { write } of all) text = text === '' ? write(whole) : `${text},${write(whole)}`
      return text
    },
    isSame: (one, other) => {
      if (one === other) return true
      for (const { isSame } of all) if (!isSame(one, other)) return false
      return true
    },
  }
}

/** An array, in brackets. */
export function list<Item>({ isSame, write }: FieldCodec<Item>): FieldCodec<readonly Item[]> {
  return {
    write: (items) => {
      let inner = ''
      for (const item of items) inner = inner === '' ? write(item) : `${inner},${write(item)}`
      return `[${inner}]`
    },
    isSame: (one, other) => {
      if (one.length !== other.length) return false
      for (let at = 0; at < one.length; at++)
        if (!isSame(one[at] as Item, other[at] as Item)) return false
      return true
    },
  }
}

/** An object as an array of its members. */
export function tuple<Whole>(all: readonly FieldCodec<Whole>[]): FieldCodec<Whole> {
  const { isSame, write } = fields(all)
  return { isSame, write: (whole) => `[${write(whole)}]` }
}
