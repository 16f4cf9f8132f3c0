// `npm run bench -- NAME [--json]`: measurements compared with peers, one file each:
// bench/NAME.bench.ts.

import { dispatch } from '../scripts/dispatch.ts'

const family = { command: 'bench', folder: 'bench', suffix: '.bench.ts' }
process.exitCode = await dispatch(family, process.argv.slice(2))
