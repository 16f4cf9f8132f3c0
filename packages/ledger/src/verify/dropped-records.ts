// Whether records at the start of a chain were dropped by the gate itself: the checkpoint that replaces them is
// signed, and an event of the chain says so. For chains that are not in a ledger file.

import type { Base } from '../chain/base.ts'
import { fromHex } from '../store/chain-hash.ts'
import type { IntegrityProblem } from './verifier.ts'
import { RetentionClaims, TreeCheck } from './verify-checkpoints.ts'

/** `hash` is the one after record `seq`, hex. Without `keys` any signature counts. */
export function checkDropped(
  { checkpoint, hash, seq }: { seq: number; hash: string; checkpoint: string },
  keys: readonly string[] | undefined,
) {
  const base: Base = { seq, hash: fromHex(hash), checkpoint }
  const problems: IntegrityProblem[] = []
  // Compares the checkpoint with the base.
  new TreeCheck(base, keys, [], problems)
  const claims = new RetentionClaims()
  return {
    /** A record that follows, as text. */
    add: (text: string) => claims.add(text),
    problems: () => {
      claims.check(base, undefined, problems)
      return problems.map(({ message }) => message)
    },
  }
}
