// Members that may be left out, but not be undefined.

/** The members that have a value. */
export function pickDefined<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
