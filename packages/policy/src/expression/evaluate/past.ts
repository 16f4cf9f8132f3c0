// Conditions over the calls that a session made before: `called`, `calledWithin`, `callsAfter`. Their
// arguments are literals, so each is a variable of its own; the past is bounded, so they are too.

import type { Instant } from '../../core/clock.ts'
import type { PastCall, PastCalls } from '../../core/past-calls.ts'
import { parseDuration } from '../../document/shape.ts'
import { globMatches, parseGlob } from '../../language/glob.ts'

/** Undefined if it is not known: what was dropped could matter. */
export function evaluatePast(
  [name, first = '', second = '']: readonly string[],
  past: PastCalls | undefined,
  now: Instant,
): boolean | bigint | undefined {
  if (past === undefined) return undefined
  const { calls, hasMore } = past
  const matches = matcher(first)
  if (name === 'callsAfter') {
    const start = calls.findLastIndex(matcher(second))
    if (start === -1) return hasMore ? undefined : 0n
    return BigInt(calls.slice(start + 1).filter(matches).length)
  }
  const last = calls.findLast(matches)
  if (name === 'called') return last === undefined && hasMore ? undefined : last !== undefined
  const since = now.monotonicMs - (parseDuration(second) as number) * 1_000
  if (last !== undefined) return last.atMs > since
  const [oldest] = calls
  const isCovered = !hasMore || (oldest !== undefined && oldest.atMs <= since)
  return isCovered ? false : undefined
}

function matcher(key: string): (call: PastCall) => boolean {
  const glob = parseGlob(key)
  return ({ server, name }) => globMatches(glob, server, name)
}
