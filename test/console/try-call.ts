// The story of a call that is tried from the console: found by the palette, decided by the policy without being
// made, and recorded with who asked.

import type { Page } from 'playwright-core'
import { violationsIn } from './axe.ts'

export async function tryCall(page: Page): Promise<string[]> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/tools', (route) => held.then(() => route.continue()))
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  const asked = page.waitForRequest('**/api/tools')
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /^Page, command/ }).fill('office/write_note')
  // What is typed before the tools have arrived leads to the tool, not to a search of the ledger.
  await asked
  release()
  await page
    .getByRole('option', { name: /office\/write_note/ })
    .first()
    .waitFor()
  const found = await violationsIn(page, 'light')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Try a call…' }).click()
  await page.getByLabel(/^text/).fill('from the console')
  await page.getByRole('button', { name: 'Ask what is decided' }).click()
  const decision = page.getByLabel('Decision')
  await decision.getByText('ALLOWED').waitFor()
  await page.getByRole('button', { name: 'Close' }).last().click()
  await page.goto(new URL('/ledger?shows=events', page.url()).href)
  await page.getByText('Decision asked for').first().waitFor()
  return found
}
