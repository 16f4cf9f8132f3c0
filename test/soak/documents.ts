// `npm run soak -- documents`: the hostile and the largest documents at their full size, a megabyte
// each. The same tests run on a part of it in `npm test`.

import { DOCUMENT_LENGTH_MAX } from '@sluice/policy/document/limits'
import { runStep } from '../../scripts/run-step.ts'

export async function run(): Promise<number> {
  process.env.SLUICE_DOCUMENT_LENGTH = String(DOCUMENT_LENGTH_MAX)
  const tests = ['run', 'packages/policy/src/compile/compile.test.ts', '--testTimeout=120000']
  const { passed } = await runStep('documents', ['node_modules/vitest/vitest.mjs', ...tests])
  return passed ? 0 : 1
}
