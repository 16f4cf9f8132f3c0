// Tools of PolicyLayer's hosted JSON: for each what must hold (`require`), what may not (`deny_if`) and `limits`. Its
// public page shows the document, not every field below; conditions are read with Intercept's operators, and a
// field that is not documented is an error.

import { isNull } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, composeTool, type ImportTarget } from './compose.ts'
import type { Check, ImportDraft, ImportLimitScope } from './draft.ts'
import { PAGE_KEYS, readBody } from './pages.ts'
import { keyAt, readList, readMap, readReason, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'
import { NOT_IMPORTED, notImported, type OriginalRule, toCheck } from './to-check.ts'
import { type CounterLimit, parseShorthand } from './translate-limit.ts'

const CONDITION_KEYS = ['path', 'op', 'value']
const REASON_KEYS = ['on_deny', 'reason', 'message']
const ENTRY_KEYS = [...CONDITION_KEYS, 'conditions', 'name', ...REASON_KEYS]
/** Whose calls a limit counts together. */
const SCOPES: Readonly<Record<string, ImportLimitScope>> = {
  grant: 'principal',
  user: 'principal',
  principal: 'principal',
  session: 'session',
  server: 'everyone',
  global: 'everyone',
}
const TOOL_KEYS = ['require', 'deny_if', 'limits']
const COUNTER_KEYS = ['counter', 'window', 'max', 'limit', 'rate_limit', 'increment_from']
const LIMIT_KEYS = ['scope', 'conditions', 'name', ...COUNTER_KEYS, ...REASON_KEYS]

/** A tool with `require`, `deny_if` and `limits`, or in the words of the pages, or with both. */
export function importHostedTool(
  node: LocatedNode,
  target: ImportTarget,
  draft: ImportDraft,
  report: ImportReport,
): void {
  const what = `\`${target.title}\``
  const isWord = node.kind === 'scalar' && !isNull(node)
  const has = (key: string) => node.kind === 'map' && findEntry(node, key) !== undefined
  if (!isWord && !PAGE_KEYS.some(has))
    return composeTool(draft, target, readChecks(node, what, TOOL_KEYS, report))
  const body = readBody(node, what, report, TOOL_KEYS)
  const checks = isWord ? [] : readChecks(node, what, [...TOOL_KEYS, ...PAGE_KEYS], report)
  const { key, at } = target
  const isOff = body?.action === 'deny' || body?.action === 'hide'
  if (isOff && checks.length > 0)
    report.warn(
      'IMPORT_UNREACHABLE',
      at,
      `\`${body.action}\` lets no call through, so that the other rules of ${what} change nothing`,
      'keep the one that was meant',
    )
  const denied = { action: 'deny', reason: NOT_IMPORTED } as const
  draft.tools.push({ key, comments: [], body: body ?? denied, at })
  if (body !== undefined && !isOff) composeGuardrails(draft, target, checks)
}

/** `keys`: what the node may have. */
export function readChecks(
  node: LocatedNode,
  what: string,
  keys: readonly string[],
  report: ImportReport,
): Check[] {
  const before = report.errorCount
  const body = readMap(node, keys, what, report)
  const each = (key: string, read: (map: LocatedMap, name: string) => OriginalRule | undefined) =>
    readList(body && findEntry(body, key), `\`${key}\``, report).flatMap((item, index) => {
      const allowed = key === 'limits' ? LIMIT_KEYS : ENTRY_KEYS
      const map = readMap(item, allowed, `an entry of \`${key}\``, report)
      return (map && read(map, `${key === 'limits' ? 'limit' : key} ${index + 1}`)) ?? []
    })
  const rules = [
    ...each('require', (map, name) => readRequirement(map, name, report)),
    ...each('deny_if', (map, name) => ({
      ...aboutOf(map, name, report),
      effect: 'deny',
      conditions: conditionsOf(map, report),
    })),
    ...each('limits', (map, name) => readLimit(map, name, report)),
  ]
  const checks = rules.map((rule) => toCheck(rule, report)).filter((check) => check !== undefined)
  return report.errorCount > before ? [notImported(report)] : checks
}

/** A requirement of nothing is refused, because dropping it could open the tool. */
function readRequirement(
  map: LocatedMap,
  name: string,
  report: ImportReport,
): OriginalRule | undefined {
  const conditions = conditionsOf(map, report)
  if (conditions.length > 0) return { ...aboutOf(map, name, report), effect: 'pass', conditions }
  return report.error(
    'IMPORT_INVALID',
    keyAt(map, 'conditions'),
    '`require` with no conditions requires nothing',
    'write the condition that was meant; until then the import denies the tool',
  )
}

/** The entry itself, or the list of those that must all hold. */
function conditionsOf(map: LocatedMap, report: ImportReport): readonly LocatedMap[] {
  const list = findEntry(map, 'conditions')
  if (list === undefined) return [map]
  if (findEntry(map, 'path') !== undefined)
    report.error(
      'IMPORT_INVALID',
      keyAt(map, 'conditions'),
      'both a condition and `conditions`',
      'keep the one that was meant',
    )
  return readList(list, '`conditions`', report)
    .map((item) => readMap(item, CONDITION_KEYS, 'a condition', report))
    .filter((each) => each !== undefined)
}

function readLimit(map: LocatedMap, name: string, report: ImportReport): OriginalRule | undefined {
  const refuse = (key: string, message: string) =>
    report.error('IMPORT_LIMIT', keyAt(map, key), message, 'write the limit by hand')
  const shorthand = parseShorthand(readText(map, 'rate_limit', report) ?? '')
  const written = findEntry(map, 'max') ?? findEntry(map, 'limit')
  const max = shorthand?.count ?? (written?.kind === 'scalar' ? written.value : undefined)
  if (typeof max !== 'number' || !Number.isFinite(max))
    return refuse('max', 'a limit without a number in `max`')
  if (findEntry(map, 'max') !== undefined && findEntry(map, 'limit') !== undefined)
    return refuse('limit', 'a limit with both `max` and `limit`')
  const scope = readText(map, 'scope', report) ?? 'grant'
  const per = Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined
  if (per === undefined)
    return refuse('scope', `the scope \`${scope}\` is none of ${Object.keys(SCOPES).join(', ')}`)
  if (findEntry(map, 'conditions') !== undefined)
    report.warn(
      'IMPORT_LIMIT_CONDITIONS',
      keyAt(map, 'conditions'),
      'the original counts the calls only that match `conditions`',
      'here the limit counts every call of the tool, which is stricter',
    )
  const incrementFrom = readText(map, 'increment_from', report)
  const limit: CounterLimit = {
    at: map.at,
    window: shorthand?.window ?? readText(map, 'window', report) ?? '',
    max,
    increment: 1,
    ...(incrementFrom === undefined ? {} : { incrementFrom }),
    per,
    calendar: 'may be',
  }
  return { ...aboutOf(map, name, report), effect: 'pass', conditions: [], limit }
}

function aboutOf(map: LocatedMap, fallback: string, report: ImportReport) {
  const name = readText(map, 'name', report) ?? readText(map, 'counter', report) ?? fallback
  return { name, at: map.at, reason: readReason(map, REASON_KEYS, report) }
}
