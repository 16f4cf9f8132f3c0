// The playground of the documentation's site in a real browser: on a bare page, and by `npm run soak -- repeats` on its
// own page of the site, which takes ten times as long to build.

import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium, launch, named } from '../console/browser.ts'
import { ROOT } from '../support/modules.ts'
import { IS_FULL } from '../support/runs.ts'
import { fileScratchDirectory } from '../support/scratch.ts'

const SITE = join(ROOT, 'site')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

const chromium = findChromium()

describe.skipIf(chromium === undefined)(named('the playground', chromium), () => {
  const folder = fileScratchDirectory()
  let browser: Browser
  let server: Server

  beforeAll(async () => {
    await (IS_FULL ? buildPage() : buildBarePage())
    server = createServer(async ({ url = '' }, response) => {
      const path = new URL(url, 'http://site').pathname
      const body = await readFile(join(folder, path)).catch(() => undefined)
      const type = TYPES[extname(path)] ?? 'application/octet-stream'
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body)
    }).listen(0, '127.0.0.1')
    browser = await launch(chromium as string)
  })

  /** As `npm run docs` builds it, without the other pages. */
  async function buildPage(): Promise<void> {
    const { build: buildSite } = await import('vitepress')
    await buildSite(SITE, {
      onAfterConfigResolve: (site) => {
        const vite = { ...site.vite, build: { minify: false } }
        const pages = ['how-to/playground.md']
        Object.assign(site, { pages, outDir: folder, ignoreDeadLinks: true, vite })
      },
    })
  }

  async function buildBarePage(): Promise<void> {
    const contents = `import { createApp } from 'vue'
      import { Playground } from './playground/playground.ts'
      createApp(Playground).mount('main')`
    await build({
      stdin: { contents, resolveDir: SITE, loader: 'ts' },
      bundle: true,
      format: 'esm',
      outfile: join(folder, 'playground.js'),
      alias: { 'node:util': join(SITE, 'playground/no-colour.ts') },
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    const page = '<main></main><script type="module" src="../playground.js"></script>'
    mkdirSync(join(folder, 'how-to'))
    writeFileSync(join(folder, 'how-to/playground.html'), page)
  }

  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  test('the decision and the proofs follow what is typed', async () => {
    const page = await browser.newPage()
    const { port } = server.address() as AddressInfo
    await page.goto(`http://127.0.0.1:${port}/how-to/playground.html`)
    const decision = page.locator('[data-result=decision]')
    await expect.poll(() => decision.textContent()).toContain('require_approval')
    await page
      .getByLabel('Call (JSON)')
      .fill('{ "tool": "shop/create_refund", "args": { "order": "A-1", "amount": 20 } }')
    await expect.poll(() => decision.textContent()).toContain('allow ALLOWED')
    const proofs = page.locator('[data-result=proofs]')
    expect(await proofs.textContent()).toContain('proved      no refund above 50')
    await page.getByLabel('Policy (YAML)').fill('version: 1\ndefault: allow\n')
    await expect.poll(() => proofs.textContent()).toContain('refuted     no refund above 50')
    await page.getByLabel('Policy (YAML)').fill('version: 1\ndefault: maybe\n')
    await expect.poll(() => decision.textContent()).toContain('policy.yaml:2:10: error')
  })
})
