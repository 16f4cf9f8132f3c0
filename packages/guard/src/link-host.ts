// The host that an address in Markdown or HTML leads to, as the most lenient of the programs that show such
// texts reads it: entities and backslash escapes undone, without tabs and line breaks, whatever the number
// and direction of its slashes. Pure; used by external-links.ts and html-addresses.ts.

import { undoEntities } from './views.ts'

/** `'relative'` leads to no host; `'unreadable'` may lead to any. */
type LinkHost = { readonly host: string } | 'relative' | 'unreadable'

/** How much of an address is read: what follows cannot change its host, or the host cannot be told. */
export const HEAD_CHARS = 512
/** What is reported in place of a host. */
export const UNREADABLE = 'an address that cannot be read'
const REMOVED = /[\t\n\r]+/g
const LEADING = /^[\0-\x20\s]+/
const PUNCTUATION_ESCAPE = /\\([!-/:-@[-`{-~])/g
const FULL = /^([a-z][a-z0-9+.-]*):([\\/]*)([^\\/?#]*)/i
/** Read with a host even without slashes. */
const SPECIAL = /^(?:https?|wss?|ftp)$/i
const HOST = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/** The first host that is not listed, of all readings of `address`; undefined if it may stay. */
export function findExternalHost(
  address: string,
  isListed: (host: string) => boolean,
): string | undefined {
  const head = address.slice(0, HEAD_CHARS)
  // Its scheme may stand behind what was read.
  const isCut = address.length > HEAD_CHARS
  const plain = undoEntities(head)
  const readings = plain.includes('\\') ? [plain, plain.replace(PUNCTUATION_ESCAPE, '$1')] : [plain]
  for (const reading of readings) {
    const found = hostOf(reading, isCut)
    if (found === 'unreadable') return UNREADABLE
    if (found !== 'relative' && !isListed(found.host)) return found.host.slice(0, 100)
  }
  return undefined
}

function hostOf(reading: string, isCut: boolean): LinkHost {
  const address = reading.replace(REMOVED, '').replace(LEADING, '')
  const [, scheme = '', slashes = '', authority = ''] = FULL.exec(address) ?? []
  if (scheme === '' && /^[\\/]{2}/.test(address)) return readHost(address.replace(/^[\\/]+/, ''))
  if (scheme === '') return isCut && !/[/?#]/.test(address) ? 'unreadable' : 'relative'
  if (SPECIAL.test(scheme) || slashes.length >= 2) return readHost(authority)
  return 'relative'
}

function readHost(text: string): LinkHost {
  const host = HOST.exec(/^[^\\/?#]*/.exec(text)?.[0] ?? '')?.[1]
  return host === undefined ? 'unreadable' : { host: host.toLowerCase() }
}

/** Finds the next of some marks, each place once however often it is asked for. */
export class NextMarks {
  readonly #text: string
  readonly #next = new Map<string | RegExp, number>()

  constructor(text: string) {
    this.#text = text
  }

  /** From `from` on, which never goes back; the length of the text if there is none. An expression is global. */
  find(mark: string | RegExp, from: number): number {
    const known = this.#next.get(mark) ?? -1
    if (known >= from) return known
    if (typeof mark !== 'string') mark.lastIndex = from
    const found =
      typeof mark === 'string'
        ? this.#text.indexOf(mark, from)
        : (mark.exec(this.#text)?.index ?? -1)
    const at = found < 0 ? this.#text.length : found
    this.#next.set(mark, at)
    return at
  }
}
