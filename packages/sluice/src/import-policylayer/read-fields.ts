// Reads mappings, lists and scalars of a foreign document, reporting what is not as it should be.
// The original ignores keys it does not know, so that a typo means "no rule"; here it is an error.

import { isNull } from '@sluice/policy/document/check-shape'
import { didYouMean } from '@sluice/policy/document/nearest'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '@sluice/policy/document/read-document'
import { REASON_LENGTH_MAX } from '@sluice/policy/language/limits'
import { cleanLine } from './emit-document.ts'
import type { ImportReport } from './report.ts'

/** The node as a mapping whose keys are all known; an empty node is an empty mapping. */
export function readMap(
  node: LocatedNode | undefined,
  keys: readonly string[] | undefined,
  what: string,
  report: ImportReport,
): LocatedMap | undefined {
  if (node === undefined || isNull(node))
    return { kind: 'map', at: node?.at ?? 0, end: node?.at ?? 0, entries: [] }
  if (node.kind !== 'map')
    return report.error('IMPORT_INVALID', node.at, `${what} is not a mapping`, 'fix the original')
  for (const { key } of node.entries) {
    const name = String(key.value)
    if (keys === undefined || keys.includes(name)) continue
    const help = didYouMean(name, keys, 'take it out, or write what it means by hand')
    report.error('IMPORT_UNKNOWN_KEY', key.at, `unknown key \`${name}\` in ${what}`, help)
  }
  return node
}

export function readList(
  node: LocatedNode | undefined,
  what: string,
  report: ImportReport,
): readonly LocatedNode[] {
  if (node === undefined || isNull(node)) return []
  if (node.kind === 'list') return node.items
  report.error('IMPORT_INVALID', node.at, `${what} is not a list`, 'fix the original')
  return []
}

/** A text, or undefined if it is missing. */
export function readText(map: LocatedMap, key: string, report: ImportReport): string | undefined {
  const node = findEntry(map, key)
  if (node === undefined || isNull(node)) return undefined
  if (node.kind === 'scalar') return typeof node.value === 'string' ? node.value : node.text
  return report.error('IMPORT_INVALID', node.at, `\`${key}\` is not text`, 'fix the original')
}

/** One line that fits, from the first of the keys that has a text. */
export function readReason(
  map: LocatedMap,
  keys: readonly string[],
  report: ImportReport,
): string | undefined {
  for (const key of keys) {
    const reason = cleanLine((readText(map, key, report) ?? '').replace(/\s+/g, ' '))
    if (reason === '') continue
    const message = `a reason of ${reason.length} characters`
    if (reason.length > REASON_LENGTH_MAX)
      report.warn(
        'IMPORT_REASON',
        keyAt(map, key),
        message,
        `the first ${REASON_LENGTH_MAX} are kept`,
      )
    return reason.slice(0, REASON_LENGTH_MAX)
  }
  return undefined
}

export function keyAt(map: LocatedMap, key: string): number {
  return map.entries.find((candidate) => candidate.key.value === key)?.key.at ?? map.at
}

/** Bare words that Go's YAML reads as numbers or times, and this one as text (or as another
 * number: 0777 is octal there). */
const ELSEWHERE =
  /^([-+]?0[0-9_]+|[-+]?0b[01_]+|[-+]?[0-9][0-9]*_[0-9_]*(\.[0-9_]*)?|0x[0-9a-f]*_[0-9a-f_]*|\d{4}-\d\d?-\d\d?([Tt ].*)?)$/i

export function isAmbiguous(node: LocatedScalar, report: ImportReport): boolean {
  const quoted = /["'|>]/.test(report.text.charAt(node.at))
  if (quoted || !ELSEWHERE.test(node.text.trim())) return false
  report.error(
    'IMPORT_AMBIGUOUS',
    node.at,
    `\`${node.text.trim()}\` is read differently by the original's YAML parser`,
    'quote it if it is text, write it plainly if it is a number',
  )
  return true
}
