// The tokens that the gate issues, in a common form, so that they can be found in any text: a
// grant's, a system's credential, a one-time code, an approver's link. The gate redacts them in
// responses of servers: an agent that reads someone's mail must not find them there.

import { randomBytes } from 'node:crypto'
import {
  endOfOwnToken,
  OWN_TOKEN_BEGINNING,
  OWN_TOKEN_PREFIX,
  ownTokenPattern,
} from '@sluice/guard/own-token-shapes'

/**
 * `sys`: a system that may approve. `code`: signs in once. `in`: a signed-in page. `link`: one
 * request, for one approver.
 */
export type GateTokenKind = 'sys' | 'code' | 'in' | 'link'

const OWN_TOKEN = /^sluice_(sys|code|in|link)_[\w-]{43,}$/
/** Every token of the gate in a text, also over several lines. */
const ANY_TOKEN = ownTokenPattern()

/** 256 random bits. */
export function createGateToken(kind: Exclude<GateTokenKind, 'link'>): string {
  return `${OWN_TOKEN_PREFIX}${kind}_${randomBytes(32).toString('base64url')}`
}

export function ownTokenKind(token: string): GateTokenKind | undefined {
  return OWN_TOKEN.exec(token)?.[1] as GateTokenKind | undefined
}

/** The common prefix of all tokens of the gate. */
const MAYBE_TOKEN = new RegExp(OWN_TOKEN_BEGINNING)

/** A match of this length may have been truncated by the bound of the pattern. */
const LONG_TOKEN_CHARS = 255

/** Returns the text itself if it has no token of the gate, which is nearly always. */
export function redactGateTokens(text: string): string {
  if (!MAYBE_TOKEN.test(text)) return text
  const parts: string[] = []
  let from = 0
  ANY_TOKEN.lastIndex = 0
  for (let found = ANY_TOKEN.exec(text); found !== null; found = ANY_TOKEN.exec(text)) {
    parts.push(text.slice(from, found.index), `${OWN_TOKEN_PREFIX}removed`)
    const isLongest = found[0].length >= LONG_TOKEN_CHARS
    from = isLongest ? endOfOwnToken(text, ANY_TOKEN.lastIndex) : ANY_TOKEN.lastIndex
    ANY_TOKEN.lastIndex = from
  }
  return from === 0 ? text : parts.join('') + text.slice(from)
}
