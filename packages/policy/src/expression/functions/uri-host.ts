// The host and port of a resource URI in normal form: lower case, ASCII (IDNA), addresses in their
// usual spelling, no default port of the scheme. Pure; called by resource-uri.ts.

import { parseV6, spellV6 } from '../../readers/ip-address.ts'
import { decodePercent } from '../../readers/percent.ts'
import { DEFAULT_PORTS, LABEL_LENGTH_MAX } from './url.ts'

const NUMBER = /^(?:0x[0-9a-f]*|\d+)$/
const DOTS = /[\u3002\uff0e\uff61]/g

/** An id such as the one in `note://42`. Programs that connect to it read it as an address. */
const LONE_NUMBER = /^(?:0|[1-9]\d{0,9})$/
const QUAD = /^\d{1,3}(?:\.\d{1,3}){3}$/

export interface HostScheme {
  readonly scheme: string
  /** The scheme is one of WHATWG's special ones, whose hosts are names or addresses of machines. */
  readonly isSpecial: boolean
}

/** A text that is not a host stays unchanged, in lower case. */
export function normaliseHost(written: string, { scheme, isSpecial }: HostScheme): string {
  const [, rawHost = '', rawPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(written) ?? ['', written]
  const port = rawPort?.replace(/^0+(?=\d)/, '') ?? ''
  const isImplied = port === '' || port === String(DEFAULT_PORTS.get(scheme) ?? '')
  const name = !isSpecial && LONE_NUMBER.test(rawHost) ? rawHost : normaliseName(rawHost)
  return name + (isImplied ? '' : `:${port}`)
}

/** The other spelling of a host that is a lone number or an address: `redis://2130706433` and
 * `redis://127.0.0.1` may be one machine. Undefined for every other host. */
export function respellAddress(host: string): string | undefined {
  const [, name = '', port = ''] = /^([^:]*)(:\d+)?$/.exec(host) ?? []
  const quad = LONE_NUMBER.test(name) ? dottedQuad([name]) : undefined
  if (quad !== undefined) return quad + port
  if (!QUAD.test(name)) return undefined
  return name.split('.').reduce((sum, number) => sum * 256 + Number(number), 0) + port
}

function normaliseName(written: string): string {
  const lower = decodePercent(written)
    .replace(/\p{Cf}/gu, '')
    .replace(DOTS, '.')
    .normalize('NFKC')
    .toLowerCase()
  if (lower.startsWith('[')) {
    const groups = parseV6(lower.slice(1, -1))
    return groups === undefined ? lower : `[${spellV6(groups)}]`
  }
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower
  const labels = host.split('.')
  if (NUMBER.test(labels.at(-1) as string)) return dottedQuad(labels) ?? host
  return labels.map(toAscii).join('.')
}

/** Reads an address like inet_aton and browsers: `127.1`, `0x7f.1`, `2130706433` and `0177.0.0.1` are one. */
function dottedQuad(labels: readonly string[]): string | undefined {
  const numbers = labels.map(readNumber)
  const last = numbers.pop() as number
  const room = 256 ** (4 - numbers.length)
  const fits = numbers.length < 4 && numbers.every((number) => number < 256) && last < room
  if (!fits) return undefined
  const address = numbers.reduce((sum, number, at) => sum + number * 256 ** (3 - at), last)
  return [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.')
}

/** NaN if it is not a number. */
function readNumber(label: string): number {
  if (!NUMBER.test(label)) return Number.NaN
  if (label.startsWith('0x')) return Number.parseInt(label.slice(2) || '0', 16)
  if (label.length > 1 && label.startsWith('0'))
    return /[89]/.test(label) ? Number.NaN : Number.parseInt(label, 8)
  return Number(label)
}

/** Punycode (RFC 3492). */
function toAscii(label: string): string {
  const points = [...label].map((character) => character.codePointAt(0) as number)
  const basic = points.filter((point) => point < 0x80)
  if (basic.length === points.length || points.length > LABEL_LENGTH_MAX) return label
  if (points.some(isWildcard)) return label
  let output = String.fromCodePoint(...basic) + (basic.length > 0 ? '-' : '')
  let handled = basic.length
  let next = 0x80
  let delta = 0
  let bias = 72
  while (handled < points.length) {
    const floor = next
    const least = Math.min(...points.filter((point) => point >= floor))
    delta += (least - next) * (handled + 1)
    next = least
    for (const point of points) {
      if (point < next) delta++
      if (point !== next) continue
      output += encodeDelta(delta, bias)
      bias = adapt(delta, handled + 1, handled === basic.length)
      delta = 0
      handled++
    }
    delta++
    next++
  }
  return `xn--${output}`
}

/** Whether a code point is a wildcard of a pattern, see resource-uri.ts. */
function isWildcard(point: number): boolean {
  return point === 0xe000 || point === 0xe001
}

function encodeDelta(delta: number, bias: number): string {
  let text = ''
  let rest = delta
  for (let step = 36; ; step += 36) {
    const threshold = Math.min(Math.max(step - bias, 1), 26)
    if (rest < threshold) return text + toDigit(rest)
    const digit = threshold + ((rest - threshold) % (36 - threshold))
    text += toDigit(digit)
    rest = Math.floor((rest - threshold) / (36 - threshold))
  }
}

/** 0 to 25 are the letters, then the digits. */
function toDigit(digit: number): string {
  return String.fromCharCode(digit < 26 ? digit + 0x61 : digit - 26 + 0x30)
}

function adapt(delta: number, handled: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / handled)
  let bias = 0
  for (; rest > 455; bias += 36) rest = Math.floor(rest / 35)
  return bias + Math.floor((36 * rest) / (rest + 38))
}
