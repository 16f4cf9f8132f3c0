// `npm run eval -- detectors`: recall of every kind of data on labelled texts, and false alarms of the kinds
// that may deny on harmless ones, with the upper 95 % bound (Clopper-Pearson). Exit code 1 if the bound is
// above 1 %. The texts are in test/cases/detectors; `--held-out` adds those that no detector was tuned on.

import { DETECTOR_FILES, scoreDetectors } from '../../test/support/score-detectors.ts'
import type { RunOptions } from '../dispatch.ts'

const FALSE_ALARMS_MAX = 0.01

export function run(options: RunOptions): number {
  const score = scoreDetectors(DETECTOR_FILES)
  if (options.json) console.log(JSON.stringify(score, null, 2))
  else {
    console.log('| kind | found | of | recall |\n|---|---|---|---|')
    for (const { kind, found, of } of score.recall)
      console.log(`| ${kind} | ${found} | ${of} | ${((100 * found) / of).toFixed(0)} % |`)
    console.log('\n| harmless texts | of | false alarms | upper 95 % bound |\n|---|---|---|---|')
    for (const { name, of, alarms, bound } of score.harmless)
      console.log(`| ${name} | ${of} | ${alarms.length} | ${(100 * bound).toFixed(2)} % |`)
    for (const { alarms } of score.harmless)
      for (const alarm of alarms) console.log(`false alarm: ${alarm}`)
  }
  return score.harmless.every(({ bound }) => bound <= FALSE_ALARMS_MAX) ? 0 : 1
}
