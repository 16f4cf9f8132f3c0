// Extracts a document embedded in another: the text around it becomes blanks, so that lines and
// columns stay those of the file. Used for a policy inside sluice.yaml.

import { Problems } from './problem.ts'
import { findEntry, readDocument } from './read-document.ts'

/**
 * Returns an empty text if the outer document is invalid or has no such mapping. An empty policy is
 * an error, as intended.
 */
export function extractDocument(text: string, key: string): string {
  const outer = readDocument(text, new Problems('', text))
  const inner = outer?.kind === 'map' ? findEntry(outer, key) : undefined
  if (inner?.kind !== 'map') return ''
  return text.slice(0, inner.at).replace(/[^\r\n]/g, ' ') + text.slice(inner.at, inner.end)
}
