// The audit chain of a session, as section 8 of the standard says: each entry is hashed together with the one before
// it. The store computes the hash, since only it knows the head when several gates write (ledger/store/step-chains.ts).

import { writeCanonicalJson } from '@sluice/policy/values/canonical-json'
import type { AcsRequest } from './envelope.ts'

/** Names the chain in the store. Sessions of two agents are two chains, whatever they call themselves. */
export function chainOf({ agent, session }: AcsRequest): string {
  return JSON.stringify([agent, session])
}

/** What an entry commits the request by; the standard takes it without the signature. */
export function toRequestText({ params }: AcsRequest): string {
  return writeCanonicalJson(params)
}

/** The entry as it is hashed: without its own hash and that of the entry before. `requestHash` is SHA-256 of
 * `toRequestText`, in hex. */
export function writeChainEntry(
  { method, requestId, timestamp }: AcsRequest,
  requestHash: string,
): string {
  return writeCanonicalJson({
    entry_id: requestId,
    step_id: requestId,
    step_type: method,
    request_hash: requestHash,
    timestamp,
  })
}
