// The guardrail that is always there: arguments that name the gate's own configuration, policy or
// data are denied, whatever the document says; an agent with a file tool must not rewrite the rules
// it lives under. Text is searched as written, decoded and with its slashes turned.

import { isObject, type JsonValue } from '../core/json.ts'
import { decodePercent } from '../core/percent.ts'
import { DECODED_CHARS_MAX } from './limits.ts'

export const OWN_FILES = "the gate's own files"

/** Whether any text of `value` names one of `paths`; text that is too long to decode counts as naming one. */
export function namesOwnFiles(value: JsonValue | undefined, paths: readonly string[]): boolean {
  return names(value, paths, { charsLeft: DECODED_CHARS_MAX })
}

interface DecodeBudget {
  /** Characters that may still be decoded, of all texts of one call. */
  charsLeft: number
}

function names(
  value: JsonValue | undefined,
  paths: readonly string[],
  budget: DecodeBudget,
): boolean {
  if (typeof value === 'string') return value.length > 2 && mentions(value, paths, budget)
  if (Array.isArray(value)) return value.some((item: JsonValue) => names(item, paths, budget))
  if (isObject(value))
    return Object.keys(value).some(
      (name) => names(name, paths, budget) || names(value[name], paths, budget),
    )
  return false
}

function mentions(text: string, paths: readonly string[], budget: DecodeBudget): boolean {
  if (paths.some((path) => text.includes(path))) return true
  if (!/[%\\]|\/\.|\/\//.test(text)) return false
  if (/%[0-9a-f]{2}/i.test(text)) {
    budget.charsLeft -= text.length
    if (budget.charsLeft < 0) return paths.length > 0
  }
  const plain = normalise(text)
  return paths.some((path) => plain.includes(path))
}

/** Percent signs decoded while that changes anything, slashes one way, `.` and `..` taken out. */
function normalise(text: string): string {
  const plain = decodePercent(text)
  const [first, ...rest] = plain.replaceAll('\\', '/').split('/') as [string, ...string[]]
  // The first part stays whatever climbs: above the root is the root.
  const parts = [first === '.' || first === '..' ? '' : first]
  for (const part of rest) {
    if (part !== '' && part !== '.' && part !== '..') parts.push(part)
    else if (part === '..' && parts.length > 1) parts.pop()
  }
  return parts.join('/')
}
