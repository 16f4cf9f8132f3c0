// The tokens that the gate itself makes and that look alike, so that they can be found in any text: a
// grant's, a system's credential, a one-time code, an approver's link. The gate takes them out of what
// servers answer (gateway/relay/strip-own.ts): an agent that reads somebody's mail is not to find them there.

import { randomBytes } from 'node:crypto'

export const OWN_TOKEN_PREFIX = 'sluice_'

/** `sys`: a system that may decide. `code`: signs in once. `in`: a signed-in page. `link`: one request,
 * for one approver. */
export type OwnTokenKind = 'sys' | 'code' | 'in' | 'link'

const OWN_TOKEN = /^sluice_(sys|code|in|link)_[\w-]{43,}$/
/** Between two letters of a token that a mail or a terminal has wrapped. */
const WRAP = '(?:=?\\r?\\n[ \\t>]{0,8})?'
const BODY = `(?:[0-9a-f]${WRAP}){64}|(?:${['sys', 'code', 'in', 'link'].map(wrapped).join('|')})_${WRAP}(?:[\\w-]${WRAP}){43,}`
/** Every token of the gate's in a text, also over several lines: a grant's are 64 hexadecimal digits. */
const ANY_TOKEN = new RegExp(`${wrapped(OWN_TOKEN_PREFIX)}${WRAP}(?:${BODY})`, 'g')

function wrapped(word: string): string {
  return [...word].join(WRAP)
}

/** 256 random bits. */
export function makeOwnToken(kind: Exclude<OwnTokenKind, 'link'>): string {
  return `${OWN_TOKEN_PREFIX}${kind}_${randomBytes(32).toString('base64url')}`
}

export function ownTokenKind(token: string): OwnTokenKind | undefined {
  return OWN_TOKEN.exec(token)?.[1] as OwnTokenKind | undefined
}

/** What every token of the gate's begins with. */
const MAYBE_TOKEN = new RegExp(wrapped(OWN_TOKEN_PREFIX))

/** The text itself where nothing of the gate's is in it, which is nearly always. */
export function withoutOwnTokens(text: string): string {
  if (!MAYBE_TOKEN.test(text)) return text
  return text.replace(ANY_TOKEN, `${OWN_TOKEN_PREFIX}removed`)
}
