// Names that one takes for another (A03): the same name on another server, letters of other scripts,
// a suffix such as `_v1` or `_new`, a digit for a letter. Pure; called by the attacks and the pins.

import { foldLookAlikes } from '@sluice/guard/show/look-alikes'
import type { ToolDefinition } from '@sluice/policy/calls/tools'

const TAIL_WORD = /^(?:v?\d+|new|old|copy|plus|pro|official|real|safe|secure)$/
const ARTICLES = /(?:^|[_-])(?:the|a|an|my)(?=[_-])/g

/** The name as a hasty reader sees it. */
export function skeletonOf(name: string): string {
  const words = foldLookAlikes(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(ARTICLES, '')
  return withoutTail(words)
    .replaceAll('0', 'o')
    .replaceAll(/[1|]/g, 'l')
    .replaceAll(/[^a-z]/g, '')
}

/** Removes `_v1`, `-new`, `v2` and their like at the end. It reads from the end, each letter once: an expression
 * with `$` would start again at each of them. */
function withoutTail(name: string): string {
  let end = name.length
  for (;;) {
    let start = end
    while (start > 0 && !'_-'.includes(name.charAt(start - 1))) start--
    if (start > 0 && TAIL_WORD.test(name.slice(start, end))) {
      end = start - 1
      continue
    }
    const digits = beforeVersion(name, start, end)
    if (digits === end) return name.slice(0, end)
    end = digits === start && start > 0 ? start - 1 : digits
  }
}

/** Where `v1v2` at the end of a word begins; its end if there is no version. */
function beforeVersion(name: string, start: number, end: number): number {
  for (let before = end; ; ) {
    let at = before
    while (at > start && DIGIT.test(name.charAt(at - 1))) at--
    if (at === before || at === start || name.charAt(at - 1) !== 'v') return before
    before = at - 1
  }
}

const DIGIT = /\d/

/** Two tools that a model could mistake: alike in name, and not one and the same. */
export function looksAlike(one: ToolDefinition, other: ToolDefinition): boolean {
  if (one.server === other.server && one.name === other.name) return false
  const skeleton = skeletonOf(one.name)
  return skeleton !== '' && skeleton === skeletonOf(other.name)
}
