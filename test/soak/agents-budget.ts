// Budgets of families, 200 random stories (`--count`): forks, prompts, imports, cancellations and
// resumes at once, against a model server that counts by itself.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Service } from '../../packages/agents/src/service/service.ts'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { budgetProperty, pricesFor } from '../agents/budget.ts'
import { modelServer, settingsOf } from '../agents/model-server.ts'

export async function run(options: RunOptions): Promise<number> {
  const numRuns = Number(options.count ?? 200)
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-budget-'))
  const model = await modelServer(scratch)
  let next = 0
  const start = (name: string) => {
    const models = settingsOf({ local: { url: model.url } }, { prices: pricesFor(name) })
    return Service.start({ directory: join(scratch, `data-${next++}`), models })
  }
  try {
    await fc.assert(budgetProperty(model, start), { numRuns })
    console.log(`${numRuns} stories, every budget held by the model server's own count`)
    return 0
  } catch (error) {
    console.log((error as Error).message)
    return 1
  } finally {
    model.stop()
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}
