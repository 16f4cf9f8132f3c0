// Conditions over the calls that a session made before: `called`, `calledWithin`, `callsAfter`. Their
// arguments are literals, so each is a slot of its own; the past is bounded, so they are too.

import type { Instant } from '../../core/clock.ts'
import type { PastCall, PastCalls } from '../../core/past-calls.ts'
import { parseDuration } from '../../document/shape.ts'
import { globMatches, parseGlob } from '../../language/glob.ts'
import { UndecidableError } from '../functions/undecidable-error.ts'

const FORGOTTEN = 'the session has made more calls than are kept'

export function evaluatePast(
  [name, first = '', second = '']: readonly string[],
  past: PastCalls | undefined,
  now: Instant,
): boolean | bigint {
  if (past === undefined) throw new UndecidableError('what the session called before is not known')
  const { calls, hasMore } = past
  const matches = matcher(first)
  if (name === 'callsAfter') {
    const start = calls.findLastIndex(matcher(second))
    if (start === -1 && hasMore) throw new UndecidableError(FORGOTTEN)
    return start === -1 ? 0n : BigInt(calls.slice(start + 1).filter(matches).length)
  }
  const last = calls.findLast(matches)
  if (name === 'called') {
    if (last === undefined && hasMore) throw new UndecidableError(FORGOTTEN)
    return last !== undefined
  }
  const since = now.monotonicMs - (parseDuration(second) as number) * 1_000
  if (last !== undefined) return last.atMs > since
  const [oldest] = calls
  if (hasMore && (oldest === undefined || oldest.atMs > since))
    throw new UndecidableError(FORGOTTEN)
  return false
}

function matcher(key: string): (call: PastCall) => boolean {
  const glob = parseGlob(key)
  return ({ server, name }) => globMatches(glob, server, name)
}
