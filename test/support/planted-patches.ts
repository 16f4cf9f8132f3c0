// The faults that `npm run soak -- faults` plants: the patches of test/soak/faults by name.

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from './modules.ts'

const FOLDER = join(ROOT, 'test/soak/faults')

export const FAULTS: ReadonlyMap<string, string> = new Map(
  readdirSync(FOLDER)
    .sort()
    .map((name) => [basename(name, '.patch'), join(FOLDER, name)]),
)
