// What axe finds wrong with a page for whoever cannot see it well, or cannot use a mouse.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What does not depend on colours is looked at in light only. */
export async function violationsIn(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  // What fades in has less contrast until it is there.
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  // The page follows with its next frame: before that, and in between, it has colours of both.
  await page.locator(`html[data-theme="${scheme}"]`).waitFor({ state: 'attached' })
  // Once a page: half a megabyte.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  // What passes is not described, which takes most of the time.
  const common = { resultTypes: ['violations'], iframes: false, preload: false }
  // Axe leaves rules of WCAG 2.2 out unless they are asked for.
  const whole = { ...common, rules: { 'target-size': { enabled: true } } }
  const run = scheme === 'light' ? whole : { ...common, runOnly: ['color-contrast'] }
  return page.evaluate(async (options) => {
    // biome-ignore lint/suspicious/noExplicitAny: of the page
    const { violations: all } = await (globalThis as any).axe.run(options)
    return all.map(
      (one: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        `${one.id}: ${one.nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join(' | ')}`,
    )
  }, run)
}
