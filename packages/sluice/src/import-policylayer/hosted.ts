// PolicyLayer's hosted JSON: for each tool what must hold (`require`), what may not (`deny_if`) and
// `limits`, and limits over all tools. Its public page shows the document, not every field below;
// conditions are read with Intercept's operators, and a field nobody documented is an error.

import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, composeTool } from './compose.ts'
import { type Check, EMPTY_CHECK, type ImportDraft } from './draft.ts'
import { notImported } from './intercept.ts'
import {
  readDefault,
  readDescription,
  readHidden,
  readVersion,
  type ServerScope,
  toolKey,
} from './read-document-head.ts'
import { keyAt, readList, readMap, readText } from './read-fields.ts'
import { readReason } from './read-rule.ts'
import type { ImportReport } from './report.ts'
import { translateCondition } from './translate-condition.ts'
import { parseShorthand, translateLimit } from './translate-limit.ts'

const CONDITION_KEYS = ['path', 'op', 'value', 'name', 'on_deny', 'reason', 'message']
const LIMIT_KEYS = [
  'name',
  'counter',
  'window',
  'max',
  'limit',
  'rate_limit',
  'increment_from',
  'on_deny',
  'reason',
  'message',
]

export function importHosted(
  root: LocatedMap,
  scope: ServerScope,
  draft: ImportDraft,
  report: ImportReport,
): void {
  readMap(
    root,
    ['version', 'description', 'default', 'hide', 'all_tools', 'tools'],
    'the policy',
    report,
  )
  report.warn(
    'IMPORT_HOSTED_READING',
    root.at,
    'the fields of conditions and limits are not documented in public; they are read as Intercept reads its own',
    'try the calls that matter with `sluice policy explain`',
  )
  readVersion(root, report)
  readDescription(root, draft, report)
  readDefault(root, 'refuse', scope, draft, report)
  const hidden = readHidden(root, scope, draft, report)
  const tools = readMap(findEntry(root, 'tools'), undefined, '`tools`', report)
  for (const { key, value } of tools?.entries ?? []) {
    const name = String(key.value)
    if (hidden.has(name) || hidden.has('*')) {
      report.warn(
        'IMPORT_UNREACHABLE',
        key.at,
        `\`${name}\` is hidden, so that its rules change nothing`,
        'take it from `hide` if it was meant to be called',
      )
      continue
    }
    const rule = toolKey(name, key.at, scope, report)
    if (rule === undefined) continue
    const checks = readChecks(value, `\`${name}\``, ['require', 'deny_if', 'limits'], report)
    composeTool(draft, { key: rule, title: name, comments: [], at: key.at }, checks)
  }
  const all = findEntry(root, 'all_tools')
  if (all !== undefined) {
    const checks = readChecks(all, '`all_tools`', ['limits'], report)
    composeGuardrails(
      draft,
      { key: scope.all, title: 'all tools', comments: [], at: all.at },
      checks,
    )
  }
}

function readChecks(
  node: LocatedNode,
  what: string,
  keys: readonly string[],
  report: ImportReport,
): Check[] {
  const before = report.errorCount
  const body = readMap(node, keys, what, report)
  const checks: (Check | undefined)[] = []
  if (body !== undefined) {
    for (const key of ['require', 'deny_if'] as const)
      readList(findEntry(body, key), `\`${key}\``, report).forEach((item, index) => {
        checks.push(readCondition(item, key, index + 1, report))
      })
    readList(findEntry(body, 'limits'), '`limits`', report).forEach((item, index) => {
      checks.push(readLimit(item, index + 1, report))
    })
  }
  if (report.errorCount > before) return [notImported(report)]
  return checks.filter((check): check is Check => check !== undefined)
}

function readCondition(
  node: LocatedNode,
  key: 'require' | 'deny_if',
  number: number,
  report: ImportReport,
): Check | undefined {
  const map = readMap(node, CONDITION_KEYS, `an entry of \`${key}\``, report)
  if (map === undefined) return undefined
  const translated = translateCondition(map, key === 'require' ? 'pass' : 'match', report)
  if (translated === undefined) return undefined
  const base = baseOf(map, `${key} ${number}`, report)
  const never = 'never' in translated
  if (key === 'require')
    return never ? { ...base, denies: true } : { ...base, pass: [translated.cel] }
  if (!never) return { ...base, match: [translated.cel] }
  report.warn('IMPORT_UNREACHABLE', map.at, 'a condition that is never true', 'take it out')
  return undefined
}

function readLimit(node: LocatedNode, number: number, report: ImportReport): Check | undefined {
  const map = readMap(node, LIMIT_KEYS, 'an entry of `limits`', report)
  if (map === undefined) return undefined
  const shorthand = readText(map, 'rate_limit', report)
  const parsed = shorthand === undefined ? undefined : parseShorthand(shorthand)
  const window = parsed?.window ?? readText(map, 'window', report) ?? ''
  const written = findEntry(map, 'max') ?? findEntry(map, 'limit')
  const max = parsed?.count ?? (written?.kind === 'scalar' ? written.value : undefined)
  if (typeof max !== 'number' || !Number.isFinite(max))
    return report.error(
      'IMPORT_LIMIT',
      written?.at ?? map.at,
      'a limit without a number in `max`',
      'write the limit by hand',
    )
  if (findEntry(map, 'max') !== undefined && findEntry(map, 'limit') !== undefined)
    return report.error(
      'IMPORT_LIMIT',
      keyAt(map, 'limit'),
      'a limit with both `max` and `limit`',
      'keep the smaller',
    )
  const from = readText(map, 'increment_from', report)
  const limit = translateLimit(
    {
      at: map.at,
      window,
      max,
      increment: 1,
      ...(from === undefined ? {} : { incrementFrom: from }),
      per: 'principal',
      calendar: 'may be',
    },
    report,
  )
  if (limit === undefined) return undefined
  const base = baseOf(map, `limit ${number}`, report)
  return 'denies' in limit
    ? { ...base, denies: true }
    : { ...base, pass: limit.pass, limits: [limit.limit] }
}

function baseOf(map: LocatedMap, fallback: string, report: ImportReport): Check {
  const name = readText(map, 'name', report) ?? readText(map, 'counter', report) ?? fallback
  const reason = ['on_deny', 'reason', 'message']
    .map((key) => readReason(map, key, report))
    .find((text) => text !== undefined)
  return { ...EMPTY_CHECK, name, reason }
}
