// The site of the catalogue in a real browser: every link leads somewhere, nothing is wider than a
// phone, contrast and structure hold in light and dark, the search finds, and what a server says
// stays text.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test, vi } from 'vitest'
import { findChromium, launch, named } from '../console/browser.ts'
import { sluice } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'

vi.setConfig({ testTimeout: 120_000 })

const chromium = findChromium()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const TOOLS = [
  {
    server: 'flow',
    name: 'wasm_agent_export',
    description: "Export a WASM agent's full state (config, filesystem, conversation) as JSON.",
    inputSchema: { type: 'object', properties: { agentId: { type: 'string' } } },
  },
  { server: 'flow', name: 'drop_table', description: 'Drops a table for good' },
  {
    server: 'odd',
    name: `a_name_that_is_longer_than_any_phone_is_wide_${'x'.repeat(40)}`,
    description: `<img src=x onerror="window.harmed = 1"> ${'W'.repeat(200)}`,
  },
]

test.skipIf(chromium === undefined)(named('in Chromium', chromium), async () => {
  const folder = scratchDirectory()
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(TOOLS))
  const site = join(folder, 'site')
  await sluice(['catalogue', 'build', site, '--tools', join(folder, 'tools.json')])
  const browser = await launch(chromium as string)
  try {
    const seen = new Set<string>()
    const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
    // Put in from outside: the pages allow no script but their own.
    await context.addInitScript(AXE)
    const page = await context.newPage()
    const waiting = [pathToFileURL(join(site, 'index.html')).href]
    const visited = new Set<string>()
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [address = ''] = next.split('#')
      if (visited.has(address)) continue
      visited.add(address)
      await page.goto(address)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await looksWell(page, `${address} (${colorScheme})`)
      }
      for (const link of await linksOf(page)) {
        seen.add(link)
        waiting.push(link)
      }
    }
    expect([...visited].filter((one) => one.includes('/flow/'))).toHaveLength(2)
    for (const link of seen) {
      const [address = '', anchor] = link.split('#')
      const file = fileURLToPath(address)
      expect(existsSync(file), link).toBe(true)
      if (anchor !== undefined) expect(readFileSync(file, 'utf8'), link).toContain(`id="${anchor}"`)
    }
    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    await page.getByLabel('Find a tool or a server').fill('destructive drop')
    expect(await page.getByRole('status').textContent()).toBe('1 found')
    await page.getByRole('link', { name: 'flow/drop_table' }).click()
    expect(await page.title()).toContain('drop_table')
    expect(await page.locator('#can-i-rate-limit-drop_table').textContent()).toContain('rate limit')
  } finally {
    await browser.close()
  }
})

/** As text: it runs in the page, whose types are not those of the tests. */
const LOOK = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => ({
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  harmed: window.harmed ?? 0,
  wrong: violations.map(({ id, nodes }) => id + ': ' + nodes[0].html),
}))`

async function looksWell(page: Page, address: string): Promise<void> {
  expect(await page.evaluate(LOOK), address).toEqual({ wide: 0, harmed: 0, wrong: [] })
}

function linksOf(page: Page): Promise<string[]> {
  return page.evaluate('[...document.links].map(({ href }) => href)')
}
