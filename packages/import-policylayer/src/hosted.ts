// Rules of PolicyLayer's hosted JSON: for each tool what must hold (`require`), what may not (`deny_if`) and `limits`.
// Its public page shows the document, not every field below; conditions are read with Intercept's operators, and a
// field that is not documented is an error.

import type { ImportLimitScope } from './draft.ts'
import type { Fields } from './fields.ts'
import type { OriginalRule } from './to-check.ts'
import { parseRate, WINDOWS } from './translate-limit.ts'

const CONDITION_KEYS = ['path', 'op', 'value']
const REASON_KEYS = ['on_deny', 'reason', 'message']
const ENTRY_KEYS = [...CONDITION_KEYS, 'conditions', 'name', ...REASON_KEYS]
const COUNTER_KEYS = ['counter', 'window', 'max', 'limit', 'rate_limit', 'increment_from']
const LIMIT_KEYS = ['scope', 'conditions', 'name', ...COUNTER_KEYS, ...REASON_KEYS]
/** Whose calls a limit counts together. */
const SCOPES: Readonly<Record<string, ImportLimitScope>> = {
  grant: 'principal',
  user: 'principal',
  principal: 'principal',
  session: 'session',
  server: 'everyone',
  global: 'everyone',
}

export function readHostedRules(tool: Fields): readonly OriginalRule[] {
  const required = tool.each('require', ENTRY_KEYS, 'an entry of `require`')
  const denied = tool.each('deny_if', ENTRY_KEYS, 'an entry of `deny_if`')
  const limited = tool.each('limits', LIMIT_KEYS, 'an entry of `limits`')
  return [
    ...required.map((entry, index) => readRequirement(entry, `require ${index + 1}`)),
    ...denied.map((entry, index) => ({
      ...readAbout(entry, `deny_if ${index + 1}`),
      effect: 'deny' as const,
      conditions: readConditions(entry),
    })),
    ...limited.flatMap((entry, index) => readLimit(entry, `limit ${index + 1}`) ?? []),
  ]
}

/** A requirement of nothing is refused, because dropping it could open the tool. */
function readRequirement(entry: Fields, name: string): OriginalRule {
  const conditions = readConditions(entry)
  const message = '`require` with no conditions requires nothing'
  const help = 'write the condition that was meant; until then the import denies the tool'
  if (conditions.length === 0) entry.error('IMPORT_INVALID', 'conditions', message, help)
  return { ...readAbout(entry, name), effect: 'pass', conditions }
}

/** The entry itself, or the list of those that must all hold. */
function readConditions(entry: Fields): readonly Fields[] {
  if (!entry.has('conditions')) return [entry]
  const message = 'both a condition and `conditions`'
  if (entry.has('path'))
    entry.error('IMPORT_INVALID', 'conditions', message, 'keep the one that was meant')
  return entry.each('conditions', CONDITION_KEYS, 'a condition')
}

function readLimit(entry: Fields, name: string): OriginalRule | undefined {
  const refuse = (key: string, message: string) =>
    entry.error('IMPORT_LIMIT', key, message, 'write the limit by hand')
  const rate = parseRate(entry.text('rate_limit') ?? '')
  const max = rate?.max ?? entry.number(entry.has('max') ? 'max' : 'limit')
  if (max === undefined) return refuse('max', 'a limit without a number in `max`')
  if (entry.has('max') && entry.has('limit'))
    return refuse('limit', 'a limit with both `max` and `limit`')
  const per = entry.word('scope', SCOPES, entry.text('scope') ?? 'grant', 'IMPORT_LIMIT')
  const written = entry.text('window') ?? ''
  const window = rate?.window ?? entry.word('window', WINDOWS, written, 'IMPORT_LIMIT')
  if (per === undefined || window === undefined) return undefined
  const message = 'the original counts the calls only that match `conditions`'
  const help = 'here the limit counts every call of the tool, which is stricter'
  if (entry.has('conditions')) entry.warn('IMPORT_LIMIT_CONDITIONS', 'conditions', message, help)
  const incrementFrom = entry.text('increment_from')
  const limit = { at: entry.map.at, window, max, increment: 1, incrementFrom, per }
  return { ...readAbout(entry, name), effect: 'pass', conditions: [], limit }
}

function readAbout(entry: Fields, fallback: string) {
  const name = entry.text('name') ?? entry.text('counter') ?? fallback
  return { name, at: entry.map.at, reason: entry.reason(REASON_KEYS) }
}
