// `sluice policy apply`: puts a policy or a lock file in force that may loosen something. Without a
// digest it only shows what would change, and needs no proof.

import { text } from '@sluice/policy/document/build-shape'
import { commandOperation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const DIGEST = text(1_000)

export const APPLY_POLICY = commandOperation({
  name: 'policy.apply',
  summary: 'put a policy in force that may loosen something; without a digest only show it',
  role: REQUIRED_ROLES.apply,
  proof: (input) => (isPreview(input) ? 'none' : 'fresh'),
  socket: 'apply',
  changes: true,
  input: {
    digest: { shape: DIGEST, doc: 'of the policy that was shown' },
    lock: { shape: DIGEST, doc: 'of the lock file that was shown' },
  },
  run: async ({ policyFiles: { policies, lock, reload } }, input, { by }) => {
    await reload()
    if (isPreview(input)) return { ...(await policies.preview()), lock: lock.preview() }
    if (input.lock !== undefined) await lock.apply(input.lock, by)
    return input.digest === undefined ? policies.describe() : policies.apply(input.digest, by)
  },
})

function isPreview(input: { readonly digest?: unknown; readonly lock?: unknown }): boolean {
  return input.digest === undefined && input.lock === undefined
}
