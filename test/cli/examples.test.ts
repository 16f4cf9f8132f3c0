// Every example runs and asserts: a folder of examples/ with a `run.ts` that throws when it is broken, and a README
// that says what it shows. By `npm run soak -- repeats` each is a process, as its README says.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { IS_FULL } from '../support/runs.ts'
import { SLUICE } from '../support/start-gate.ts'

const EXAMPLES = join(ROOT, 'examples')
/** Three gates on a PostgreSQL take as much as all others together; test/cluster has what they show. */
const NOT_EXAMPLES = ['demo', 'support', ...(IS_FULL ? [] : ['cluster'])]
const names = readdirSync(EXAMPLES).filter(
  (name) => !NOT_EXAMPLES.includes(name) && !name.includes('.'),
)

/** Examples to watch; PostgreSQL may be missing. */
const PRINTED: Readonly<Record<string, string>> = { cluster: 'PostgreSQL' }

test.each(names)(
  '%s',
  async (name) => {
    const folder = join(EXAMPLES, name)
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(
      `node examples/${name}/run.ts`,
    )
    // Its gate is a process in any case.
    if (!IS_FULL) return void (await import(join(folder, 'run.ts')))
    const { status, stderr, stdout } = spawnSync(process.execPath, [join(folder, 'run.ts')], {
      encoding: 'utf8',
      env: { ...process.env, SLUICE_TEST_COMMAND: SLUICE },
    })
    expect(status, stderr).toBe(0)
    if (name in PRINTED) expect(stdout).toContain(PRINTED[name])
  },
  120_000,
)
