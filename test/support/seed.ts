// Properties run on one seed, so that a run of the tests says the same thing twice; `SLUICE_SEED`
// takes another, which is what finds new cases.

import fc from 'fast-check'

const SEED = 20_261_115

fc.configureGlobal({ seed: Number(process.env.SLUICE_SEED ?? SEED) })
