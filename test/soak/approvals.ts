// `npm run soak -- approvals`: kill -9 before and after every step of a held call, from the request to
// its outcome; approvals-kill.test.ts does the same at a few.

import type { RunOptions } from '../../scripts/dispatch.ts'
import { approvalKills } from '../support/approval-kills.ts'

export async function run({ times = '1' }: RunOptions): Promise<number> {
  let count = 0
  for (let time = 0; time < Number(times); time++) {
    const { wrong, steps, ends } = await approvalKills((all) =>
      all.flatMap((step) => [
        { step, when: 'before' as const },
        { step, when: 'after' as const },
      ]),
    )
    console.log(`steps: ${steps.join(', ')}`)
    console.log(`${2 * steps.length} kills; requests ended: ${JSON.stringify(countOf(ends))}`)
    for (const each of wrong) console.log(each)
    count += wrong.length
  }
  console.log(`${count} things wrong`)
  return count === 0 ? 0 : 1
}

function countOf(ends: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const end of ends) counts[end] = (counts[end] ?? 0) + 1
  return counts
}
