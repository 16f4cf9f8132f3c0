// Other readings of a text: what it says once somebody has undone its encoding. The finders of secrets
// and orders look at each of them, so that an encoding hides neither. Linear. Pure.

import { decodePercent } from '../core/percent.ts'

/** `text`, and each reading of it that differs. */
export function readingsOf(text: string): string[] {
  const decoded = decodePercent(text)
  return decoded === text ? [text] : [text, decoded]
}
