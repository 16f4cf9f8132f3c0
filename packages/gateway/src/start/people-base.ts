// Where people reach the gate with a browser: the public address, or this machine by its name, since
// no browser makes passkeys for an address in numbers. Pure.

/** Returns the address at which people reach the gate; undefined if it serves no pages. */
export function peopleBase(publicUrl: string | undefined, url: string): string | undefined {
  // The gate answers at this name and no other.
  if (publicUrl !== undefined) return publicUrl.replace(/\/$/, '')
  if (!/^https?:/.test(url)) return undefined
  return url
    .replace(/\/$/, '')
    .replace(/\/\/(127\.0\.0\.1|\[::1\]|0\.0\.0\.0|\[::\])(?=:|$)/, '//localhost')
}
