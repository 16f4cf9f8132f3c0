// Members whose names every object inherits, such as `__proto__`. Pure; used by the JSON reader.

const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype))
const INHERITED_LENGTH_MIN = Math.min(...[...INHERITED].map((name) => name.length))

export function isInherited(key: string): boolean {
  return key.length >= INHERITED_LENGTH_MIN && INHERITED.has(key)
}

/**
 * Plain assignment to `__proto__` would change the prototype instead of adding a key, and the others
 * would throw if Object.prototype is frozen.
 */
export function setOwn(object: object, key: string, value: unknown): void {
  const own = { value, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(object, key, own)
}
