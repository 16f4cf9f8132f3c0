// The secret of a session's hashes: nobody who does not know it can look for values that collide.

import { randomInt } from 'node:crypto'
import type { HashSeed } from '@sluice/policy/provenance/hash'

const HALF = 2 ** 32

export function randomSeed(): HashSeed {
  return { low: randomInt(HALF), high: randomInt(HALF) }
}
