// The form that PolicyLayer's pages describe in words: a tool with `action`, `reason`, and a `rate_limit`
// of `max` calls within `window` seconds for one agent session. A `rate_limit` without an action allows
// within it. Tools are named without a server; the import names the server that is meant.

import { isNull } from '@sluice/policy/document/check-shape'
import { parseDuration } from '@sluice/policy/document/shape'
import { RATE_MAX } from '@sluice/policy/language/limits'
import type { ImportLimit, RuleBody } from './draft.ts'
import type { Fields } from './fields.ts'
import { parseRate, WINDOWS } from './translate-limit.ts'

/** Fields of a tool in this form. */
export const PAGE_KEYS = ['action', 'reason', 'message', 'on_deny', 'rate_limit'] as const

/** The actions, and other spellings of the same. */
const ACTION_WORDS = {
  allow: 'allow',
  deny: 'deny',
  hide: 'hide',
  require_approval: 'require_approval',
  block: 'deny',
  'require-approval': 'require_approval',
  approve: 'require_approval',
} as const

const WINDOW_SECONDS_MAX = 30 * 86_400

/** Reads the body of a rule; undefined after an error. */
export function readBody(tool: Fields): RuleBody | undefined {
  const written = tool.text('action') ?? 'allow'
  const action = tool.word('action', ACTION_WORDS, written.trim().toLowerCase())
  const limits = readLimits(tool)
  if (action === undefined || limits === undefined) return undefined
  const reason = tool.reason(['reason', 'message', 'on_deny'])
  if (limits.length === 0 || (action !== 'deny' && action !== 'hide'))
    return { action, reason, limits }
  const message = `\`${action}\` lets no call through, so that the limit changes nothing`
  tool.warn('IMPORT_UNREACHABLE', 'rate_limit', message, 'keep the one that was meant')
  return { action, reason }
}

/** One limit or none; undefined after an error. */
function readLimits(tool: Fields): readonly ImportLimit[] | undefined {
  const node = tool.node('rate_limit')
  if (node === undefined || isNull(node)) return []
  const rate = node.kind === 'scalar' ? parseRate(node.text) : undefined
  const fields = node.kind === 'map' ? tool.child('rate_limit', ['max', 'window']) : undefined
  const max = rate?.max ?? fields?.number('max') ?? 0
  const window = toSeconds(rate?.window ?? fields?.number('window') ?? fields?.text('window'))
  if (Number.isInteger(max) && max >= 1 && max <= RATE_MAX && window !== undefined)
    return [{ max, window, per: 'session' }]
  const help = `\`max\` from 1 to ${RATE_MAX} calls within \`window\` seconds, such as { max: 10, window: 60 }`
  const message = '`rate_limit` needs `max` and `window`'
  return tool.report.error('IMPORT_LIMIT', node.at, message, help)
}

/** A number of seconds, `60s`, `1m` or `minute`. */
function toSeconds(window: string | number | undefined): number | undefined {
  const isWord = typeof window === 'string' && Object.hasOwn(WINDOWS, window)
  const seconds = parseDuration(isWord ? WINDOWS[window as keyof typeof WINDOWS] : window)
  return seconds !== undefined && seconds <= WINDOW_SECONDS_MAX ? seconds : undefined
}
