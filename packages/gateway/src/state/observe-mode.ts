// Observe mode: a policy document with `mode: shadow` decides nothing, and what it would have decided is recorded
// beside every call. `sluice init --observe` writes it so, `sluice enforce` takes the line away; nothing else in
// the text changes. Pure.

import { isDeepStrictEqual } from 'node:util'
import type { CompiledPolicy } from '@sluice/policy/model/policy'
import { parse } from 'yaml'

const NOTE =
  '# Observed only: every call passes, and what these rules would have said is recorded. `sluice enforce` turns them on.'

/** A suggested policy, observed only. */
export function addObserveMode(text: string): string {
  return text.replace(/^version: 1\n/m, (version) => `${version}${NOTE}\nmode: shadow\n`)
}

/** Whether a document only observes. One that cannot be read enforces nothing either, which is reported elsewhere. */
export function isObserveOnly(text: string): boolean {
  try {
    return (parse(text) as { readonly mode?: unknown } | null)?.mode === 'shadow'
  } catch {
    return false
  }
}

/** Whether nothing is enforced for callers of this policy: the base policy over it only observes as well. */
export function isObserving({ shadow, base }: CompiledPolicy): boolean {
  return shadow && base?.shadow !== false
}

/** The document without its `mode: shadow`; undefined if it cannot be taken out alone. */
export function removeObserveMode(text: string): string | undefined {
  const line = /^mode:[ \t]*(?:shadow|"shadow"|'shadow')[ \t]*(?:#[^\r\n]*)?(?:\r?\n|$)/m
  const after = text.replace(line, '').replace(`${NOTE}\n`, '')
  if (after === text) return undefined
  const { mode, ...before } = parse(text) as Record<string, unknown>
  return mode === 'shadow' && isDeepStrictEqual(parse(after), before) ? after : undefined
}
