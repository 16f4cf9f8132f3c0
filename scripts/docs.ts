// `npm run docs`: the documentation's site, built into dist/docs, with the pages of the tools that the demonstration's
// servers have. With `--serve` it is served on loopback afterwards. A link that leads nowhere fails the build.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, serve } from 'vitepress'
import { main } from '../packages/cli/src/main.ts'
import { ROOT } from './run-step.ts'

const SITE = join(ROOT, 'site')
// The site is what users get, also if a test builds it.
process.env.NODE_ENV = 'production'

await build(SITE)
process.exitCode = await buildCatalogue(join(ROOT, 'dist', 'docs', 'catalogue'))
if (process.argv.includes('--serve')) await serve({ root: SITE })

/** Asks the servers for their tools, as `npm start` runs them. */
async function buildCatalogue(to: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  mkdirSync(join(folder, 'workspace'))
  process.env.SLUICE_DEMO = folder
  process.env.SLUICE_DEMO_NODE = process.execPath
  process.env.SLUICE_DEMO_MODULES = join(ROOT, 'node_modules', '@modelcontextprotocol')
  const config = join(ROOT, 'examples', 'demo', 'sluice.yaml')
  const definitions = join(folder, 'tools.json')
  try {
    const listed = await main(['scan', '--config', config, '--brief', '--out', definitions])
    return listed || (await main(['catalogue', 'build', to, '--tools', definitions]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
