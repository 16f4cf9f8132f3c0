// Properties run with a fixed seed, so that a test run is reproducible; `SLUICE_SEED` sets another,
// which is what finds new cases.

import fc from 'fast-check'

const SEED = 20_261_115

fc.configureGlobal({ seed: Number(process.env.SLUICE_SEED ?? SEED) })
