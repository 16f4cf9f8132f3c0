// `npm run test:next -- [FILTER]`: the tests on the next Node that is to be supported, fetched from the npm
// registry. The children that the tests start run on it, too.

import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fetchNode, NODE_VERSION_NEXT, PLATFORMS } from './node-binary.ts'
import { ROOT } from './run-step.ts'

const platform = PLATFORMS.find((each) => each === `${process.platform}-${process.arch}`)
if (platform === undefined) {
  console.error(`test:next: no Node ${NODE_VERSION_NEXT} for this platform is known`)
  process.exit(2)
}
const bin = join(fetchNode(platform, NODE_VERSION_NEXT), 'bin')
const args = ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]
const { status } = spawnSync(join(bin, 'node'), args, {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
})
process.exitCode = status ?? 1
