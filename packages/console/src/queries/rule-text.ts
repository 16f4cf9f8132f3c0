// The rule that a record points at, as written in a document, in force or of that time: file, line and the lines of
// the rule. Null if the text of that digest is not among them, or the rule is none of a document's.

import { BASE_POLICY } from '@sluice/gateway/config/grants'
import type { Documents } from '@sluice/gateway/state/documents'
import { parseYaml } from '@sluice/policy/document/parse-yaml'
import { Problems } from '@sluice/policy/document/problem'
import { parseRulePointer } from '@sluice/policy/model/policy'
import { unescapePointer } from '@sluice/policy/values/json-pointer'
import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { RULE_TEXT_LENGTH_MAX } from './limits.ts'

/** A rule as it is written. */
export interface RuleText {
  readonly file: string
  readonly line: number
  /** The lines of the rule, cut. */
  readonly text: string
}

/** `policy` is name and digest, as the record has them. */
export function ruleTextOf(documents: Documents, policy: string, rule: string): RuleText | null {
  const { isOfBase, pointer } = parseRulePointer(rule)
  const [name = '', digest = ''] = policy.split(' ')
  const document = documents.get(isOfBase ? BASE_POLICY : name)
  if (document === undefined || (!isOfBase && document.digest !== digest)) return null
  if (!pointer.startsWith('/')) return null
  const problems = new Problems(document.file, document.text)
  const range = find(parseYaml(document.text, problems)?.contents, pointer)
  if (range === undefined) return null
  const { line } = problems.position(range.start)
  const lineStart = document.text.lastIndexOf('\n', range.start) + 1
  const text = document.text.slice(lineStart, range.end).trimEnd()
  return { file: document.file, line, text: text.slice(0, RULE_TEXT_LENGTH_MAX) }
}

function find(root: unknown, pointer: string): { start: number; end: number } | undefined {
  let node = root
  let start = 0
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapePointer(part)
    if (isSeq(node)) {
      const at = Number(key)
      node = node.items[at]
      start = (node as Node | undefined)?.range?.[0] ?? 0
    } else if (isMap(node)) {
      const pair = node.items.find((one) => isScalar(one.key) && String(one.key.value) === key)
      if (pair === undefined) return undefined
      start = (pair.key as Node).range?.[0] ?? 0
      node = pair.value
    } else return undefined
  }
  const end = (node as Node | null | undefined)?.range?.[1]
  return end === undefined ? undefined : { start, end }
}
