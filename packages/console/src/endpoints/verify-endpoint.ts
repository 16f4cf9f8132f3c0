// The button *Verify*: the same verification as the gate's own, of the chain of this gate.

import type { AdminParts } from '@sluice/gateway/start/run-admin'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

type VerifyParts = Pick<AdminParts, 'verification' | 'cluster' | 'config'>

/** `POST /api/ledger/verify`. */
export interface VerificationView {
  /** Whether the chain is intact. */
  readonly ok: boolean
  readonly records: number
  /** The newest record that a signed checkpoint covers; 0 if there is none. */
  readonly signedUpTo: number
  readonly durationMs: number
  /** How the chain does not fit together, a line for each problem; empty if it does. */
  readonly says: string
  /** Whose chain was verified, if gates share a store. */
  readonly gate?: string
  /** The gates whose chains were not verified, if gates share a store; null if the store does not say which
   * there are. */
  readonly notVerified?: readonly string[] | null
}

export function verifyEndpoint(parts: VerifyParts): Endpoint {
  return endpoint('POST /api/ledger/verify', {
    role: 'viewer',
    summary: 'verify the chain of this gate with its checkpoints (VerificationView)',
    handle: () => verifyChain(parts),
  })
}

async function verifyChain({
  verification,
  cluster,
  config,
}: VerifyParts): Promise<VerificationView> {
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
