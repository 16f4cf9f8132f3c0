// What is remembered of a value: flags in the table of hashes, which of them a field gets by the answer
// that it stands in and the call that brought it, and which origin they make.

import type { AnswerTrust, Origin, TrustWord, ValueReading } from '../calls/provenance.ts'
import { RECORD_PROSE_WORDS } from './limits.ts'
import { isEverybody } from './names.ts'
import { isDestinationKind } from './read-value.ts'

export const FIELD = 1
export const SHARED_FIELD = 2
export const WRITTEN_FIELD = 4
const STEERED = 8
export const PROSE = 16
/** In a field that the policy trusts as an id. */
export const TRUSTED_ID = 32
/** In a field that the policy trusts, also if it is an address. */
export const TRUSTED = 64
/** A call of the session brought it before any answer had it. */
export const OWN = 128

/** The call that was answered. */
export interface AnswerSource {
  /** The tool, as `server/name`. */
  readonly tool?: string | undefined
  /** Its arguments came only from prose: its fields are no better than prose. */
  readonly isSteered: boolean
  /** What the policy trusts of the answer. */
  readonly trust: AnswerTrust
  /** Values of its arguments that neither the user nor a trusted field vouches for: an echo proves nothing. */
  readonly echoes: readonly string[]
  /** Its tool hands over texts as somebody wrote them: they have no fields. */
  readonly handsOverContent?: boolean
  /** It comes from the gate itself: that something was read is told by a label. */
  readonly isGates?: boolean
}

export const ORDINARY: AnswerSource = { isSteered: false, trust: [], echoes: [] }

/** The origin of a field in an answer with text, or of a steered call. */
export function toFieldOrigin(flags: number): Origin | undefined {
  if ((flags & SHARED_FIELD) !== 0) return 'shared field'
  if ((flags & WRITTEN_FIELD) !== 0) return 'written field'
  return (flags & STEERED) !== 0 ? 'steered' : undefined
}

/** `words`: of prose in the answer. */
export function fieldFlag(words: number, { isSteered, trust }: AnswerSource): number {
  if (trust === 'all') return TRUSTED
  if (isSteered) return STEERED
  if (words >= RECORD_PROSE_WORDS) return WRITTEN_FIELD
  return words > 0 ? SHARED_FIELD : FIELD
}

/** The flag of a value in a field that the policy trusts. */
export function trustFlag(
  word: TrustWord | undefined,
  { kind, whole }: ValueReading,
  isSteered: boolean,
): number {
  if (word === undefined || isEverybody(whole)) return 0
  if (word === 'address') return isSteered ? 0 : TRUSTED
  return isDestinationKind(kind) ? 0 : TRUSTED_ID
}
