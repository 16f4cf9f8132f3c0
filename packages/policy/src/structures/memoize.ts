// Memoisation of a function of a text, for names that come again and again, or of an object. The first is
// bounded, because names are foreign: the memory is cleared when it is full, and long names are not remembered.
// Pure.

const KEY_LENGTH_MAX = 200

/** The same function, called once for each text as long as the memory lasts. `Value` must not be undefined. */
export function memoize<Value>(
  derive: (key: string) => Value,
  keysMax: number,
): (key: string) => Value {
  const known = new Map<string, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = derive(key)
      if (known.size >= keysMax) known.clear()
      if (key.length <= KEY_LENGTH_MAX) known.set(key, value)
    }
    return value
  }
}

/** The same for a function of an object: called once for each, and forgotten with it. */
export function memoizeFor<Key extends object, Value>(
  derive: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = derive(key)
      known.set(key, value)
    }
    return value
  }
}
