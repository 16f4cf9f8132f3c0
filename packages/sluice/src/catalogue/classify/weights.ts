// The numbers of the model, joined from the files the training writes and read once. Each line
// there is a signal and its weights for the five classes, so that a person can read and question it.

import { BIAS, type Weights } from './score.ts'
import { WEIGHTS_OF_HEADS } from './weights-of-heads.ts'
import { WEIGHTS_OF_NAMES } from './weights-of-names.ts'
import { WEIGHTS_OF_TEXTS } from './weights-of-texts.ts'
import { WEIGHTS_OF_VERBS } from './weights-of-verbs.ts'
import { WEIGHTS_OF_THE_REST } from './weights-other.ts'

export const WEIGHTS: Weights = new Map(
  [
    WEIGHTS_OF_VERBS,
    WEIGHTS_OF_HEADS,
    WEIGHTS_OF_NAMES,
    WEIGHTS_OF_TEXTS,
    WEIGHTS_OF_THE_REST,
  ].flatMap((table) => table.trim().split('\n').map(readLine)),
)

function readLine(line: string): [string, number[]] {
  const [, feature = BIAS, numbers = ''] = /^(.*?)((?:\s+-?[\d.]+){5})$/.exec(line) ?? []
  return [feature.trim(), numbers.trim().split(/\s+/).map(Number)]
}
