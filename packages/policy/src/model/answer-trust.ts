// What a policy trusts of the answers of a server: the fields that `trust` names. If the base policy reads
// where values came from, only what it says itself counts.

import type { AnswerTrust } from '../calls/provenance.ts'
import { TOOL_CALL } from '../language/methods.ts'
import type { CompiledPolicy, NameMap } from './policy.ts'
import { findReads } from './policy-reads.ts'

const NONE: AnswerTrust = []

export interface AnswerOrigin {
  readonly server: string
  readonly method: string
  readonly name: string
}

/** The entries in force. */
export function trustInForce(policy: CompiledPolicy): NameMap<AnswerTrust> {
  const { base } = policy
  return base !== undefined && findReads(base).provenance ? base.trust : policy.trust
}

/** What is no answer of a tool is trusted only if the whole server is. */
export function getTrust(
  policy: CompiledPolicy,
  { server, method, name }: AnswerOrigin,
): AnswerTrust {
  const trust = trustInForce(policy)
  if (trust.size === 0) return NONE
  const isTool = method === TOOL_CALL
  const found = trust.all(server, isTool ? name : '')
  if (found.includes('all')) return 'all'
  if (!isTool) return NONE
  // One list stays the same object: what is made of it is made once.
  return found.length === 1 ? (found[0] ?? NONE) : (found as Exclude<AnswerTrust, 'all'>[]).flat()
}
