// `npm run soak -- NAME`: long runs, a file each in test/soak/. They are no part of `npm test`.

import { dispatch } from './dispatch.ts'

const family = { command: 'soak', folder: 'test/soak', suffix: '.ts' }
process.exitCode = await dispatch(family, process.argv.slice(2))
