// `sluice policy apply`: puts a policy or a lock file in force that may loosen something. Without a
// digest it only shows what would change, and needs no proof.

import type { Policies } from '../gateway/state/policies.ts'
import type { ActiveLockFile } from '../gateway/tools/active-lock-file.ts'
import { type Operation, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

export interface ApplyParts {
  readonly policies: Policies
  readonly lock: ActiveLockFile
  /** Looks at the policy files at once. */
  readonly reload: () => void | Promise<void>
}

const DIGEST = { kind: 'text', max: 1_000 } as const

export function createApplyPolicy({ policies, lock, reload }: ApplyParts): Operation {
  return operation({
    name: 'policy.apply',
    summary: 'put a policy in force that may loosen something; without a digest only show it',
    role: REQUIRED_ROLES.apply,
    proof: (input) => (isPreview(input) ? 'none' : 'fresh'),
    socket: 'apply',
    command: 'policy apply',
    input: {
      digest: { shape: DIGEST, doc: 'of the policy that was shown' },
      lock: { shape: DIGEST, doc: 'of the lock file that was shown' },
    },
    run: async (_, input, { by }) => {
      await reload()
      if (isPreview(input)) return { ...(await policies.preview()), lock: lock.preview() }
      if (input.lock !== undefined) await lock.apply(input.lock, by)
      return input.digest === undefined ? policies.describe() : policies.apply(input.digest, by)
    },
  })
}

function isPreview(input: { readonly digest?: unknown; readonly lock?: unknown }): boolean {
  return input.digest === undefined && input.lock === undefined
}
