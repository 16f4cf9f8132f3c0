// `npm run bench -- NAME [--json]`: measurements beside peers, a file each: bench/NAME.bench.ts.

import { dispatch } from '../scripts/dispatch.ts'

const family = { command: 'bench', folder: 'bench', suffix: '.bench.ts' }
process.exitCode = await dispatch(family, process.argv.slice(2))
