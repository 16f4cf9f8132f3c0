// Puts the rules and guardrails that an edit adds into shadow: calls are decided as before, and what the new ones would
// have decided is recorded beside them. An edit that also changes what is in force is refused. Pure.

import { isMap, isScalar, isSeq, type YAMLMap } from 'yaml'
import { compile } from '../compile/compile.ts'
import { appendEntry, applyEdit, type TextEdit } from '../document/edit-mapping.ts'
import { findPair, getRange } from '../document/parse-yaml.ts'
import { loosenings } from './compare.ts'
import { type MoveResult, parseRoot } from './edit-rule.ts'

const SECTIONS = ['categories', 'tools', 'methods', 'resources', 'prompts'] as const

/**
 * @example
 * shadowAdditions(inForce, `${inForce}tools:\n  shop/refund: deny\n`)
 * // { text: '…tools:\n  shop/refund: { action: deny, mode: shadow }\n' }
 */
export function shadowAdditions(before: string, after: string): MoveResult {
  const [old, edited] = [parseRoot(before), parseRoot(after)]
  if (old === undefined || edited === undefined) return { refused: 'the document cannot be read' }
  const edits = listAdded(old, edited).flatMap((rule) =>
    toShadow(after, rule, edited.flow === true),
  )
  if (edits.length === 0)
    return {
      refused: 'only rules and guardrails that are added can be in shadow, and this edit adds none',
    }
  const text = edits.toSorted((one, other) => other.start - one.start).reduce(applyEdit, after)
  const [was, is] = [before, text].map((each) => compile({ file: '', text: each }))
  if (was?.policy === undefined || is?.policy === undefined)
    return { refused: is?.problems[0]?.message ?? 'the document has errors' }
  const [change] = [...loosenings(was.policy, is.policy), ...loosenings(is.policy, was.policy)]
  return change === undefined
    ? { text }
    : { refused: `it also changes ${change.where}, which is in force now` }
}

/** The values of rules, and guardrails, that only the edited document has. */
function listAdded(old: YAMLMap, edited: YAMLMap): unknown[] {
  const rules = SECTIONS.flatMap((section) => {
    const [before, after] = [old, edited].map((root) => findPair(root, section)?.value)
    if (!isMap(after)) return []
    const known = isMap(before) ? before : undefined
    return after.items
      .filter(({ key }) => known === undefined || findPair(known, keyOf(key)) === undefined)
      .map(({ value }) => value)
  })
  const names = new Set(listGuardrails(old).map(nameOf))
  return [...rules, ...listGuardrails(edited).filter((one) => !names.has(nameOf(one)))]
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : ''
}

function listGuardrails(root: YAMLMap): YAMLMap[] {
  const list = findPair(root, 'guardrails')?.value
  return isSeq(list) ? list.items.filter((one) => isMap(one)) : []
}

function nameOf(guardrail: YAMLMap): unknown {
  return guardrail.get('name')
}

/** Nothing for a rule that has a mode already. */
function toShadow(text: string, rule: unknown, isJson: boolean): TextEdit[] {
  const [action, mode] = isJson ? ['"action"', '"mode": "shadow"'] : ['action', 'mode: shadow']
  if (isMap(rule)) return rule.has('mode') ? [] : [appendEntry(text, rule, [mode])]
  if (!isScalar(rule)) return []
  const [start, end] = getRange(rule)
  return [{ start, end, text: `{ ${action}: ${text.slice(start, end)}, ${mode} }` }]
}
