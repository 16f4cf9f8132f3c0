// Describes what an approver does not see: how many characters are masked, and where. The same text
// on a terminal, in a chat and in a mail. Pure.

import { visibleText } from '@sluice/guard/show/visible-text'
import type { ApprovalRequest } from './approval.ts'

const PARTS_NAMED_MAX = 5

/** Returns undefined if nothing is masked. */
export function describeMasked({ masked }: Pick<ApprovalRequest, 'masked'>): string | undefined {
  const { parts, count, characters } = masked
  if (count === 0) return undefined
  const named = parts
    .slice(0, PARTS_NAMED_MAX)
    .map(({ path, from, characters: many }) => {
      const where = visibleText(path.length > 120 ? `${path.slice(0, 120)}…` : path)
      return `${where} (${many} from character ${from + 1} on)`
    })
    .join(', ')
  const rest = count > PARTS_NAMED_MAX ? `, and ${count - PARTS_NAMED_MAX} more places` : ''
  return `${characters} characters are masked: ${named}${rest}`
}
