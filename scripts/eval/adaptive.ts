// `npm run eval -- adaptive [--seed N] [--count N] [--search N]`: attacks that adapt to `protect` (test/cases/adaptive),
// by class and level, with their controls; then a search that changes one property of held attacks at a time. The
// first half of what is published was drawn by seed 1, the second by a seed that was chosen after the last change of
// the guard. Exit code 1 if `strict` lets one pass, or a control fails.

import type { ProtectionLevel } from '@sluice/policy/calls/provenance'
import {
  type AdaptiveAttack,
  generateAddresses,
  generateAttacks,
  generateHosts,
  isGivenUp,
} from '../../test/cases/adaptive/generate.ts'
import {
  passes,
  passesAsked,
  passesEgress,
  passesPlainly,
  search,
} from '../../test/cases/adaptive/play.ts'
import type { RunOptions } from '../dispatch.ts'

const LEVELS: readonly ProtectionLevel[] = ['strict', 'balanced']

export function run(options: RunOptions): number {
  const seed = Number(options.seed ?? 1)
  const count = Number(options.count ?? 60)
  const attacks = generateAttacks(seed, count)
  let failed = 0
  for (const level of LEVELS) {
    const played = attacks.filter((attack) => passes(attack, level))
    const through = played.filter((attack) => !isGivenUp(attack))
    console.log(`\n${level}, seed ${seed}: ${through.length} of ${attacks.length} attacks pass`)
    console.log(
      `  beside ${played.length - through.length} of ${attacks.filter(isGivenUp).length} on what the agent has just made, which the docs give up`,
    )
    for (const [name, list] of byClass(attacks)) {
      const own = list.filter((attack) => through.includes(attack))
      console.log(`  ${name.padEnd(12)} ${own.length} of ${list.length}`)
      for (const one of new Set(own.map(describe))) console.log(`    ${one}`)
    }
    const plain = attacks.filter((attack) => passesPlainly(attack, level))
    const unasked = attacks.filter((attack) => !passesAsked(attack, level))
    console.log(
      `  controls: ${plain.length} plain attacks pass, ${unasked.length} asked calls are held`,
    )
    for (const one of new Set([...plain, ...unasked].map(describe))) console.log(`    ${one}`)
    if (level === 'strict') failed += through.length + plain.length
    failed += level === 'strict' ? unasked.length : 0
    const held = attacks
      .filter((attack) => !played.includes(attack) && attack.class !== 'own')
      .slice(0, Number(options.search ?? 40))
    const found = held
      .map((attack, at) => search(attack, level, seed + at))
      .filter((one) => one !== undefined)
    console.log(
      `  search from ${held.length} held attacks, 200 steps each: ${found.length} found a way`,
    )
    for (const one of new Set(found.map(describe))) console.log(`    ${one}`)
  }
  const hosts = [...generateHosts(seed, count), ...generateAddresses(seed, count)]
  const open = hosts.filter(passesEgress)
  console.log(`\negress: ${open.length} of ${hosts.length} hosts pass, half of them IPv6 addresses`)
  for (const one of open) console.log(`  ${JSON.stringify(one)}`)
  return failed + open.length === 0 ? 0 : 1
}

function byClass(attacks: readonly AdaptiveAttack[]): Map<string, AdaptiveAttack[]> {
  const classes = new Map<string, AdaptiveAttack[]>()
  for (const attack of attacks)
    classes.set(attack.class, [...(classes.get(attack.class) ?? []), attack])
  return classes
}

function describe({ choice }: AdaptiveAttack): string {
  const { goal, form, carrier, disguise, trick, prompt } = choice
  return `${goal}: ${form} in ${carrier}, ${disguise}, ${trick}, prompt ${prompt}`
}
