// Chooses in a select of the console, as a person does: by its button, which is called by its value and its label.

import type { Page } from 'playwright-core'

export async function pickOption(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(` ${label}$`) }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
