// Links and images in Markdown and HTML that lead to other hosts: an image is fetched as soon as a client
// shows it, and its address can carry data away. Only what Markdown or HTML makes a link is removed; a
// bare address in a text stays. Linear: every part of a pattern is bounded. Pure.

import type { Steps } from '@sluice/policy/core/steps'
import type { TextSpan } from './chain.ts'

export interface ExternalLink extends TextSpan {
  /** What is shown instead. */
  readonly replacement: string
}

const ADDRESS = String.raw`((?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/|\\\\)[^\s<>]{1,2000}?)`
/** Of `[label](address "title")`: from the end of the label to where the address is free. */
const INLINE_BEGINNING = /\]\([ \t]{0,8}<?((?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/|\\\\))(?=[^\s<>])/iy
const LABEL_CHARS_MAX = 200
const ADDRESS_CHARS_MAX = 2_000
const TITLE_CHARS_MAX = 200
const TITLE_BLANKS_MAX = 8
/** Links that are found in one step. */
const STEP_LINKS = 1_000
const REFERENCE = new RegExp(
  String.raw`^[ ]{0,3}(\[[^\]\n]{1,200}\]:)[ \t]{0,8}<?${ADDRESS}>?(?=[ \t\r\n]|$)`,
  'gim',
)
const AUTOLINK = new RegExp(`<${ADDRESS}>`, 'gi')
const TAG =
  /<(?:img|a|iframe|video|audio|source|script|link|embed|object|form|input)\b[^<>]{0,2000}>/gi
const ATTRIBUTE =
  /\b(?:src|href|srcset|data|action|poster)\s{0,4}=\s{0,4}["']?\s{0,4}((?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/|\\\\)[^\s"'<>]{1,2000})/i

/** In the order of the text, without overlaps; in steps, each short. `isListed` is asked with a host in lower
 * case. */
export function* findExternalLinksSteps(
  text: string,
  isListed: (host: string) => boolean,
): Steps<ExternalLink[]> {
  if (!/\/\/|\\\\/.test(text)) return []
  const links: ExternalLink[] = []
  const add = ({ start, end }: TextSpan, address: string, show: (host: string) => string) => {
    const host = hostOf(address)
    if (host !== undefined && isListed(host)) return
    const shown = host === undefined ? 'an address that cannot be read' : host.slice(0, 100)
    links.push({ start, end, replacement: show(shown) })
  }
  for (const link of inlineLinks(text)) {
    add(link, link.address, (host) =>
      link.isImage ? `[image removed: ${host}]` : `${link.label} [link removed: ${host}]`,
    )
    if (links.length % STEP_LINKS === 0) yield
  }
  yield
  for (const match of text.matchAll(REFERENCE)) {
    add(spanOf(match), match[2] ?? '', (host) => `${match[1]} [link removed: ${host}]`)
    if (links.length % STEP_LINKS === 0) yield
  }
  yield
  for (const match of text.matchAll(AUTOLINK))
    add(spanOf(match), match[1] ?? '', (host) => `[link removed: ${host}]`)
  yield
  for (const match of text.matchAll(TAG)) {
    const address = ATTRIBUTE.exec(match[0])?.[1]
    if (address !== undefined) add(spanOf(match), address, (host) => `[link removed: ${host}]`)
  }
  yield
  const external: ExternalLink[] = []
  for (const link of links.sort((one, other) => one.start - other.start))
    if (link.start >= (external.at(-1)?.end ?? 0)) external.push(link)
  return external
}

function spanOf({ 0: matched, index }: RegExpExecArray): TextSpan {
  return { start: index, end: index + matched.length }
}

interface InlineLink extends TextSpan {
  readonly isImage: boolean
  readonly label: string
  readonly address: string
}

/** `[label](address)` and `![label](address)`. By hand: an expression reads the label again for every bracket, and
 * the address for every label. */
function* inlineLinks(text: string): Generator<InlineLink> {
  let from = 0
  // The next characters that end an address, found once for all of them before.
  let stop = -1
  let close = -1
  let line = -1
  for (let at = text.indexOf('](', 0); at >= 0; at = text.indexOf('](', at + 1)) {
    INLINE_BEGINNING.lastIndex = at
    const [beginning, scheme = ''] = INLINE_BEGINNING.exec(text) ?? []
    if (beginning === undefined) continue
    const start = startOfLabel(text, at, from)
    if (start === undefined) continue
    const free = at + beginning.length
    if (stop < free) stop = findStop(text, free)
    if (close <= free) close = indexOrEnd(text, ')', free + 1)
    const end = Math.min(stop, close)
    if (end - free > ADDRESS_CHARS_MAX) continue
    const title = text[end] === '>' ? end + 1 : end
    if (close < title) close = indexOrEnd(text, ')', title)
    if (line < title) line = indexOrEnd(text, '\n', title)
    if (close > line || close === text.length || !isTitle(text, title, close)) continue
    const isImage = start > from && text[start - 1] === '!'
    const place = { start: isImage ? start - 1 : start, end: close + 1 }
    const address = scheme + text.slice(free, end)
    yield { ...place, isImage, label: text.slice(start + 1, at), address }
    from = place.end
    at = from - 1
  }
}

/** Nothing, or blanks and a title up to the bracket at `close`. */
function isTitle(text: string, start: number, close: number): boolean {
  if (start === close) return true
  let blanks = 0
  while (blanks < TITLE_BLANKS_MAX && ' \t'.includes(text.charAt(start + blanks))) blanks++
  return blanks > 0 && close - start - blanks <= TITLE_CHARS_MAX
}

/** The first bracket that a label which ends at `end` may begin with. */
function startOfLabel(text: string, end: number, from: number): number | undefined {
  let start: number | undefined
  for (let at = end - 1; at >= from && at >= end - 1 - LABEL_CHARS_MAX; at--) {
    const letter = text[at]
    if (letter === ']' || letter === '\n') break
    if (letter === '[') start = at
  }
  return start
}

const STOP = /[\s<>]/g

function findStop(text: string, from: number): number {
  STOP.lastIndex = from
  return STOP.exec(text)?.index ?? text.length
}

function indexOrEnd(text: string, letter: string, from: number): number {
  const at = text.indexOf(letter, from)
  return at < 0 ? text.length : at
}

/** Undefined if parsers may read another one. */
function hostOf(address: string): string | undefined {
  const [, host] =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#)]|$)/i.exec(
      address,
    ) ?? [undefined, undefined]
  return host?.toLowerCase()
}
