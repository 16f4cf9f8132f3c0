// Normal form of resource URIs (RFC 3986 6.2.2; WHATWG URL for `file:` and `http(s):`). Rules on
// resources compare normal forms. A URI counts as normal only if every parser that a server may use
// reads the same resource from it: another spelling of a denied resource must not pass as another
// resource. Pure; compile.ts normalises patterns with it, decide-uri.ts decides on calls.

import { URI_LENGTH_MAX } from '../../language/limits.ts'
import { decodePercent } from '../../readers/percent.ts'
import { normaliseHost, respellAddress } from './uri-host.ts'

interface UriParts {
  /** In lower case, without the colon; empty if there is none. */
  readonly scheme: string
  /** User and password, with the `@` behind them; empty if there are none. */
  readonly user: string
  /** Host and port; undefined if the URI has no authority. */
  readonly host: string | undefined
  readonly path: string
  /** The query with the `?` before it; empty if there is none. */
  readonly query: string
}

/** What a URI means to the parsers that a server may use. */
export interface UriReading {
  /** The URI is its own normal form, and every parser reads the same resource from it. */
  readonly isNormal: boolean
  /** The normal form first, then what a server that decodes repeatedly reads, if that is different. */
  readonly readings: readonly [string, ...string[]]
  /**
   * Without user, query, parameters or the last slash: servers that ignore these read the same resource. Also with a
   * numeric host spelt as an address, or the reverse.
   */
  readonly shorter: readonly string[]
}

/**
 * How a path is read: by RFC 3986, or as the most lenient server does, which decodes until nothing
 * changes and accepts every look-alike of a separator.
 */
type Depth = 'normal' | 'deepest'

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):/
/** Schemes for which the WHATWG parser reads `\` as `/` and needs no `//`. */
const SPECIAL: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])
const ILLEGAL = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/
/**
 * Characters that a path contains unescaped: RFC 3986 `pchar` and `/`, without the star of
 * patterns.
 */
