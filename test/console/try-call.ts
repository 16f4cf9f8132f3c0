// The story of a call that is tried from the console: found by the palette, decided by the policy, and
// recorded with who made it.

import type { Page } from 'playwright-core'
import { violationsIn } from './axe.ts'

export async function tryCall(page: Page): Promise<string[]> {
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Page, command/ }).fill('office/write_note')
  await page
    .getByRole('option', { name: /office\/write_note/ })
    .first()
    .waitFor()
  const found = await violationsIn(page, 'light')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Try a call…' }).click()
  await page.getByLabel(/^text/).fill('from the console')
  await page.getByRole('button', { name: 'Make the call' }).click()
  const answer = page.getByLabel('Answer')
  await answer.getByText(/^Answered after/).waitFor()
  await answer.getByText('from the console').waitFor()
  await answer.getByRole('link', { name: 'See its record' }).click()
  await page.locator('tbody .grid-row', { hasText: 'sluice-console (ada)' }).waitFor()
  await page.getByRole('radio', { name: 'Events' }).click()
  await page.getByText('Call tried from the console').first().waitFor()
  await page.getByText('office/write_note, by ada').first().waitFor()
  return found
}
