// Names that one takes for another (A03): the same name on another server, letters of other scripts,
// a suffix such as `_v1` or `_new`, a digit for a letter. Pure; called by the attacks and the pins.

import { foldLookAlikes } from '../core/look-alikes.ts'
import type { ToolDefinition } from '../core/tools.ts'

const TAIL = /(?:[_-](?:v?\d+|new|old|copy|plus|pro|official|real|safe|secure)|v\d+)+$/
const ARTICLES = /(?:^|[_-])(?:the|a|an|my)(?=[_-])/g

/** The name as a hasty reader sees it. */
export function skeletonOf(name: string): string {
  return foldLookAlikes(name)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(ARTICLES, '')
    .replace(TAIL, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1|]/g, 'l')
    .replaceAll(/[^a-z]/g, '')
}

/** Two tools that a model could mistake: alike in name, and not one and the same. */
export function looksAlike(one: ToolDefinition, other: ToolDefinition): boolean {
  if (one.server === other.server && one.name === other.name) return false
  const skeleton = skeletonOf(one.name)
  return skeleton !== '' && skeleton === skeletonOf(other.name)
}
