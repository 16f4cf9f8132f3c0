// Rules of PolicyLayer's Intercept YAML. Its meaning, from its documentation and sources: a hidden tool is denied;
// with `default: deny` so is a tool that is not listed; then every rule of the tool and of `*` must pass. `*` adds
// rules to other tools and never lets one through. Keys are exact names.

import { parseDuration } from '@sluice/policy/document/shape'
import { APPROVAL_TIMEOUT_SECONDS_MAX } from '@sluice/policy/language/limits'
import { type InterceptRule, limitCounters, readCounter } from './counters.ts'
import { cleanLine } from './emit-document.ts'
import type { Fields } from './fields.ts'
import type { OriginalRule } from './to-check.ts'

const RULE_KEYS = [
  'name',
  'action',
  'rate_limit',
  'conditions',
  'on_deny',
  'state',
  'approval_timeout',
]
const EFFECTS = { evaluate: 'pass', deny: 'deny', require_approval: 'require_approval' } as const

/** After an error the rules may be incomplete: the caller denies the whole tool. */
export function readInterceptRules(tool: Fields, title: string): readonly OriginalRule[] {
  const { report } = tool
  const before = report.errorCount
  const rules = tool.each('rules', RULE_KEYS, 'a rule').map(readRule)
  if (report.errorCount > before) return []
  const limits = limitCounters(rules, title, report)
  return rules.map((rule) => ({ ...rule, limit: limits.get(rule) }))
}

function readRule(rule: Fields, index: number): InterceptRule {
  const { map, report } = rule
  const { at } = map
  const all = rule.each('conditions', ['path', 'op', 'value'], 'a condition')
  const isOnCounter = (condition: Fields) => condition.text('path')?.startsWith('state.') ?? false
  const onCounters = all.filter(isOnCounter)
  const conditions = all.filter((condition) => !isOnCounter(condition))
  const effect = rule.word('action', EFFECTS, rule.text('action') || 'evaluate') ?? 'deny'
  const counter = readCounter(rule)
  checkTogether(rule, effect, all.length)
  const written = cleanLine(rule.text('name') ?? '')
  const name = written || `rule ${index + 1}`
  const unnamed = 'a rule without a name, which the original refuses'
  if (written === '') report.warn('IMPORT_UNNAMED', at, unnamed, `it is called \`${name}\` here`)
  if (effect === 'require_approval') {
    const message = `people approve \`${name}\` here, not in Intercept`
    const help = 'set `approval.approvers` and `timeout` as you need them'
    report.warn('IMPORT_APPROVAL', at, message, help)
    if (onCounters.length > 0 || counter !== undefined)
      rule.error('IMPORT_STATE', '', 'an approval that depends on a counter', 'write it by hand')
  }
  const reason = rule.reason(['on_deny']) ?? name
  const approvalTimeout = readTimeout(rule)
  return { name, at, reason, effect, conditions, onCounters, counter, approvalTimeout }
}

/** What the original refuses in one rule. */
function checkTogether(rule: Fields, effect: OriginalRule['effect'], conditions: number): void {
  const both = '`rate_limit` together with conditions, a counter or an action'
  if (rule.text('rate_limit') && (conditions > 0 || rule.has('state') || effect !== 'pass'))
    rule.error('IMPORT_INVALID', 'rate_limit', both)
  else if (effect === 'deny' && conditions > 0)
    rule.error('IMPORT_INVALID', 'conditions', 'conditions on a rule that always denies')
  else if (effect === 'pass' && conditions === 0 && !rule.has('rate_limit'))
    rule.error('IMPORT_INVALID', 'name', 'a rule without a condition')
}

/** `1h30m` in the original's way of writing, in one unit here. */
function readTimeout(rule: Fields): string | undefined {
  const text = rule.text('approval_timeout') || undefined
  if (text === undefined) return undefined
  const parts = /^(\d+[hms])+$/.test(text) ? (text.match(/(?<!\d)\d+[hms]/g) ?? []) : []
  const seconds = parts.reduce((sum, part) => sum + (parseDuration(part) ?? 0), 0)
  const message = `\`${text}\` is not a length of time up to a week`
  if (seconds === 0 || seconds > APPROVAL_TIMEOUT_SECONDS_MAX)
    return rule.error('IMPORT_INVALID', 'approval_timeout', message, 'write `30m`')
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}
