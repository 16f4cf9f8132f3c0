// Whether records at the start of a chain were dropped by the gate itself: the checkpoint that replaces them is
// signed, and an event of the chain says so. For chains that are not in a ledger file.

import type { Base } from '../chain/base.ts'
import { fromHex } from '../store/chain-hash.ts'
import type { IntegrityProblem } from './verifier.ts'
import { RetentionClaims, TreeCheck } from './verify-checkpoints.ts'

/** What replaced the records at the start of a chain. */
export interface DroppedRecords {
  /** The last record that was dropped. */
  readonly seq: number
  /** The hash of the chain after that record, hex. */
  readonly hash: string
  /** The signed checkpoint, as stored. */
  readonly checkpoint: string
}

/** Collects the events of a chain that say that its start was dropped, and compares them with the checkpoint. */
export interface DroppedCheck {
  /** Takes the text of each record that follows the dropped ones. */
  readonly add: (text: string) => void
  /** Returns what does not fit together. It is called once, after the last record. */
  readonly problems: () => string[]
}

/** Any signature counts if there are no `keys`. */
export function checkDropped(
  { checkpoint, hash, seq }: DroppedRecords,
  keys: readonly string[] | undefined,
): DroppedCheck {
  const base: Base = { seq, hash: fromHex(hash), checkpoint }
  const problems: IntegrityProblem[] = []
  // Compares the checkpoint with the base.
  new TreeCheck(base, keys, [], problems)
  const claims = new RetentionClaims()
  return {
    add: (text: string) => claims.add(text),
    problems: () => {
      claims.check(base, undefined, problems)
      return problems.map(({ message }) => message)
    },
  }
}
