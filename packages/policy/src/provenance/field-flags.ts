// What is remembered of a value: flags in the table of hashes, which of them a field gets by the record
// that it stands in and the call that brought it, and which origin they make.

import type { Origin } from '../core/provenance.ts'
import { RECORD_PROSE_WORDS } from './limits.ts'

export const FIELD = 1
export const SHARED_FIELD = 2
export const WRITTEN_FIELD = 4
const STEERED = 8
export const PROSE = 16

/** Of the call that was answered. */
export interface AnswerSource {
  /** Its arguments came only from prose: its fields are no better than prose. */
  readonly isSteered: boolean
  /** The document says that the answers of this tool are written by nobody else. */
  readonly isTrusted: boolean
  /** Values of its arguments that did not come from the user or a field: an echo proves nothing. */
  readonly echoes: readonly string[]
  /** Its tool does not hand over texts as somebody wrote them: one that is all records has fields. */
  readonly canListRecords?: boolean
}

export const ORDINARY: AnswerSource = {
  isSteered: false,
  isTrusted: false,
  echoes: [],
}

/** Of a field in a record with text, or of a steered call. */
export function toFieldOrigin(flags: number): Origin | undefined {
  if ((flags & SHARED_FIELD) !== 0) return 'shared field'
  if ((flags & WRITTEN_FIELD) !== 0) return 'written field'
  return (flags & STEERED) !== 0 ? 'steered' : undefined
}

/** `words`: of prose in the record. */
export function fieldFlag(words: number, { isSteered, isTrusted }: AnswerSource): number {
  if (isTrusted) return FIELD
  if (isSteered) return STEERED
  if (words >= RECORD_PROSE_WORDS) return WRITTEN_FIELD
  return words > 0 ? SHARED_FIELD : FIELD
}
