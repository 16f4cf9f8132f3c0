// `npm run docs`: the documentation's site, built into dist/docs. With `--serve` it is served on loopback
// afterwards. A link that leads nowhere fails the build.

import { join } from 'node:path'
import { build, serve } from 'vitepress'
import { ROOT } from './run-step.ts'

const SITE = join(ROOT, 'site')
// The site is what users get, also if a test builds it.
process.env.NODE_ENV = 'production'

await build(SITE)
if (process.argv.includes('--serve')) await serve({ root: SITE })
