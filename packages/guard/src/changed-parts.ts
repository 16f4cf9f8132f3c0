// Of a text that is mostly one that has been looked at: the parts around what is new in it, wide enough
// for any match that has some of it. Linear; what cannot be compared in time counts as new. Pure.

import type { TextSpan } from './chain.ts'

/** The text around every one of `places`, which are in order: on either side as far as `reach` characters
 * that count. White space, `>` and what is not printed ASCII do not: joining lines and folding letters may
 * take any number of them away. */
export function* partsAround(
  text: string,
  places: Iterable<TextSpan>,
  reach: number,
): Generator<string> {
  let start = -1
  let end = 0
  for (const place of places) {
    if (start < 0) start = walk(text, place.start, { step: -1, reach, to: 0 })
    else if (walk(text, end, { step: 1, reach: 2 * reach, to: place.start }) < place.start) {
      yield text.slice(start, walk(text, end, { step: 1, reach, to: text.length }))
      start = walk(text, place.start, { step: -1, reach, to: 0 })
    }
    end = place.end
  }
  if (start >= 0) yield text.slice(start, walk(text, end, { step: 1, reach, to: text.length }))
}

interface SpanPath {
  readonly step: 1 | -1
  readonly reach: number
  readonly to: number
}

/** The place behind `reach` characters that count, at most `to`. */
function walk(text: string, from: number, { step, reach, to }: SpanPath): number {
  let at = from
  for (let left = reach; at !== to && left > 0; at += step) {
    const code = text.charCodeAt(step > 0 ? at : at - 1)
    if (code > 0x20 && code < 0x7f && code !== QUOTE) left--
  }
  return at
}

const QUOTE = 0x3e

/** The places of `after` that are not in `before`, where both are the same text but for them. */
export function* changesIn(before: string, after: string): Generator<TextSpan> {
  let tries = 0
  let from = 0
  for (let at = 0; ; ) {
    while (at < after.length && before.charCodeAt(from) === after.charCodeAt(at)) {
      from++
      at++
    }
    if (at === after.length && from === before.length) return
    const start = at
    const near = before.slice(from, from + NEAR_CHARS)
    let index = -1
    for (; index < 0 && at <= start + CHANGED_CHARS_MAX && tries < TRIES_MAX; at++, tries++) {
      const same = after.slice(at, at + SAME_CHARS)
      if (same.length < SAME_CHARS) break
      index = near.indexOf(same)
    }
    if (index < 0) {
      yield { start, end: after.length }
      return
    }
    at--
    from += index
    yield { start, end: at }
  }
}

/** Both texts go on alike where so many characters are the same, */
const SAME_CHARS = 16
/** so near, */
const NEAR_CHARS = 512
/** behind so many that are new. */
const CHANGED_CHARS_MAX = 128
/** The steps of one comparison, some 100 ns each. */
const TRIES_MAX = 20_000
