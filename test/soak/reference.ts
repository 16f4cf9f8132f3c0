// `npm run soak -- reference [--decisions N] [--seed N] [--engine DIR]`: the engine beside the
// independent reference on random decisions, a million unless said. Exits 1 at a difference or
// where the mix is too easy. The same run, smaller, is part of `npm test`.

import { join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { ROOT } from '../../scripts/run-step.ts'
import { compareWorlds, LEAST_PERCENT, mixTable } from '../reference/compare.ts'
import { loadEngine } from '../reference/load-engine.ts'

const DECISIONS_A_WORLD = 200

export async function run(options: RunOptions): Promise<number> {
  const wanted = Number(options.decisions ?? 1_000_000)
  const seed = Number(options.seed ?? Math.floor(Math.random() * 1e9))
  const engine = await loadEngine(join(ROOT, String(options.engine ?? 'src')))
  const began = performance.now()
  const comparison = compareWorlds(engine, seed, Math.ceil(wanted / DECISIONS_A_WORLD))
  const seconds = (performance.now() - began) / 1_000
  const mix = mixTable(comparison)
  const thin = LEAST_PERCENT.filter(
    ([name, least]) => (mix.find((row) => row.name === name)?.percent ?? 0) < least,
  )
  const { decisions, differences } = comparison
  if (options.json)
    console.log(JSON.stringify({ decisions, seed, seconds, mix, differences, thin }))
  else {
    for (const difference of differences) console.log(`${difference}\n`)
    for (const { name, percent } of mix) console.log(`${name.padEnd(28)} ${percent.toFixed(1)} %`)
    for (const [name, least] of thin) console.log(`too few: ${name}, wanted ${least} %`)
    console.log(
      `${decisions} decisions from seed ${seed}, ${differences.length} differences, ${seconds.toFixed(1)} s`,
    )
  }
  return differences.length === 0 && thin.length === 0 ? 0 : 1
}
