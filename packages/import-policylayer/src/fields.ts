// A mapping of a foreign document, read key by key; what is not as it should be is reported at its place.
// The original ignores keys it does not know, so that a typo means "no rule"; here it is an error.

import { asMap, isNull } from '@sluice/policy/document/check-shape'
import { didYouMean } from '@sluice/policy/document/nearest'
import {
  findEntry,
  type LocatedMap,
  type LocatedNode,
  type LocatedScalar,
} from '@sluice/policy/document/read-document'
import { REASON_LENGTH_MAX } from '@sluice/policy/language/limits'
import { cleanLine } from './emit-document.ts'
import type { ImportCode } from './errors.ts'
import type { ImportReport } from './report.ts'

export class Fields {
  readonly map: LocatedMap
  readonly report: ImportReport

  private constructor(map: LocatedMap, report: ImportReport) {
    this.map = map
    this.report = report
  }

  /** Reads a mapping; undefined after an error. An empty node is an empty mapping, and every key is known without `keys`. */
  static read(
    node: LocatedNode | undefined,
    keys: readonly string[] | undefined,
    what: string,
    report: ImportReport,
  ): Fields | undefined {
    if (node !== undefined && node.kind !== 'map' && !isNull(node))
      return report.error('IMPORT_INVALID', node.at, `${what} is not a mapping`)
    const map = asMap(node)
    for (const { key } of keys === undefined ? [] : map.entries) {
      const name = String(key.value)
      if (keys?.includes(name)) continue
      const help = didYouMean(name, keys ?? [], 'write what it means by hand')
      report.error('IMPORT_UNKNOWN_KEY', key.at, `unknown key \`${name}\` in ${what}`, help)
    }
    return new Fields(map, report)
  }

  node(key: string): LocatedNode | undefined {
    return findEntry(this.map, key)
  }

  has(key: string): boolean {
    return this.node(key) !== undefined
  }

  /** Where the key is written; the mapping if it is not. */
  keyAt(key: string): number {
    return this.map.entries.find((entry) => entry.key.value === key)?.key.at ?? this.map.at
  }

  /** Reads a text; undefined if it is missing. */
  text(key: string): string | undefined {
    const node = this.node(key)
    if (node === undefined || isNull(node)) return undefined
    if (node.kind === 'scalar') return typeof node.value === 'string' ? node.value : node.text
    return this.report.error('IMPORT_INVALID', node.at, `\`${key}\` is not text`)
  }

  number(key: string): number | undefined {
    const node = this.node(key)
    if (node?.kind !== 'scalar' || isAmbiguous(node, this.report)) return undefined
    return typeof node.value === 'number' && Number.isFinite(node.value) ? node.value : undefined
  }

  /** What `word` means; undefined after an error at `key`. */
  word<T>(
    key: string,
    words: Readonly<Record<string, T>>,
    word: string,
    code: ImportCode = 'IMPORT_INVALID',
  ): T | undefined {
    if (Object.hasOwn(words, word)) return words[word]
    const known = Object.keys(words).map((each) => `\`${each}\``)
    const message = `the ${key} \`${word.slice(0, 40)}\` is none of ${known.join(', ')}`
    return this.error(code, key, message, 'write the rule by hand')
  }

  list(key: string): readonly LocatedNode[] {
    const node = this.node(key)
    if (node === undefined || isNull(node)) return []
    if (node.kind === 'list') return node.items
    this.report.error('IMPORT_INVALID', node.at, `\`${key}\` is not a list`)
    return []
  }

  /** The mapping at `key`, an empty one if it is missing. */
  child(key: string, keys: readonly string[]): Fields | undefined {
    return Fields.read(this.node(key), keys, `\`${key}\``, this.report)
  }

  /** The mappings of a list. */
  each(key: string, keys: readonly string[], what: string): Fields[] {
    return this.list(key).flatMap((item) => Fields.read(item, keys, what, this.report) ?? [])
  }

  /** One line that fits, from the first of the keys that has a text. */
  reason(keys: readonly string[]): string | undefined {
    for (const key of keys) {
      const reason = cleanLine((this.text(key) ?? '').replace(/\s+/g, ' '))
      if (reason === '') continue
      const help = `the first ${REASON_LENGTH_MAX} are kept`
      if (reason.length > REASON_LENGTH_MAX)
        this.warn('IMPORT_REASON', key, `a reason of ${reason.length} characters`, help)
      return reason.slice(0, REASON_LENGTH_MAX)
    }
    return undefined
  }

  error(code: ImportCode, key: string, message: string, help?: string): undefined {
    return this.report.error(code, this.keyAt(key), message, help)
  }

  warn(code: ImportCode, key: string, message: string, help: string): void {
    this.report.warn(code, this.keyAt(key), message, help)
  }
}

/** Bare words that Go's YAML reads as numbers or times, and this one as text (or as another
 * number: 0777 is octal there). */
const ELSEWHERE =
  /^([-+]?0[0-9_]+|[-+]?0b[01_]+|[-+]?[0-9][0-9]*_[0-9_]*(\.[0-9_]*)?|0x[0-9a-f]*_[0-9a-f_]*|\d{4}-\d\d?-\d\d?([Tt ].*)?)$/i

export function isAmbiguous(node: LocatedScalar, report: ImportReport): boolean {
  const quoted = /["'|>]/.test(report.text.charAt(node.at))
  if (quoted || !ELSEWHERE.test(node.text.trim())) return false
  const message = `\`${node.text.trim()}\` is read differently by the original's YAML parser`
  const help = 'quote it if it is text, write it plainly if it is a number'
  report.error('IMPORT_AMBIGUOUS', node.at, message, help)
  return true
}