const PATH_CHARACTER = /[A-Za-z0-9\-._~!$&'()+,;=:@/{}]/
const QUERY_CHARACTER = /[A-Za-z0-9\-._~!$&'()*+,;=:@/?{}]/
const UNRESERVED = /[A-Za-z0-9\-._~]/
/** Escapes of these mean the same as the character, but RFC 3986 distinguishes them. */
const RESERVED_IN_PATH = /%(?:21|24|26|27|28|29|2[BbCc]|3[AaBbDd]|40|7[BbDd])/g
const ESCAPE = /%[0-9a-f]{2}/gi
const ESCAPE_HERE = /^%[0-9a-f]{2}$/i
/** Scheme and authority, path, query. */
const PIECES = /^((?:[a-z][^:/?#]*:)?(?:\/\/[^/?#]*)?)([^?#]*)(.*)$/s
const HOST = /^(?:[a-z0-9._~-]*|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/
const DRIVE = /^\/([A-Za-z])[:|](?=\/|$)/
/** Wildcards of a pattern while it is read as a URI; private use, so that no URI has them. */
const STAR = '\ue000'
const ANY = '\ue001'
const WILDCARD = /[\ue000\ue001]/

/** Reads a URI as every parser does that a server may use. One that is too long is not normal. */
export function readUri(uri: string): UriReading {
  if (uri.length > URI_LENGTH_MAX) return { isNormal: false, readings: [uri], shorter: [] }
  const written = split(uri, false)
  const normal = join(written, 'normal')
  const deepest = join(written, 'deepest')
  const isNormal =
    !ILLEGAL.test(uri) &&
    written.scheme !== '' &&
    written.user === '' &&
    !uri.includes('#') &&
    HOST.test(written.host ?? '') &&
    spell(uri) === normal &&
    normal === deepest
  const readings: [string, ...string[]] = normal === deepest ? [normal] : [normal, deepest]
  return { isNormal, readings, shorter: shorterThan(readings) }
}

/**
 * The normal form of a glob over URIs; undefined if it has none, because a `..` or a fragment
 * combined with wildcards, or a host beyond ASCII, matches nothing in normal form.
 */
export function normaliseUriPattern(pattern: string): string | undefined {
  const marked = pattern.replaceAll('*', STAR).replaceAll('?', ANY)
  if (marked.length > URI_LENGTH_MAX || marked.includes('#')) return undefined
  const parts = split(marked, true)
  if (WILDCARD.test(marked) && hasDotSegment(parts.path)) return undefined
  const form = join(parts, 'normal')
  if (/[^\0-\x7f\ue000\ue001]/.test(form)) return undefined
  return form.replaceAll(STAR, '*').replaceAll(ANY, '?')
}

function split(uri: string, isPattern: boolean): UriParts {
  // The WHATWG parser drops these before it reads anything.
  const text = trimEnd(uri.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+/, ''), isControlOrSpace)
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? ''
  const isSpecial = SPECIAL.has(scheme)
  const hash = text.indexOf('#')
  let rest = text.slice(scheme === '' ? 0 : scheme.length + 1, hash < 0 ? undefined : hash)
  const mark = rest.indexOf('?')
  const query = mark < 0 || scheme === 'file' ? '' : rest.slice(mark)
  if (mark >= 0) rest = rest.slice(0, mark)
  rest = rest.replaceAll('\\', '/')
  const lead = /^\/*/.exec(rest)?.[0].length ?? 0
  // The star of `file:/*` may match slashes, the host and the path.
  if (lead < 2 && WILDCARD.test(rest.charAt(lead)))
    return { scheme, user: '', host: undefined, path: rest, query }
  if (scheme === 'file' && lead !== 2)
    return { scheme, user: '', host: '', path: `/${rest.slice(lead)}`, query }
  const hasAuthority = lead >= 2 || (isSpecial && scheme !== 'file')
  if (!hasAuthority) {
    const isRooted = scheme !== '' && lead === 1
    return { scheme, user: '', host: isRooted ? '' : undefined, path: rest, query }
  }
  // `http:///host` and `http:host` are `http://host`; with any other scheme the host is empty then.
  const from = isSpecial && scheme !== 'file' ? lead : 2
  const end = authorityEnd(rest, from, isPattern)
  const authority = rest.slice(from, end)
  const at = authority.lastIndexOf('@')
  const user = authority.slice(0, at + 1)
  const path = rest.slice(end)
  const host = normaliseHost(authority.slice(at + 1), { scheme, isSpecial })
  // Servers use the path and ignore the host, and `localhost` is the same as none.
  if (scheme === 'file') return { scheme, user, host: WILDCARD.test(host) ? host : '', path, query }
  return { scheme, user, host, path: isSpecial && path === '' ? '/' : path, query }
}

/**
 * In a pattern the host ends before `?`, which is literal in front of a query, and before a star
 * that no slash follows: it may match a path.
 */
function authorityEnd(rest: string, from: number, isPattern: boolean): number {
  const slash = rest.indexOf('/', from)
  if (!isPattern) return slash < 0 ? rest.length : slash
  const any = rest.indexOf(ANY, from)
  const ends = [slash, any].filter((end) => end >= 0)
  const star = rest.indexOf(STAR, from)
  if (star >= 0 && slash < 0) ends.push(star)
  return ends.length === 0 ? rest.length : Math.min(...ends)
}

function join({ scheme, user, host, path, query }: UriParts, depth: Depth): string {
  const head = scheme === '' ? '' : `${scheme}:`
  const authority = host === undefined ? '' : `//${user}${host}`
  return head + authority + normalisePath(path, depth) + normaliseQuery(query)
}

/**
 * The URI as written, with escapes of reserved characters decoded, to be compared with the normal
 * form: `%40` and `@` are equal, and both are normal.
 */
function spell(uri: string): string {
  const mark = uri.indexOf('?')
  const path = mark < 0 ? uri : uri.slice(0, mark)
  const plain = path.replace(RESERVED_IN_PATH, (written) =>
    String.fromCharCode(Number.parseInt(written.slice(1), 16)),
  )
  const drive = plain.startsWith('file:///') ? upperDrive(plain.slice(7)) : undefined
  return (drive === undefined ? plain : `file://${drive}`) + (mark < 0 ? '' : uri.slice(mark))
}

function normalisePath(path: string, depth: Depth): string {
  const plain = depth === 'normal' ? decodeOnce(path) : undisguise(decodePercent(path))
  const segments = removeDotSegments(upperDrive(plain).split('/'), depth)
  return encode(segments.join('/'), PATH_CHARACTER, depth === 'normal')
}

/** Decodes escapes of characters that need none in a path, and upper-cases all others. */
function decodeOnce(path: string): string {
  return path.replace(ESCAPE, (written) => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16))
    return character !== '/' && PATH_CHARACTER.test(character) ? character : written.toUpperCase()
  })
}

function normaliseQuery(query: string): string {
  const plain = query.replace(ESCAPE, (written) => {
    const character = String.fromCharCode(Number.parseInt(written.slice(1), 16))
    return UNRESERVED.test(character) ? character : written.toUpperCase()
  })
  return encode(plain, QUERY_CHARACTER, true)
}

/**
 * A decoded path as the most lenient readers take it: overlong UTF-8, hidden characters,
 * look-alikes.
 */
function undisguise(text: string): string {
  return text
    .replace(/\u00c0([\u0080-\u00bf])/g, (_, low: string) => shortCharacter(0, low))
    .replace(/\u00c1([\u0080-\u00bf])/g, (_, low: string) => shortCharacter(0x40, low))
    .replace(/[\u00e0\u00f0]\u0080{1,2}([\u0080-\u00bf])/g, (_, low: string) =>
      shortCharacter(0, low),
    )
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[\u2024\ufe52\uff0e\u3002\uff61]/g, '.')
    .replace(/[\u2025\u2026]/g, '..')
    .replace(/[\\\u2044\u2215\u29f8\uff0f\u2216\u29f5\u29f9\uff3c\ufe68\u00a5\u20a9]/g, '/')
    .replace(/[\uff05\ufe6a]/g, '%')
    .normalize('NFC')
}

/** The character of an overlong sequence, by the bits of its last byte. */
function shortCharacter(high: number, low: string): string {
  return String.fromCharCode(high | (low.charCodeAt(0) & 0x3f))
}

function removeDotSegments(segments: readonly string[], depth: Depth): string[] {
  const isDeepest = depth === 'deepest'
  const first = segments[0] === '' ? [''] : []
  const result = [...first]
  for (const [index, segment] of segments.entries()) {
    if (index < first.length) continue
    const name = isDeepest ? plainName(segment) : segment
    const isLast = index === segments.length - 1
    if (name === '..' && result.length > first.length) result.pop()
    const isDropped = name === '.' || name === '..' || (isDeepest && name === '')
    if (!isDropped) result.push(name)
    else if (isLast && result.length > 0) result.push('')
  }
  return result
}

/** A name without what some servers drop: `..;x` climbs in Tomcat, Windows drops trailing dots. */
function plainName(segment: string): string {
  const bare = /^\.{1,2};/.test(segment) ? segment.slice(0, segment.indexOf(';')) : segment
  return bare === '.' || bare === '..' ? bare : trimEnd(bare, isDotOrSpace)
}

/** A regular expression would try every run of spaces from each of its positions. */
function trimEnd(text: string, drops: (code: number) => boolean): string {
  let end = text.length
  while (end > 0 && drops(text.charCodeAt(end - 1))) end--
  return text.slice(0, end)
}

function isControlOrSpace(code: number): boolean {
  return code <= 0x20
}

function isDotOrSpace(code: number): boolean {
  return code === 0x2e || code === 0x20
}

function hasDotSegment(path: string): boolean {
  return path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))
}

