// Links and images in Markdown and HTML that lead to other hosts: an image is fetched as soon as a client
// shows it, and its address can carry data away. Every place behind which Markdown or HTML reads an address
// counts, whatever label or title stands around it; a bare address in a text stays. Linear. Pure.

import type { Steps } from '@sluice/policy/structures/steps'
import type { TextSpan } from './chain.ts'
import { findHtmlAddresses } from './html-addresses.ts'
import { findExternalHost, HEAD_CHARS, NextMarks, UNREADABLE } from './link-host.ts'

export interface ExternalLink extends TextSpan {
  /** What is shown instead. */
  readonly replacement: string
}

const LABEL_CHARS_MAX = 200
const TITLE_CHARS_MAX = 200
const TITLE_BLANKS_MAX = 8
/** Links that are found in one step. */
const STEP_LINKS = 500
/** What stands before an address: `[label](` and `[label]:`. */
const BEGINNING = /\]([(:])\s*(<?)/g
/** What ends an address behind `<`, in brackets, and elsewhere. */
const BRACKET_END = /[>\n]/g
const INLINE_END = /[)>< \t\r\n]/g
const PLAIN_END = /[>< \t\r\n]/g
const AUTOLINK = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/gi

/** Whether a text can have any: most have none. */
export function mayHaveLinks(text: string): boolean {
  return /[\\&]|\/\/|(?:https?|wss?|ftp):/i.test(text)
}

/** In the order of the text, without overlaps; in steps, each short. `isListed` is asked with a host in lower
 * case. */
export function* findExternalLinksSteps(
  text: string,
  isListed: (host: string) => boolean,
): Steps<ExternalLink[]> {
  if (!mayHaveLinks(text) && !/[\t\r\n]/.test(text)) return []
  const links: ExternalLink[] = yield* findMarkdownLinks(text, isListed)
  yield
  for (const { 0: whole, 1: address = '', index } of text.matchAll(AUTOLINK)) {
    const host = findExternalHost(address, isListed)
    if (host === undefined) continue
    links.push({ start: index, end: index + whole.length, replacement: removed(host) })
    if (links.length % STEP_LINKS === 0) yield
  }
  yield
  for (const { start, end, host } of yield* findHtmlAddresses(text, isListed))
    links.push({ start, end, replacement: removed(host) })
  yield
  return mergeOverlaps(links)
}

function removed(host: string): string {
  return `[link removed: ${host}]`
}

/** Merges links that overlap into the first of them. */
function mergeOverlaps(links: ExternalLink[]): ExternalLink[] {
  const merged: ExternalLink[] = []
  for (const link of links.sort((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last === undefined || link.start >= last.end) merged.push(link)
    else if (link.end > last.end) merged[merged.length - 1] = { ...last, end: link.end }
  }
  return merged
}

/** `[label](address)`, `![label](address)` and `[label]: address`. */
function* findMarkdownLinks(
  text: string,
  isListed: (host: string) => boolean,
): Steps<ExternalLink[]> {
  const links: ExternalLink[] = []
  const marks = new NextMarks(text)
  let charsLeft = BUDGET_FACTOR * text.length
  let from = 0
  let places = 0
  for (const { 0: beginning, 1: kind, 2: bracket, index: at } of text.matchAll(BEGINNING)) {
    if (++places % STEP_LINKS === 0) yield
    const start = at + beginning.length
    const ending = kind === '(' ? INLINE_END : PLAIN_END
    const end = marks.find(bracket === '<' ? BRACKET_END : ending, start)
    const head = text.slice(start, Math.min(end, start + HEAD_CHARS + 1))
    charsLeft -= head.length
    const host = charsLeft < 0 ? UNREADABLE : findExternalHost(head, isListed)
    if (host === undefined) continue
    const behind = bracket === '<' && text[end] === '>' ? end + 1 : end
    if (kind === ':') {
      links.push({ start: at + 2, end: behind, replacement: ` ${removed(host)}` })
      continue
    }
    const link = toInlineLink(text, { at, behind, from, host, marks })
    links.push(link)
    from = link.end
  }
  return links
}

/** Characters of addresses that are read, for each of the text: what has no end lies in each other. */
const BUDGET_FACTOR = 4

interface InlinePlace {
  /** The offset of the bracket after the label. */
  readonly at: number
  /** The offset after the address. */
  readonly behind: number
  /** Where the link before ends. */
  readonly from: number
  readonly host: string
  readonly marks: NextMarks
}

/** The address with its title, if that is plain; of an image with a plain label all of it. The label of a link
 * stays where it is: what is redacted in it has its own replacement. */
function toInlineLink(text: string, { at, behind, from, host, marks }: InlinePlace): ExternalLink {
  const close = marks.find(')', behind)
  const isWhole =
    close < marks.find('\n', behind) && close < text.length && isTitle(text, behind, close)
  const end = isWhole ? close + 1 : behind
  const start = startOfLabel(text, at, from)
  const isImage = start !== undefined && start > from && text[start - 1] === '!'
  return isImage
    ? { start: start - 1, end, replacement: `[image removed: ${host}]` }
    : { start: at + 1, end, replacement: ` ${removed(host)}` }
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
