// Links and images in Markdown and HTML that lead to other hosts: an image is fetched as soon as a client
// shows it, and its address can carry data away. Only what Markdown or HTML makes a link is removed; a
// bare address in a text stays. Linear: every part of a pattern is bounded. Pure.

export interface ExternalLink {
  readonly start: number
  readonly end: number
  /** What is shown instead. */
  readonly replacement: string
}

const ADDRESS = String.raw`((?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/|\\\\)[^\s<>]{1,2000}?)`
const INLINE = new RegExp(
  String.raw`(!?)\[([^\]\n]{0,200})\]\([ \t]{0,8}<?${ADDRESS}>?(?:[ \t]{1,8}[^)\n]{0,200})?\)`,
  'gi',
)
const REFERENCE = new RegExp(
  String.raw`^[ ]{0,3}(\[[^\]\n]{1,200}\]:)[ \t]{0,8}<?${ADDRESS}>?(?=[ \t\r\n]|$)`,
  'gim',
)
const AUTOLINK = new RegExp(`<${ADDRESS}>`, 'gi')
const TAG =
  /<(?:img|a|iframe|video|audio|source|script|link|embed|object|form|input)\b[^<>]{0,2000}>/gi
const ATTRIBUTE =
  /\b(?:src|href|srcset|data|action|poster)\s{0,4}=\s{0,4}["']?\s{0,4}((?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/|\\\\)[^\s"'<>]{1,2000})/i

/** In the order of the text, without overlaps. `isListed` is asked with a host in lower case. */
export function findExternalLinks(
  text: string,
  isListed: (host: string) => boolean,
): ExternalLink[] {
  if (!/\/\/|\\\\/.test(text)) return []
  const found: ExternalLink[] = []
  const add = (match: RegExpExecArray, address: string, show: (host: string) => string) => {
    const host = hostOf(address)
    if (host !== undefined && isListed(host)) return
    const shown = host === undefined ? 'an address that cannot be read' : host.slice(0, 100)
    const end = match.index + match[0].length
    found.push({ start: match.index, end, replacement: show(shown) })
  }
  for (const match of text.matchAll(INLINE)) {
    const [, bang, label = '', address = ''] = match
    add(match, address, (host) =>
      bang === '!' ? `[image removed: ${host}]` : `${label} [link removed: ${host}]`,
    )
  }
  for (const match of text.matchAll(REFERENCE))
    add(match, match[2] ?? '', (host) => `${match[1]} [link removed: ${host}]`)
  for (const match of text.matchAll(AUTOLINK))
    add(match, match[1] ?? '', (host) => `[link removed: ${host}]`)
  for (const match of text.matchAll(TAG)) {
    const address = ATTRIBUTE.exec(match[0])?.[1]
    if (address !== undefined) add(match, address, (host) => `[link removed: ${host}]`)
  }
  const kept: ExternalLink[] = []
  for (const link of found.sort((one, other) => one.start - other.start))
    if (link.start >= (kept.at(-1)?.end ?? 0)) kept.push(link)
  return kept
}

/** Undefined if parsers may read another one. */
function hostOf(address: string): string | undefined {
  const [, host] =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#)]|$)/i.exec(
      address,
    ) ?? [undefined, undefined]
  return host?.toLowerCase()
}
