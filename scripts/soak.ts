// `npm run soak -- NAME`: long runs, one file each in test/soak/. Not part of `npm test`.

import { dispatch } from './dispatch.ts'

const family = { command: 'soak', folder: 'test/soak', suffix: '.ts' }
process.exitCode = await dispatch(family, process.argv.slice(2))
