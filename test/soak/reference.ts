// `npm run soak -- reference [--decisions N] [--seed N] [--faults [N]]`: the engine beside the
// independent reference on random decisions, a million unless said; with --faults, so is a copy of the
// engine for every planted fault, or for the first N. Exits 1 at a difference, where a fault is not found and where the mix
// is too easy. The same run, smaller, is part of `npm test`.

import type { RunOptions } from '../../scripts/dispatch.ts'
import { compareWorlds, LEAST_PERCENT, mixTable } from '../policy/reference/compare.ts'
import { FAULTS } from '../policy/reference/faults.ts'
import { ENGINE, loadFaulty } from '../policy/reference/load-engine.ts'

const DECISIONS_A_WORLD = 200

export async function run(options: RunOptions): Promise<number> {
  const wanted = Number(options.decisions ?? 1_000_000)
  const seed = Number(options.seed ?? Math.floor(Math.random() * 1e9))
  const planted = typeof options.faults === 'string' ? Number(options.faults) : FAULTS.length
  const faulty = options.faults ? await loadFaulty(FAULTS.slice(0, planted)) : new Map()
  const began = performance.now()
  const worlds = Math.ceil(wanted / DECISIONS_A_WORLD)
  const comparison = compareWorlds(ENGINE, seed, worlds, faulty)
  const seconds = (performance.now() - began) / 1_000
  const mix = mixTable(comparison)
  const thin = LEAST_PERCENT.filter(
    ([name, least]) => (mix.find((row) => row.name === name)?.percent ?? 0) < least,
  )
  const { decisions, differences } = comparison
  const found = [...comparison.found.keys()]
  const missed = [...faulty.keys()].filter((name) => !comparison.found.has(name))
  if (options.json)
    console.log(JSON.stringify({ decisions, seed, seconds, mix, differences, thin, found }))
  else {
    for (const difference of differences) console.log(`${difference}\n`)
    for (const { name, percent } of mix) console.log(`${name.padEnd(28)} ${percent.toFixed(1)} %`)
    for (const name of missed) console.log(`not found: ${name}`)
    for (const [name, least] of thin) console.log(`too few: ${name}, wanted ${least} %`)
    console.log(
      `${decisions} decisions from seed ${seed}, ${differences.length} differences, ${seconds.toFixed(1)} s`,
    )
  }
  return differences.length + thin.length + missed.length === 0 ? 0 : 1
}
