// Tools of PolicyLayer's Intercept YAML. Its meaning, from its documentation and sources: a hidden tool is denied;
// with `default: deny` so is a tool that is not listed; then every rule of the tool and of `*` must pass. `*` adds
// rules to other tools and never lets one through. Keys are exact names.

import { findEntry, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeTool, type ImportTarget } from './compose.ts'
import type { Check, ImportDraft } from './draft.ts'
import { readList, readMap } from './read-fields.ts'
import { type InterceptRule, readRule } from './read-rule.ts'
import type { ImportReport } from './report.ts'
import { notImported, toCheck } from './to-check.ts'
import { translateCounters } from './translate-counters.ts'
import type { CounterLimit } from './translate-limit.ts'

export function importInterceptTool(
  node: LocatedNode,
  target: ImportTarget,
  draft: ImportDraft,
  report: ImportReport,
): void {
  const checks = readInterceptChecks(target.title, node, report)
  if (checks.length > 1 && checks.some((check) => check.denies))
    report.warn(
      'IMPORT_UNREACHABLE',
      target.at,
      `a rule of \`${target.title}\` denies every call, so that its other rules change nothing`,
      'keep the one that was meant',
    )
  composeTool(draft, { ...target, comments: report.commentsAbove(target.at) }, checks)
}

/** If a part cannot be translated, the whole tool stays shut. */
export function readInterceptChecks(
  tool: string,
  node: LocatedNode,
  report: ImportReport,
): readonly Check[] {
  const before = report.errorCount
  const body = readMap(node, ['rules'], `\`${tool}\``, report)
  const items = readList(body && findEntry(body, 'rules'), '`rules`', report)
  const rules = items.flatMap((item, index) => {
    const map = readMap(item, undefined, 'a rule', report)
    return (map && readRule(map, index + 1, report)) ?? []
  })
  refuseDoubledCounters(rules, report)
  if (report.errorCount > before) return [notImported(report)]
  const counters = translateCounters(rules, tool, report)
  const checks = rules
    .map((rule) => {
      const limit = shorthandLimit(rule, tool, report) ?? counters?.get(rule)
      const comments = report.commentsAbove(rule.at)
      return toCheck({ ...rule, effect: effectOf(rule, report), comments, limit }, report)
    })
    .filter((check) => check !== undefined)
  return report.errorCount > before ? [notImported(report)] : checks
}

function effectOf(
  { action, at, name, state, stateConditions }: InterceptRule,
  report: ImportReport,
) {
  if (action !== 'require_approval') return action === 'deny' ? 'deny' : 'pass'
  if (stateConditions.length > 0 || state !== undefined)
    report.error('IMPORT_STATE', at, 'an approval that depends on a counter', 'write it by hand')
  else
    report.warn(
      'IMPORT_APPROVAL',
      at,
      `people approve \`${name}\` here, not in Intercept`,
      'set `approval.approvers` and `timeout` as you need them',
    )
  return action
}

function shorthandLimit(
  { shorthand }: InterceptRule,
  tool: string,
  report: ImportReport,
): CounterLimit | undefined {
  if (shorthand === undefined) return undefined
  const { at, window, count: max } = shorthand
  if (tool === '*')
    report.warn(
      'IMPORT_SHARED_COUNTER',
      at,
      'the original shares this counter with every Intercept that has the same state directory',
      'here it counts the calls to this server; for one limit over all servers take `match` from the guardrail',
    )
  return { at, window, max, increment: 1, per: 'everyone', calendar: 'is' }
}

function refuseDoubledCounters(rules: readonly InterceptRule[], report: ImportReport): void {
  const seen = new Set<string>()
  for (const { state, shorthand } of rules) {
    const counter = state?.counter ?? (shorthand && `_rate_${shorthand.window}`)
    const at = state?.at ?? shorthand?.at ?? 0
    if (counter !== undefined && seen.has(counter))
      report.error(
        'IMPORT_INVALID',
        at,
        `two rules of one tool count in \`${counter}\``,
        'the original refuses this document; keep the smaller limit',
      )
    if (counter !== undefined) seen.add(counter)
  }
}
