// What of a prompt the user says in their own words: pasted text (quoted lines, fenced blocks, long
// quotations) is somebody else's, and a value in it is not "named by the user". Linear.

const QUOTE_CHARS_MAX = 100
const CLOSING: Readonly<Record<string, string>> = { '"': '"', '“': '”', '«': '»', '`': '`' }

/** The prompt without what it quotes. */
export function readPrompt(text: string): string {
  const own: string[] = []
  let isFenced = false
  for (const line of text.split('\n')) {
    if (/^\s*(?:```|~~~|""")/.test(line)) isFenced = !isFenced
    else if (!isFenced && !/^\s*[>|]/.test(line)) own.push(line)
  }
  return dropLongQuotes(own.join('\n'))
}

function dropLongQuotes(text: string): string {
  let own = ''
  let at = 0
  while (at < text.length) {
    const closing = CLOSING[text[at] as string]
    const end = closing === undefined ? -1 : text.indexOf(closing, at + 1)
    const next = end === -1 ? at + 1 : end + 1
    if (next - at <= QUOTE_CHARS_MAX) own += text.slice(at, next)
    at = next
  }
  return own
}

/** `don't make any reservations`, `do not send`: the words between, and the one that is not asked for. */
const NEGATED =
  /(?<!\p{L})(?:don['’]?t|do not|never|without|not|no)\s+(?:(?:please|yet|actually|make|do|place|any|the|a|an|to|need)\s+){0,3}\p{L}+/gu

/** The words of a folded prompt, but for those that it says only with a "not" before them. */
export function listAskedWords(folded: string): string[] {
  return folded
    .replace(NEGATED, ' ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
