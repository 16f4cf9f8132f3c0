// The button *Verify*: the same verification as the gate's own, of the chain of this gate.

import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

type VerifyParts = Pick<AdminParts, 'verification' | 'cluster' | 'config'>

export type VerificationView = Awaited<ReturnType<typeof verifyChain>>

export function verifyEndpoint(parts: VerifyParts): Endpoint {
  return endpoint('POST /api/ledger/verify', {
    role: 'viewer',
    summary: 'verify the chain of this gate with its checkpoints (VerificationView)',
    handle: () => verifyChain(parts),
  })
}

/**
 * Says of a chain whether and how it does not fit together, and the newest record that a signed checkpoint
 * covers (0 if there is none). Where gates share a store: whose chain it was, and the gates whose chains were
 * not verified; null if the store does not say which there are.
 */
async function verifyChain({ verification, cluster, config }: VerifyParts) {
  const beganMs = performance.now()
  const { records, signedUpTo, problems } = await verification.verify()
  const durationMs = Math.round(performance.now() - beganMs)
  const says = problems.join('\n')
  const verified = { ok: problems.length === 0, records, signedUpTo, durationMs, says }
  const gate = cluster && config.cluster?.name
  const gates = await cluster?.directory.list().catch(() => undefined)
  const others = gates?.map(({ name }) => name).filter((name) => name !== gate)
  return { ...verified, ...(gate && { gate, notVerified: others ?? null }) }
}
