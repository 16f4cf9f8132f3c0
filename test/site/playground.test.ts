// The playground of the documentation's site in a real browser: built as `npm run docs` builds it, but only its
// own page.

import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { build } from 'vitepress'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium, launch, named } from '../console/browser.ts'
import { ROOT } from '../support/modules.ts'
import { fileScratchDirectory } from '../support/scratch.ts'

const PAGE = 'how-to/playground.md'
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
    await build(join(ROOT, 'site'), {
      onAfterConfigResolve: (site) => {
        const vite = { ...site.vite, build: { minify: false } }
        Object.assign(site, { pages: [PAGE], outDir: folder, ignoreDeadLinks: true, vite })
      },
    })
    server = createServer(async ({ url = '' }, response) => {
      const path = new URL(url, 'http://site').pathname
      const body = await readFile(join(folder, path)).catch(() => undefined)
      const type = TYPES[extname(path)] ?? 'application/octet-stream'
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body)
    }).listen(0, '127.0.0.1')
    browser = await launch(chromium as string)
  })

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
