// Names on the endpoint of all servers: `server__tool`, at most 64 characters. A server's name has
// no underscore, so the first `__` is where it ends. Pure; a shortened name does not tell the whole
// one, so the caller keeps a table from what it gave out to what was meant.

import { JOINED_NAME_LENGTH_MAX, NAME_HASH_LENGTH } from './json/limits.ts'

const SEPARATOR = '__'
const SERVER_NAME = /^[a-z0-9-]{1,24}$/

/** Gives at least eight characters that a name may have, as evenly spread as can be: of a
 * cryptographic hash in base64url or the like, since names are chosen by servers. */
export type Hash = (text: string) => string

/** Past 64 characters: the beginning, and eight characters of the whole name's hash. */
export function joinName(server: string, name: string, hash: Hash): string {
  if (!SERVER_NAME.test(server))
    throw new Error('the name of a server is 1 to 24 of a-z, 0-9 and hyphen')
  const joined = server + SEPARATOR + name
  if (joined.length <= JOINED_NAME_LENGTH_MAX) return joined
  const kept = joined.slice(0, JOINED_NAME_LENGTH_MAX - NAME_HASH_LENGTH)
  // Half a surrogate pair could not be sent.
  return kept.replace(/[\ud800-\udbff]$/, '') + hash(joined).slice(0, NAME_HASH_LENGTH)
}

/** Undefined where no server can be meant. */
export function splitToolName(joined: string): { server: string; name: string } | undefined {
  const at = joined.indexOf(SEPARATOR)
  const server = joined.slice(0, Math.max(at, 0))
  if (!SERVER_NAME.test(server)) return undefined
  return { server, name: joined.slice(at + SEPARATOR.length) }
}