/** `c:` and `C|` are one drive; after a drive, a colon starts the name of a stream. */
function upperDrive(path: string): string {
  const drive = DRIVE.exec(path)?.[1]
  return drive === undefined ? path : `/${drive.toUpperCase()}:${path.slice(3)}`
}

function encode(text: string, plain: RegExp, keepsEscapes: boolean): string {
  let encoded = ''
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) as number)
    if (plain.test(character) || WILDCARD.test(character)) encoded += character
    else if (keepsEscapes && ESCAPE_HERE.test(text.slice(at, at + 3))) encoded += character
    else encoded += encodeCharacter(character)
    at += character.length
  }
  return encoded
}

/** A lone surrogate becomes the replacement character. */
function encodeCharacter(character: string): string {
  if (character === '*') return '%2A'
  return encodeURIComponent(/^\p{Cs}$/u.test(character) ? '\ufffd' : character)
}

/** The readings without what many servers ignore, if that makes a difference. */
function shorterThan(readings: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const reading of readings) {
    const [, head = '', path = '', query = ''] = PIECES.exec(reading) ?? []
    const at = head.lastIndexOf('@')
    const anonymous = at < 0 ? head : head.slice(0, head.indexOf('//') + 2) + head.slice(at + 1)
    const cut = path.replace(/%(?:3F|23).*$/s, '').replace(/;[^/]*/g, '')
    const bare = cut.length > 1 && cut.endsWith('/') ? cut.slice(0, -1) : cut
    for (const each of [anonymous, respellHead(anonymous)]) {
      if (each === undefined) continue
      forms.add(each + path + query)
      forms.add(each + bare + query)
      forms.add(each + bare)
    }
  }
  for (const reading of readings) forms.delete(reading)
  return [...forms]
}

function respellHead(head: string): string | undefined {
  const [, scheme = '', host = ''] = /^([^:/]*):\/\/(.*)$/s.exec(head) ?? []
  const other = SPECIAL.has(scheme) ? undefined : respellAddress(host)
  return other === undefined ? undefined : `${scheme}://${other}`
}
