// The form that PolicyLayer's pages describe in words: a tool with `action`, `reason`, and a `rate_limit`
// of `max` calls within `window` seconds for one agent session. A `rate_limit` without an action allows
// within it. Tools are named without a server; the import names the server that is meant.

import { isNull } from '@sluice/policy/document/check-shape'
import { findEntry, type LocatedMap, type LocatedNode } from '@sluice/policy/document/read-document'
import { RATE_MAX } from '@sluice/policy/language/limits'
import type { ImportTarget } from './compose.ts'
import type { ImportDraft, ImportLimit, RuleBody } from './draft.ts'
import { keyAt, readMap, readReason, readText } from './read-fields.ts'
import type { ImportReport } from './report.ts'

const ACTIONS = ['allow', 'deny', 'hide', 'require_approval'] as const
type Action = (typeof ACTIONS)[number]

/** Other spellings of the same. */
const ACTION_WORDS: Readonly<Record<string, Action>> = {
  allow: 'allow',
  deny: 'deny',
  block: 'deny',
  hide: 'hide',
  require_approval: 'require_approval',
  'require-approval': 'require_approval',
  approve: 'require_approval',
}

const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
}
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const WINDOW_SECONDS_MAX = 30 * 86_400

export function importPagesTool(
  node: LocatedNode,
  { key, title, at }: ImportTarget,
  draft: ImportDraft,
  report: ImportReport,
): void {
  const body = readBody(node, `\`${title}\``, report)
  if (body !== undefined) draft.tools.push({ key, comments: [], body, at })
}

/** Fields of a tool in this form. */
export const PAGE_KEYS = ['action', 'reason', 'message', 'on_deny', 'rate_limit'] as const

/** `others`: fields that another reader reads. Undefined after an error. */
export function readBody(
  node: LocatedNode,
  what: string,
  report: ImportReport,
  others: readonly string[] = [],
): RuleBody | undefined {
  if (node.kind === 'scalar' && !isNull(node)) {
    const action = readAction(node.text.trim(), node.at, report)
    return action && { action }
  }
  const map = readMap(node, [...PAGE_KEYS, ...others], what, report)
  if (map === undefined) return undefined
  const written = readText(map, 'action', report)
  const action = written === undefined ? 'allow' : readAction(written, keyAt(map, 'action'), report)
  const limit = readLimit(map, report)
  if (action === undefined || limit === null) return undefined
  const reason = readReason(map, ['reason', 'message', 'on_deny'], report)
  if (limit !== undefined && (action === 'deny' || action === 'hide')) {
    report.warn(
      'IMPORT_UNREACHABLE',
      keyAt(map, 'rate_limit'),
      `\`${action}\` lets no call through, so that the limit changes nothing`,
      'take one of the two out',
    )
    return { action, ...(reason === undefined ? {} : { reason }) }
  }
  return {
    action,
    ...(reason === undefined ? {} : { reason }),
    ...(limit === undefined ? {} : { limits: [limit] }),
  }
}

function readAction(word: string, at: number, report: ImportReport): Action | undefined {
  const action = ACTION_WORDS[word.toLowerCase()]
  if (action !== undefined) return action
  return report.error(
    'IMPORT_INVALID',
    at,
    `the action \`${word.slice(0, 40)}\` is none of ${ACTIONS.map((each) => `\`${each}\``).join(', ')}`,
    'write the rule by hand',
  )
}

/** Undefined without one, null after an error. */
function readLimit(map: LocatedMap, report: ImportReport): ImportLimit | undefined | null {
  const node = findEntry(map, 'rate_limit')
  if (node === undefined || isNull(node)) return undefined
  const fields =
    node.kind === 'map' ? readMap(node, ['max', 'window'], '`rate_limit`', report) : undefined
  const short = node.kind === 'scalar' ? /^(\d{1,9})\s*\/\s*(\w+)$/.exec(node.text.trim()) : null
  const max = short === null ? numberOf(fields, 'max') : Number(short[1])
  const window = short === null ? windowOf(fields) : SECONDS[short[2] as string]
  if (max === undefined || max < 1 || max > RATE_MAX || window === undefined) {
    report.error(
      'IMPORT_LIMIT',
      node.at,
      '`rate_limit` needs `max` and `window`',
      `\`max\` from 1 to ${RATE_MAX} calls within \`window\` seconds, such as { max: 10, window: 60 }`,
    )
    return null
  }
  return { max, window, per: 'session' }
}

function numberOf(map: LocatedMap | undefined, key: string): number | undefined {
  const node = map && findEntry(map, key)
  return node?.kind === 'scalar' && typeof node.value === 'number' && Number.isInteger(node.value)
    ? node.value
    : undefined
}

/** Seconds: a number, `60s`, `1m`, `minute`. */
function windowOf(map: LocatedMap | undefined): number | undefined {
  const number = numberOf(map, 'window')
  const node = map && findEntry(map, 'window')
  const text = node?.kind === 'scalar' ? node.text.trim() : ''
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = number ?? SECONDS[text] ?? Number(count) * (UNITS[unit ?? ''] ?? Number.NaN)
  return seconds >= 1 && seconds <= WINDOW_SECONDS_MAX ? seconds : undefined
}
