// Writes the learnt weights as data: one line per signal, sorted within its group, two decimals.
// The same training data gives the same bytes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../run-step.ts'

const FILE = join(ROOT, 'packages/sluice/src/catalogue/classify/weights.json')
/** Verbs of names, verbs of descriptions, names, descriptions; then schemas, phrases and company. */
const GROUPS = [/^name=/, /^text=/, /^name(?!=)/, /^text(?!=)/, /^(?!name|text)/]
/** A smaller weight has no effect. */
const WEIGHT_MIN = 0.03

export function writeWeights(weights: ReadonlyMap<string, readonly number[]>): void {
  const sorted = [...weights]
    .filter(([, values]) => values.some((value) => Math.abs(value) >= WEIGHT_MIN))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = GROUPS.flatMap((group) => sorted.filter(([feature]) => group.test(feature))).map(
    ([feature, values]) =>
      `  ${JSON.stringify(feature)}: [${values.map((value) => String(Number(value.toFixed(2)) + 0)).join(', ')}]`,
  )
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
}
