// Reads a value by its meaning: what kind of value it is and its normal form, so that two spellings
// of one address, account or path compare equal. The same reading is used for arguments, for fields
// of answers and for prompts. Linear.

import type { ValueKind, ValueReading } from '../calls/provenance.ts'
import { isIban } from '../readers/checksums.ts'
import { parseV6, spellV6 } from '../readers/ip-address.ts'
import { foldText } from './fold-text.ts'

/** Longer texts are no addresses and no accounts. */
const ADDRESS_CHARS_MAX = 2_048
const EDGES = `"'\`‘’“”«»<>()[]{},;:!?*_|`

/** `isAddress`: the argument is known to take a URL or a host, so a bare `example.com` is one. */
export function readValue(text: string, isAddress = false): ValueReading {
  const simple = readSimple(text)
  if (simple !== undefined && (!isAddress || simple.kind === 'email')) return simple
  const folded = foldText(text).trim()
  // A number of four parts is an address of the network, if it is the whole value.
  return readFolded(folded, isAddress || (folded.charCodeAt(0) < 58 && IPV4.test(folded)))
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?$/

function readFolded(folded: string, isAddress: boolean): ValueReading {
  // A day is nothing else, and arguments are full of them.
  if (DAY.test(folded)) return { kind: 'text', whole: folded }
  const plain = collapse(folded)
  if (plain.length > ADDRESS_CHARS_MAX) return { kind: 'text', whole: plain }
  const v6 = readV6(plain)
  if (v6 !== undefined) return { kind: 'url', whole: v6, host: v6, isBareHost: true }
  const bare = trimEdges(plain)
  const email = readEmail(bare)
  if (email !== undefined) return { kind: 'email', whole: email }
  const joined = joinLines(folded)
  const url = joined.includes(' ') ? undefined : readUrl(trimEdges(joined), isAddress)
  if (url !== undefined) return url
  const account = readAccount(bare)
  if (account !== undefined) return { kind: 'account', whole: account }
  if (isPath(plain)) return { kind: 'path', whole: resolvePath(plain) }
  return { kind: 'text', whole: bare === '' ? plain : dropSigil(bare) }
}

/** `#general` and `@ann` are other spellings of a name. */
function dropSigil(text: string): string {
  return /^[#@][\p{L}\p{N}_.-]+$/u.test(text) ? text.slice(1) : text
}

/** Letters, digits and the marks of the three shapes below; 0 is everything else. */
const UNITS = new Uint8Array(128)
const CAPITAL = 1
const SMALL = 2
const DIGIT = 3
for (const [range, kind] of [
  ['AZ', CAPITAL],
  ['az', SMALL],
  ['09', DIGIT],
] as const)
  UNITS.fill(kind, range.charCodeAt(0), range.charCodeAt(1) + 1)

/** Which shapes a mark may stand in. */
const NAME = 4
const EMAIL = 8
const PATH = 16
for (const [mark, shapes] of [
  [' ', NAME],
  ['_', NAME + PATH],
  ['-', NAME + EMAIL + PATH],
  ['.', EMAIL + PATH],
  ['+', EMAIL],
  ['@', EMAIL],
  ['/', PATH],
] as const)
  UNITS[mark.charCodeAt(0)] = shapes

const KINDS: Readonly<Record<number, ValueKind>> = {
  [NAME]: 'text',
  [EMAIL]: 'email',
  [PATH]: 'path',
}

/**
 * What most values look like, in one pass: reading them closely takes most of the time. A name: letters,
 * digits and single blanks, `_` or hyphens in between; with few digits it is no account. An e-mail:
 * `ann.lee+x@mail.example.com`, with single marks. A relative path in which nothing has to be resolved:
 * `notes/2026/a_b.txt`. Undefined if it has to be read closely.
 */
export function readSimple(text: string): ValueReading | undefined {
  const { length } = text
  if (length > SIMPLE_PATH_CHARS_MAX) return undefined
  let shapes = length > SIMPLE_CHARS_MAX ? PATH : NAME + EMAIL + PATH
  let [digits, at, dot] = [0, -1, -1]
  let [hasCapitals, hasSlash] = [false, false]
  // After a mark, and at the start of a part of a path.
  let [isMark, isStart] = [true, true]
  for (let place = 0; place < length; place++) {
    const unit = text.charCodeAt(place)
    const kind = unit < 128 ? (UNITS[unit] as number) : 0
    if (kind !== 0 && kind <= DIGIT) {
      if (kind === DIGIT) digits++
      else if (kind === CAPITAL) hasCapitals = true
      isMark = false
      isStart = false
      continue
    }
    shapes &= kind
    if (isMark) shapes &= PATH
    // A part that begins with a dot may be `.` or `..`; the first one may be that of an address.
    if (isStart) shapes &= NAME + EMAIL
    if (unit === AT_SIGN && at !== -1) shapes = 0
    if (shapes === 0) return undefined
    isMark = true
    if (unit === SLASH) {
      isStart = true
      hasSlash = true
    } else if (unit === AT_SIGN) at = place
    else if (unit === DOT) dot = place
  }
  if (at === -1 || dot < at || isMark) shapes &= NAME + PATH
  if (isMark || mayBeAccount(length, digits)) shapes &= EMAIL + PATH
  if (isStart || !hasSlash || digits >= CARD_DIGITS_MIN || isWww(text)) shapes &= NAME + EMAIL
  return toSimpleReading(shapes, text, hasCapitals)
}

/** A name with so many digits, or of such a length, may be a phone number, an IBAN or a wallet. */
function mayBeAccount(length: number, digits: number): boolean {
  return length >= 8 && (digits >= 6 || length >= 26)
}

/** The reading if exactly one shape is left; otherwise undefined. */
function toSimpleReading(
  shapes: number,
  text: string,
  hasCapitals: boolean,
): ValueReading | undefined {
  const kind = KINDS[shapes]
  return kind && { kind, whole: hasCapitals ? text.toLowerCase() : text }
}

const DAY = /^\d{4}-\d\d-\d\d$/
const CARD_DIGITS_MIN = 12
const SIMPLE_CHARS_MAX = 100
const SIMPLE_PATH_CHARS_MAX = 200
const DOT = 0x2e
const SLASH = 0x2f
const AT_SIGN = 0x40

function isWww(text: string): boolean {
  return text.charCodeAt(3) === DOT && /^www\./i.test(text)
}

/** Whether a read with this value sends something to an address of the caller's choice. */
export function looksLikeUrl(text: string): boolean {
  const joined = joinLines(foldText(text).trim())
  return !joined.includes(' ') && readUrl(trimEdges(joined), false) !== undefined
}

/** Readers of URLs leave out tabs and line breaks, wherever they stand. */
function joinLines(text: string): string {
  return /[\t\n\r]/.test(text) ? text.replace(/[\t\n\r]+/g, '') : text
}

export function isDestinationKind(kind: ValueKind): boolean {
  return kind === 'email' || kind === 'url' || kind === 'account'
}

function collapse(text: string): string {
  return /\s\s|[\t\n\r]/.test(text) ? text.replace(/\s+/g, ' ') : text
}

/** Removes the quotes, brackets and punctuation around a text. */
export function trimEdges(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && EDGES.includes(text[start] as string)) start++
  while (end > start && (EDGES.includes(text[end - 1] as string) || text[end - 1] === '.')) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** `ann@example.com`, `mailto:ann@example.com`, `Ann <ann@example.com>`. */
function readEmail(written: string): string | undefined {
  // Servers decode what they are given.
  const text = written.indexOf('%40') === -1 ? written : written.replace('%40', '@')
  const at = text.lastIndexOf('@')
  if (at === -1 || at === text.length - 1) return undefined
  if (at === 0) return FEDERATED.test(text) ? text : undefined
  let start = at
  while (start > 0 && !' <:"\''.includes(text[start - 1] as string)) start--
  const local = text.slice(start, at)
  const domain = trimEdges(text.slice(at + 1))
  if (local === '' || local.includes('/') || !isHostName(domain)) return undefined
  // Of several `@` some readers take the first: such an address is none that anybody named.
  const isTwofold =
    local.includes('@') || (text[start - 1] === ':' && text.lastIndexOf('@', at - 1) !== -1)
  return isTwofold ? text : `${local}@${domain}`
}

/** `@ann:example.com`. */
const FEDERATED = /^@[^\s@:/]+:[^\s/@:?#.]+(?:\.[^\s/@:?#.]+)+$/

function isHostName(text: string): boolean {
  return /^[^\s/@:?#.]+(?:\.[^\s/@:?#.]+)+$/.test(text)
}

/** What browsers and most libraries read as the beginning of a URL: `https:/host` and `https:host` too. */
const SCHEME = /^(?:(?:https?|wss?|ftp):[\\/]*|([a-z][a-z0-9+.-]{1,15}):\/\/+)/
const RELATIVE = /^[\\/]{2,}(?=[^\\/])/

/** Where `git`, `scp` and `rsync` write to: `git@host:path`. */
const REMOTE = /^[\w.-]+@([^\s/@:?#.]+(?:\.[^\s/@:?#.]+)+):[^\s@]+$/

function readUrl(text: string, isAddress: boolean): ValueReading | undefined {
  const host = text.indexOf('@') === -1 ? undefined : REMOTE.exec(text)?.[1]
  if (host !== undefined) return { kind: 'url', whole: text, host, isBareHost: false }
  return readWebUrl(text, isAddress)
}

function readWebUrl(text: string, isAddress: boolean): ValueReading | undefined {
  const scheme = SCHEME.exec(text)
  if (scheme !== null && scheme[1] === 'file') return undefined
  const start = scheme?.[0].length ?? RELATIVE.exec(text)?.[0].length ?? 0
  const rest = start === 0 ? text : text.slice(start)
  const end = rest.search(/[/?#]/)
  const whole = end === -1 ? rest : rest.slice(0, end)
  // Some readers end the host at a backslash and some do not, and of two `@` some take the first.
  const isTwofold = (whole.includes('\\') && whole.includes('@')) || /@.*@/.test(whole)
  const authority = isTwofold ? whole : (whole.split('\\', 1)[0] as string)
  const isWritten = scheme !== null || rest.startsWith('www.')
  const query = end !== -1 && rest.includes('?')
  const isShaped = isHostName(authority.replace(/:\d+$/, ''))
  if (!isWritten && !(isShaped && (isAddress || query || start > 0))) return undefined
  const name = isTwofold
    ? authority
    : authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
  const host = name.replace(/^www\./, '').replace(/\.$/, '')
  if (host === '') return undefined
  let pathEnd = rest.length
  while (pathEnd > authority.length && /[\\/]/.test(rest.charAt(pathEnd - 1))) pathEnd--
  const path = rest.slice(authority.length, pathEnd)
  return { kind: 'url', whole: host + path, host, isBareHost: path === '' }
}

const IBAN = /^[a-z]{2}\d{2}[a-z0-9]{10,30}$/
const WALLET = /^(?:0x[0-9a-f]{40}|bc1[a-z0-9]{25,62}|[13][a-z0-9]{25,34})$/

/** IBAN, card, phone or wallet, without separators. */
function readAccount(text: string): string | undefined {
  if (text.length < 8 || text.length > 80) return undefined
  const bare = text.indexOf(':') === -1 ? text : text.replace(/^(?:tel|sms):/, '')
  const compact = bare.replace(/[ ().-]/g, '')
  if (IBAN.test(compact) || WALLET.test(compact)) return compact
  if (/^\+\d{7,15}$/.test(compact)) return compact.slice(1)
  if (/^\d{12,19}$/.test(compact) && !/^\d{4}-\d\d-\d\d/.test(text)) return compact
  // Paths and names have these separators too, so the checksum decides.
  if (compact.indexOf('_') === -1 && compact.indexOf('/') === -1) return undefined
  const joined = compact.replace(/[_/]/g, '')
  return IBAN.test(joined) && isIban(joined) ? joined : undefined
}

function isPath(text: string): boolean {
  return (
    /^(?:\/|~\/|\.\.?\/|[a-z]:[\\/]|file:\/\/)/.test(text) ||
    /^[^\s/]+(?:\/[^\s/]+)+\/?$/.test(text)
  )
}

/** `.` and `..` resolved, one separator. */
function resolvePath(text: string): string {
  const parts: string[] = []
  for (const part of text.replace(/^file:\/\/(?:localhost)?/, '').split(/[\\/]+/)) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.join('/')
}

/** Whether a value may be several: it has more than one text between blanks, commas and brackets. */
export function isSeparated(text: string): boolean {
  return /[\s<>()[\]{}"'`,;|]/.test(text.trim())
}

/** E-mails, URLs and accounts that stand within a text. */
export function listAddresses(text: string, most: number): ValueReading[] {
  const readings: ValueReading[] = []
  // Folded once as a whole: to fold each word costs ten times as much.
  const folded = foldText(text)
  const isCommand = isCommandLine(folded)
  const inner = isCommand || !INNER_COMMAND.test(folded) ? undefined : folded
  if (!isCommand && inner === undefined && !ADDRESS_MARK.test(folded)) return readings
  for (const host of inner === undefined ? [] : listInnerHosts(inner))
    if (readings.length < most) readings.push(readFolded(host, true))
  visitGroupedAccounts(folded, (compact) => {
    if (readings.length < most && IBAN.test(compact) && isIban(compact))
      readings.push({ kind: 'account', whole: compact })
  })
  const read = isCommand ? folded.replace(EXPANDED_LABEL, '$1 ') : folded
  for (const token of splitTokens(read)) {
    if (readings.length >= most) break
    if (token.length < MENTION_CHARS_MIN) continue
    if (isCommand) for (const host of listTokenHosts(token)) readings.push(readFolded(host, true))
    if (!ADDRESS_MARK.test(token)) continue
    const bare = trimEdges(token)
    if (readSimple(bare)?.kind === 'text') continue
    const reading = readFolded(bare, false)
    if (isDestinationKind(reading.kind)) readings.push(reading)
    else readings.push(...listInnerUrls(token).slice(0, most - readings.length))
  }
  return readings
}

/**
 * Hosts without a scheme that stand in a text: in a value without blanks and in a command every part that looks
 * like one, in other texts those of `key=value`, of `user@host`, and behind `//`. A name that ends like a file, or
 * has no dot, is one only if it is the value of an argument that takes addresses.
 */
export function listHosts(text: string, isAddress = false): string[] {
  const folded = decodeSlashes(foldText(text)).trim()
  if (!isAddress && !/[.@]|:[\da-f]*:/.test(folded)) return []
  const tokens = folded.split(/[\s<>(){}"'`,;|]+/)
  const isWhole = tokens.length === 1 || isAddress || isCommandLine(folded)
  return tokens.flatMap((token) => {
    if (!isWhole && !/=|@|^\/\//.test(token) && !DEVICE.test(token)) return []
    return listTokenHosts(token, isAddress ? tokens.length : 0)
  })
}

/**
 * The parts of a token that look like hosts: `user@host:80/path`, `--proxy=host`, `/dev/tcp/host/80`. `words`: of
 * the address that the token is one of; 0 if it is not known to be one.
 */
function listTokenHosts(token: string, words = 0): string[] {
  const parts = DEVICE.test(token) ? token.split('/') : token.split(/[=&]/)
  return parts.flatMap((part, index) => {
    const [authority = ''] = part.replace(/^[^\w[%]*[\\/]{2}/, '').split(/[\\/?#]/, 1)
    // Behind the colon of `scheme://` it is read as a URL.
    if (part.startsWith('://', authority.length - 1)) return []
    const at = authority.lastIndexOf('@')
    const written = authority.slice(at + 1)
    const v6 = readV6(written)
    if (v6 !== undefined) return [v6]
    const host = trimEdges(written.replace(at > 0 ? /:.*$/s : /:\d*$/, ''))
    const isRemote = at > 0 && /^[\w.-]+:./.test(written)
    if (isRemote || (words === 1 && index === 0 && host !== '') || IPV4.test(host)) return [host]
    if (!isHostName(host)) return []
    const isNamed = /\.[^\d.][^.]*$/.test(host) && !FILE_NAME.test(host)
    return isNamed || (words > 0 && index === 0) ? [host] : []
  })
}

/** An IPv6 address as URLs write it, in its usual spelling; undefined if it is none. */
function readV6(text: string): string | undefined {
  if (text.indexOf(':') === text.lastIndexOf(':')) return undefined
  const groups = parseV6(V6.exec(text)?.[1] ?? '')
  return groups && `[${spellV6(groups)}]`
}

const V6 = /^\[?([\da-f:.]{2,45})(?:%[\w.-]*)?(?:\](?::\S*)?)?$/

/** A shell opens a connection by such a path. */
const DEVICE = /^\/dev\/(?:tcp|udp)\//

/** Markup may write a slash as an entity. */
function decodeSlashes(text: string): string {
  return text.indexOf('&') === -1 ? text : text.replace(/&(?:#0*47|#x0*2f|sol);?/g, '/')
}

function isCommandLine(folded: string): boolean {
  return /[.:]/.test(folded) && COMMAND.test(folded)
}

const MENTION_CHARS_MIN = 6
/**
 * Such a line within another text: a line of cron, a command behind `nohup` or in quotes. Up to the end of its
 * line, since what is around it may be prose, and only with an option or a target behind the name.
 */
const INNER_COMMAND = /[ \t'"=](?:curl|wget|ncat|netcat)[ \t](?=-|[^\s.:/$]*[.:/$]\S)[^\n]*/
const INNER_COMMANDS = new RegExp(INNER_COMMAND, 'g')
/** The dot between an expansion of the shell and the rest of a host: `$(cat x).example.com`. */
const EXPANDED_LABEL = /([)}`'"])\.(?=[\w-]+\.)/g
/** A token that has none of these is neither an e-mail nor a URL nor an account. */
const ADDRESS_MARK = /[@:?\\\d]|\/\/|www\./
/** A line of a shell that talks to a host: its arguments may be bare hosts. */
const COMMAND =
  /(?:^|[\n;&|(`])\s?(?:sudo )?(?:curl|wget|nc|ncat|netcat|ssh|scp|rsync|telnet|s?ftp|dig|nslookup|ping) /
const FILE_NAME =
  /\.(?:txt|md|json|[cm]?[jt]sx?|py|sh|rb|go|rs|html?|css|ya?ml|toml|csv|log|xml|sql|t?gz|zip|tar|png|jpe?g|gif|pdf|docx?|xlsx?|env|key|pem|conf|bak)$/
/** Where a URL may begin within a token: `src=https://host`, `see:https:/host`, `src=//host`. */
const INNER_URL = /(?:https?|wss?|ftp):[\\/]|[a-z][a-z0-9+.-]{1,15}:\/\/|(?<=[=:])\/\//i

/** The URL that stands in a token behind something else. */
function listInnerUrls(token: string): ValueReading[] {
  const start = token.search(INNER_URL)
  if (start <= 0) return []
  const reading = readFolded(trimEdges(token.slice(start)), false)
  return reading.kind === 'url' ? [reading] : []
}

/** Texts between blanks and brackets: where addresses stand in prose. */
export function splitTokens(text: string): string[] {
  return text.split(/[\s<>()[\]{}"'`,;|“”«»]+/)
}

/** Hosts in the lines of commands that stand within a text. */
function listInnerHosts(folded: string): string[] {
  return [...folded.matchAll(INNER_COMMANDS)].flatMap(([line]) =>
    splitTokens(line).flatMap((token) => listTokenHosts(token)),
  )
}

const ACCOUNT_CHARS_MAX = 40

/** Accounts written in groups, without their separators: `DE89 3704 0044 05` in prose. */
export function visitGroupedAccounts(folded: string, visit: (compact: string) => void): void {
  if (!GROUPED.test(folded)) return
  for (const [run] of folded.matchAll(RUNS)) {
    const groups = run.split(/[ ().-]+/)
    for (let from = 0; from < groups.length; from++) {
      let compact = ''
      for (let to = from; to < groups.length; to++) {
        compact += groups[to]
        if (compact.length > ACCOUNT_CHARS_MAX) break
        if (to > from && compact.length >= 10) visit(compact)
      }
    }
  }
}

const GROUPED = /\d[ ().-]{1,2}\d/
/** At most 10 groups of at most 8 characters, so that a run is cut and the reading stays linear. The first
 * has a digit: otherwise the words before an account would cut it. */
const RUNS = /(?<![a-z0-9])(?=[a-z]{0,7}\d)[a-z0-9]{2,8}(?:[ ().-]{1,2}[a-z0-9]{1,8}){1,9}/g
