// `npm run eval -- NAME`: accuracy measurements, one file each in scripts/eval/.

import { dispatch } from './dispatch.ts'

const family = { command: 'eval', folder: 'scripts/eval', suffix: '.ts' }
process.exitCode = await dispatch(family, process.argv.slice(2))
