// Names on the aggregate endpoint: `server__tool`, at most 64 characters. A server's name has no
// underscore, so the first `__` ends it. Pure; a shortened name does not contain the whole one, so
// the caller stores a table of the names it gave out.

import { JOINED_NAME_LENGTH_MAX, NAME_HASH_LENGTH } from './json/limits.ts'

const SEPARATOR = '__'
const SERVER_NAME = /^[a-z0-9-]{1,24}$/

/**
 * Returns at least eight characters that are valid in a name, evenly distributed: a cryptographic
 * hash in base64url or similar, since servers choose the names.
 */
export type Hash = (text: string) => string

/** Past `lengthMax` characters: the start, and eight characters of the whole name's hash. */
export function joinName(
  server: string,
  name: string,
  hash: Hash,
  lengthMax = JOINED_NAME_LENGTH_MAX,
): string {
  if (!SERVER_NAME.test(server))
    throw new Error('the name of a server is 1 to 24 of a-z, 0-9 and hyphen')
  const joined = server + SEPARATOR + name
  if (joined.length <= lengthMax) return joined
  const start = joined.slice(0, lengthMax - NAME_HASH_LENGTH)
  // A lone surrogate could not be sent.
  return start.replace(/[\ud800-\udbff]$/, '') + hash(joined).slice(0, NAME_HASH_LENGTH)
}

/** Splits a name of the aggregate; undefined if it names no server. */
export function splitToolName(joined: string): { server: string; name: string } | undefined {
  const at = joined.indexOf(SEPARATOR)
  const server = joined.slice(0, Math.max(at, 0))
  if (!SERVER_NAME.test(server)) return undefined
  return { server, name: joined.slice(at + SEPARATOR.length) }
}
