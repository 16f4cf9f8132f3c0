// Writes what was learnt as source: a line a signal, sorted, two decimals, in files below the house's
// length. The same data gives the same bytes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../run-step.ts'

const PARTS = [
  { file: 'weights-of-verbs', holds: /^name=/, of: 'verbs of names' },
  { file: 'weights-of-heads', holds: /^text=/, of: 'verbs of descriptions' },
  { file: 'weights-of-names', holds: /^name(?!=)/, of: 'names' },
  { file: 'weights-of-texts', holds: /^text(?!=)/, of: 'descriptions' },
  { file: 'weights-other', holds: /^(?!name|text)/, of: 'schemas, phrases and company' },
]
/** A signal that weighs less changes nothing. */
const WEIGHT_MIN = 0.03

export function writeWeights(weights: ReadonlyMap<string, readonly number[]>): void {
  const sorted = [...weights]
    .filter(([, values]) => values.some((value) => Math.abs(value) >= WEIGHT_MIN))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  for (const { file, holds, of } of PARTS) {
    const lines = sorted
      .filter(([feature]) => holds.test(feature))
      .map(
        ([feature, values]) =>
          `${feature.padEnd(34)}${values.map((value) => value.toFixed(2).padStart(7)).join('')}`,
      )
    const name = file.replaceAll('-', '_').toUpperCase()
    const text = `// What the signals of ${of} weigh for Read, Write, Execute, Destructive, Financial: learnt, not
// written. \`npm run eval -- catalogue --data FILE --write\` makes this file.

export const ${name} = \`
${lines.join('\n')}
\`
`
    writeFileSync(join(ROOT, 'packages/sluice/src/catalogue/classify', `${file}.ts`), text)
  }
}
