// The weights of the model: for each signal its weight for Read, Write, Execute, Destructive, Financial.
// `npm run eval -- catalogue --data FILE --write` learns them and writes the data file.

import type { Weights } from './score.ts'
import weights from './weights.json' with { type: 'json' }

export const WEIGHTS: Weights = new Map(Object.entries(weights))
