// PolicyLayer's hosted JSON: for each tool what must hold (`require`), what may not (`deny_if`) and
// `limits`, and limits over all tools. Its public page shows the document, not every field below;
// conditions are read with Intercept's operators, and a field nobody documented is an error.

import { isNull } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { composeGuardrails, composeTool, type ImportTarget } from './compose.ts'
import { type Check, EMPTY_CHECK, type ImportDraft, type ImportLimitScope } from './draft.ts'
import { buildNotImportedCheck } from './intercept.ts'
import { PAGE_KEYS, readBody } from './pages.ts'
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

const CONDITION_KEYS = ['path', 'op', 'value']
const ENTRY_KEYS = [...CONDITION_KEYS, 'conditions', 'name', 'on_deny', 'reason', 'message']
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
const LIMIT_KEYS = [
  'scope',
  'conditions',
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
  readDefault(root, 'refuse', { scope, draft, report })
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
    readTool(value, { key: rule, title: name, comments: [], at: key.at }, draft, report)
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

/** A tool with `require`, `deny_if` and `limits`, or in the words of the pages, or with both. */
function readTool(
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
      'take one of the two out',
    )
  const denied = {
    action: 'deny',
    reason: 'this rule was not imported and needs a person',
  } as const
  draft.tools.push({ key, comments: [], body: body ?? denied, at })
  if (body !== undefined && !isOff) composeGuardrails(draft, target, checks)
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
  if (report.errorCount > before) return [buildNotImportedCheck(report)]
  return checks.filter((check): check is Check => check !== undefined)
}

function readCondition(
  node: LocatedNode,
  key: 'require' | 'deny_if',
  number: number,
  report: ImportReport,
): Check | undefined {
  const map = readMap(node, ENTRY_KEYS, `an entry of \`${key}\``, report)
  if (map === undefined) return undefined
  const conditions = conditionsOf(map, report)
  if (conditions.length === 0) return readUnconditional(map, key, number, report)
  const mode = key === 'require' ? 'pass' : 'match'
  const translated = conditions.map((each) => translateCondition(each, mode, report))
  const cels = translated.flatMap((each) =>
    each === undefined || 'never' in each ? [] : [each.cel],
  )
  const never = translated.some((each) => each !== undefined && 'never' in each)
  if (!never && cels.length < conditions.length) return undefined
  const base = baseOf(map, `${key} ${number}`, report)
  if (key === 'require') return never ? { ...base, denies: true } : { ...base, pass: cels }
  if (!never) return { ...base, match: cels }
  report.warn(
    'IMPORT_UNREACHABLE',
    map.at,
    `\`deny_if\` ${number} has a condition that is never true, so it denies nothing and is left out`,
    'check what it was meant to deny',
  )
  return undefined
}

/** An empty list of conditions always holds: `deny_if` denies every call, which is how the pages write a tool that
 * needs a person. A `require` of nothing is refused, because dropping it could open the tool. */
function readUnconditional(
  map: LocatedMap,
  key: 'require' | 'deny_if',
  number: number,
  report: ImportReport,
): Check | undefined {
  if (key === 'deny_if') return { ...baseOf(map, `${key} ${number}`, report), denies: true }
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
      'keep one of the two',
    )
  return readList(list, '`conditions`', report)
    .map((item) => readMap(item, CONDITION_KEYS, 'a condition', report))
    .filter((each) => each !== undefined)
}

function readScope(map: LocatedMap, report: ImportReport): ImportLimitScope | undefined {
  const word = readText(map, 'scope', report) ?? 'grant'
  if (Object.hasOwn(SCOPES, word)) return SCOPES[word]
  return report.error(
    'IMPORT_LIMIT',
    keyAt(map, 'scope'),
    `the scope \`${word}\` is none of ${Object.keys(SCOPES).join(', ')}`,
    'write the limit by hand',
  )
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
  const per = readScope(map, report)
  if (per === undefined) return undefined
  if (findEntry(map, 'conditions') !== undefined)
    report.warn(
      'IMPORT_LIMIT_CONDITIONS',
      keyAt(map, 'conditions'),
      'the original counts the calls only that match `conditions`',
      'here the limit counts every call of the tool, which is stricter',
    )
  const from = readText(map, 'increment_from', report)
  const limit = translateLimit(
    {
      at: map.at,
      window,
      max,
      increment: 1,
      ...(from === undefined ? {} : { incrementFrom: from }),
      per,
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
