// A document that stands inside another, as a document of its own: what is around it becomes blanks, so
// that every line and column stays what it is in the file. Used for a policy inside sluice.yaml.

import { Problems } from './problem.ts'
import { findEntry, readDocument } from './read-document.ts'

/** Empty where the outer document cannot be read or has no such mapping: an empty policy is an error,
 * which is what is to come of it. */
export function extractDocument(text: string, key: string): string {
  const outer = readDocument(text, new Problems('', text))
  const inner = outer?.kind === 'map' ? findEntry(outer, key) : undefined
  if (inner?.kind !== 'map') return ''
  return text.slice(0, inner.at).replace(/[^\r\n]/g, ' ') + text.slice(inner.at, inner.end)
}
