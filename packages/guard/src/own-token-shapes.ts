// The shapes of the tokens that Sluice issues, for every module that has to find them in a text:
// responses of servers (identity), secrets in calls and exports (guard), the approver's view
// (approvals). Pure.

export const OWN_TOKEN_PREFIX = 'sluice_'

const KINDS = ['sys', 'code', 'in', 'link']
/** Between two characters of a token that a mail client or a terminal has wrapped. */
const WRAP = '(?:=?\\r?\\n[ \\t>*#+|/;]{0,8})?'

function wrapped(word: string): string {
  return [...word].join(WRAP)
}

/** Source of a pattern: the prefix of every token, also if it is wrapped there. */
export const OWN_TOKEN_BEGINNING = wrapped(OWN_TOKEN_PREFIX)

/** Every token, also over several lines. A grant's token is 64 hexadecimal digits. Linear. Bounded,
 * because an open repetition uses regex stack per character; `endOfOwnToken` finds the end of a longer
 * token. */
export function ownTokenPattern(): RegExp {
  const body = `(?:[0-9a-f]${WRAP}){64}|(?:${KINDS.map(wrapped).join('|')})_${WRAP}(?:[\\w-]${WRAP}){43,255}`
  return new RegExp(`${OWN_TOKEN_BEGINNING}${WRAP}(?:${body})`, 'g')
}

/** The end of a token whose match ends at `from`. Each exec reads one line: constant regex stack. */
export function endOfOwnToken(text: string, from: number): number {
  let end = from
  for (;;) {
    TOKEN_LINE.lastIndex = end
    const length = TOKEN_LINE.exec(text)?.[0].length ?? 0
    if (length === 0) return end
    end += length
  }
}

const TOKEN_LINE = new RegExp(`${WRAP}[\\w-][\\w-]*`, 'y')

/**
 * The same on one line and of bounded length: for masks, behind which a caller must not hide text.
 */
export const OWN_TOKEN_ON_ONE_LINE = new RegExp(
  `${OWN_TOKEN_PREFIX}(?:[0-9a-f]{64}|(?:${KINDS.join('|')})_[\\w-]{43,255})`,
  'g',
)
