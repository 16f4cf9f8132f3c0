// The button *Verify*: the same verification as the gate's own, of the chain of this gate.

import type { AdminParts } from '../../gateway/start/run-admin.ts'
import type { VerificationView } from '../contract/contract-console.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'

export function verifyEndpoint(
  parts: Pick<AdminParts, 'verification' | 'cluster' | 'config'>,
): Endpoint {
  return endpoint('POST /api/ledger/verify', {
    role: 'viewer',
    summary: 'verify the chain of this gate with its checkpoints (VerificationView)',
    handle: async (): Promise<VerificationView> => {
      const beganMs = performance.now()
      const { records, signedUpTo, problems } = await parts.verification.verify()
      const durationMs = Math.round(performance.now() - beganMs)
      const says = problems.join('\n')
      const verified = { ok: problems.length === 0, records, signedUpTo, durationMs, says }
      const gate = parts.config.cluster?.name
      if (gate === undefined || parts.cluster === undefined) return verified
      const gates = await parts.cluster.directory.list().catch(() => undefined)
      const others = gates?.map(({ name }) => name).filter((name) => name !== gate)
      return { ...verified, gate, notVerified: others ?? null }
    },
  })
}
