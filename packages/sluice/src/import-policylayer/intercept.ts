// PolicyLayer's Intercept YAML. Its meaning, from its documentation and sources: a hidden tool is
// denied; with `default: deny` so is a tool that is not listed; then every rule of the tool and of
// `*` must pass. `*` adds rules to other tools and never lets one through. Keys are exact names.

import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, composeTool } from './compose.ts'
import { type Check, EMPTY_CHECK, type ImportDraft } from './draft.ts'
import {
  readDefault,
  readDescription,
  readHidden,
  readVersion,
  type ServerScope,
  toolKey,
} from './read-document-head.ts'
import { readList, readMap } from './read-fields.ts'
import { type InterceptRule, readRule } from './read-rule.ts'
import type { ImportReport } from './report.ts'
import { translateCondition } from './translate-condition.ts'
import { translateCounters } from './translate-counters.ts'
import { type TranslatedLimit, translateLimit } from './translate-limit.ts'

export function importIntercept(
  root: LocatedMap,
  scope: ServerScope,
  draft: ImportDraft,
  report: ImportReport,
): void {
  readMap(root, ['version', 'description', 'default', 'hide', 'tools'], 'the policy', report)
  readVersion(root, report)
  readDescription(root, draft, report)
  const shut = readDefault(root, 'allow', { scope, draft, report }) === 'deny'
  const hidden = readHidden(root, scope, draft, report)
  const tools = readMap(findEntry(root, 'tools'), undefined, '`tools`', report)
  for (const { key, value } of tools?.entries ?? []) {
    const name = String(key.value)
    if (name === '*') importWildcard(value, key.at, { shut, scope, draft, report })
    else if (hidden.has(name) || hidden.has('*'))
      report.warn(
        'IMPORT_UNREACHABLE',
        key.at,
        `\`${name}\` is hidden, so that its rules change nothing`,
        'take it from `hide` if it was meant to be called',
      )
    else importTool(name, key.at, { node: value, scope, draft, report })
  }
}

interface ToolContext {
  readonly node: LocatedNode
  readonly scope: ServerScope
  readonly draft: ImportDraft
  readonly report: ImportReport
}

function importTool(name: string, at: number, { node, scope, draft, report }: ToolContext): void {
  const key = toolKey(name, at, scope, report)
  if (key === undefined) return
  const checks = readChecks(name, node, report) ?? [buildNotImportedCheck(report)]
  const denying = checks.findIndex((check) => check.denies)
  if (denying !== -1 && checks.length > 1)
    report.warn(
      'IMPORT_UNREACHABLE',
      at,
      `a rule of \`${name}\` denies every call, so that its other rules change nothing`,
      'keep the one that was meant',
    )
  composeTool(draft, { key, title: name, comments: report.commentsAbove(at), at }, checks)
}

interface WildcardContext {
  readonly shut: boolean
  readonly scope: ServerScope
  readonly draft: ImportDraft
  readonly report: ImportReport
}

function importWildcard(
  node: LocatedNode,
  at: number,
  { shut, scope, draft, report }: WildcardContext,
): void {
  if (shut)
    report.warn(
      'IMPORT_WILDCARD_NO_RESCUE',
      at,
      '`*` lets no further tool through: with `default: deny` only listed tools are',
      'list the tools, or write `<server>/*` by hand',
    )
  const checks = readChecks('*', node, report) ?? [buildNotImportedCheck(report)]
  composeGuardrails(draft, { key: scope.all, title: 'all tools', comments: [], at }, checks)
}

/** Undefined if a part could not be translated: then the whole tool stays shut. */
function readChecks(tool: string, node: LocatedNode, report: ImportReport): Check[] | undefined {
  const before = report.errorCount
  const body = readMap(node, ['rules'], `\`${tool}\``, report)
  const rules: InterceptRule[] = []
  readList(body === undefined ? undefined : findEntry(body, 'rules'), '`rules`', report).forEach(
    (item, index) => {
      const map = readMap(item, undefined, 'a rule', report)
      const rule = map && readRule(map, index + 1, report)
      if (rule !== undefined) rules.push(rule)
    },
  )
  refuseDoubledCounters(rules, report)
  if (report.errorCount > before) return undefined
  const limits = translateCounters(rules, tool, report)
  const checks = rules.map((rule) => toCheck(rule, tool, limits?.get(rule), report))
  return report.errorCount > before
    ? undefined
    : checks.filter((check): check is Check => check !== undefined)
}

function toCheck(
  rule: InterceptRule,
  tool: string,
  counted: TranslatedLimit | undefined,
  report: ImportReport,
): Check | undefined {
  const { name, reason, action } = rule
  const base: Check = { ...EMPTY_CHECK, name, reason, comments: report.commentsAbove(rule.at) }
  if (action === 'deny') return { ...base, denies: true }
  if (action === 'require_approval') return approvalCheck(rule, base, report)
  const pass: string[] = []
  let denies = false
  for (const condition of rule.conditions) {
    const translated = translateCondition(condition, 'pass', report)
    if (translated !== undefined && 'never' in translated) denies = true
    else if (translated !== undefined) pass.push(translated.cel)
  }
  const limit =
    rule.shorthand === undefined ? counted : shorthandLimit(rule.shorthand, tool, report)
  if (limit !== undefined && 'denies' in limit) denies = true
  const fits = limit !== undefined && 'limit' in limit ? limit : undefined
  if (!denies && fits === undefined && pass.length === 0) return undefined
  return {
    ...base,
    denies,
    pass: [...pass, ...(fits?.pass ?? [])],
    limits: fits === undefined ? [] : [fits.limit],
  }
}

function approvalCheck(rule: InterceptRule, base: Check, report: ImportReport): Check | undefined {
  if (rule.stateConditions.length > 0 || rule.state !== undefined)
    return report.error(
      'IMPORT_STATE',
      rule.at,
      'an approval that depends on a counter',
      'write it by hand',
    )
  report.warn(
    'IMPORT_APPROVAL',
    rule.at,
    `people approve \`${rule.name}\` here, not in Intercept`,
    'set `approval.approvers` and `timeout` as you need them',
  )
  const match: string[] = []
  for (const condition of rule.conditions) {
    const translated = translateCondition(condition, 'match', report)
    if (translated === undefined) continue
    if ('never' in translated) return undefined
    match.push(translated.cel)
  }
  const timeout =
    rule.approvalTimeout === undefined ? {} : { approvalTimeout: rule.approvalTimeout }
  return { ...base, match, held: 'require_approval', ...timeout }
}

function shorthandLimit(
  { count, window, at }: NonNullable<InterceptRule['shorthand']>,
  tool: string,
  report: ImportReport,
): TranslatedLimit | undefined {
  if (tool === '*')
    report.warn(
      'IMPORT_SHARED_COUNTER',
      at,
      'the original shares this counter with every Intercept that has the same state directory',
      'here it counts the calls to this server; for one limit over all servers take `match` from the guardrail',
    )
  return translateLimit(
    { at, window, max: count, increment: 1, per: 'everyone', calendar: 'is' },
    report,
  )
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

/** What stands in for a rule that needs a person: never looser than the original. */
export function buildNotImportedCheck(report: ImportReport): Check {
  return {
    ...EMPTY_CHECK,
    name: 'not imported',
    denies: true,
    comments: [`not imported: see the errors for ${report.file}, line ${report.lastErrorLine}`],
    reason: 'this rule was not imported and needs a person',
  }
}
