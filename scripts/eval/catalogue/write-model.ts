// Writes what was learnt as data: the weights with one line per signal, sorted within its group, two
// decimals; the network with one line per feature. The same training data gives the same bytes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NetworkData } from '../../../packages/catalogue/src/classify/network.ts'
import type { Model, Weights } from '../../../packages/catalogue/src/classify/score.ts'
import { ROOT } from '../../run-step.ts'

const FOLDER = join(ROOT, 'packages/catalogue/src/classify')
/** Verbs of names, verbs of descriptions, names, descriptions; then schemas, phrases and combined signals. */
const GROUPS = [/^name=/, /^text=/, /^name(?!=)/, /^text(?!=)/, /^(?!name|text)/]
/** A smaller weight has no effect. */
const WEIGHT_MIN = 0.03

/** A model, with the numbers of its network. */
export interface LearntModel extends Model {
  readonly data: NetworkData
}

export function writeModel({ weights, data }: LearntModel): void {
  writeWeights(weights)
  writeNetwork(data)
}

function writeWeights(weights: Weights): void {
  const sorted = [...weights]
    .filter(([, values]) => values.some((value) => Math.abs(value) >= WEIGHT_MIN))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = GROUPS.flatMap((group) => sorted.filter(([feature]) => group.test(feature))).map(
    ([feature, values]) =>
      `  ${JSON.stringify(feature)}: [${values.map((value) => String(Number(value.toFixed(2)) + 0)).join(', ')}]`,
  )
  writeFileSync(join(FOLDER, 'weights.json'), `{\n${lines.join(',\n')}\n}\n`)
}

function writeNetwork({ bias, output, constant, features }: NetworkData): void {
  const rows = output.map((row) => `    ${JSON.stringify(row)}`)
  const lines = Object.entries(features).map(
    ([feature, letters]) => `    ${JSON.stringify(feature)}: ${JSON.stringify(letters)}`,
  )
  writeFileSync(
    join(FOLDER, 'network.json'),
    `{
  "bias": ${JSON.stringify(bias)},
  "output": [
${rows.join(',\n')}
  ],
  "constant": ${JSON.stringify(constant)},
  "features": {
${lines.join(',\n')}
  }
}
`,
  )
}
