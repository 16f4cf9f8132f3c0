// The guardrail that is always there: arguments that name the gate's own configuration, policy or
// data are denied, whatever the document says; an agent with a file tool must not rewrite the rules
// it lives under. Text is searched as written, decoded and with its slashes turned.

import { isObject, type JsonValue } from '../core/json.ts'

export const OWN_FILES = "the gate's own files"

export function namesOwnFiles(value: JsonValue | undefined, paths: readonly string[]): boolean {
  if (typeof value === 'string') return value.length > 2 && mentions(value, paths)
  if (Array.isArray(value)) return value.some((item: JsonValue) => namesOwnFiles(item, paths))
  if (isObject(value))
    return Object.keys(value).some(
      (name) => namesOwnFiles(name, paths) || namesOwnFiles(value[name], paths),
    )
  return false
}

function mentions(text: string, paths: readonly string[]): boolean {
  if (paths.some((path) => text.includes(path))) return true
  if (!/[%\\]|\/\.|\/\//.test(text)) return false
  const plain = normalise(text)
  return paths.some((path) => plain.includes(path))
}

/** Percent signs decoded while that changes anything, slashes one way, `.` and `..` taken out. */
function normalise(text: string): string {
  let plain = text
  for (let round = 0; round < 4; round++) {
    const decoded = plain.replace(/(?:%[0-9a-f]{2})+/gi, decode)
    if (decoded === plain) break
    plain = decoded
  }
  const [first, ...rest] = plain.replaceAll('\\', '/').split('/') as [string, ...string[]]
  // The first part stays whatever climbs: above the root is the root.
  const parts = [first === '.' || first === '..' ? '' : first]
  for (const part of rest) {
    if (part !== '' && part !== '.' && part !== '..') parts.push(part)
    else if (part === '..' && parts.length > 1) parts.pop()
  }
  return parts.join('/')
}

/** As UTF-8; byte by byte where it is none. */
function decode(run: string): string {
  try {
    return decodeURIComponent(run)
  } catch {
    return run.replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}
