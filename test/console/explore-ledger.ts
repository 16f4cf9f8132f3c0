// The story of the ledger as an explorer, with the tool `office/delete_all` as its filter.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { PlainClient } from '../support/plain-client.ts'
import { until } from '../support/start-gate.ts'

/** New calls are counted, then followed; a bar, a value and a session are filters of the address. */
export async function exploreLedger(page: Page, office: PlainClient): Promise<void> {
  const rows = page.locator('tbody .grid-row', { hasText: 'office/delete_all' })
  const total = page.getByLabel('Calls over time').locator('b').first()
  const query = () => new URL(page.url()).searchParams
  await until(async () => Number(await total.textContent()) === (await rows.count()))
  await office.call('delete_all', { new: true })
  await page.getByRole('button', { name: '1 new call' }).click()
  const before = await rows.count()
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await office.call('delete_all', { new: true })
  await until(async () => (await rows.count()) > before)
  await page.getByRole('button', { name: 'Following' }).click()
  await rows.first().locator('[data-column="decision"]').hover()
  await rows.first().getByRole('button', { name: 'Show only this decision' }).click()
  await page.getByLabel('Search calls').fill('NOTHING is deleted')
  await page.keyboard.press('Enter')
  await until(async () => query().get('word') === 'deny' && query().get('text') !== null)
  await rows.first().locator('[data-column="who"]').hover()
  await rows.first().getByTitle('Show only this session').click()
  await page.getByRole('radio', { name: 'Timeline' }).click()
  const first = page.locator('.timeline tbody .grid-row').first()
  await first.getByText('+0.00 ms').waitFor()
  await page.getByText(/^Session of local, client/).waitFor()
  await page.getByRole('link', { name: 'The whole session' }).waitFor()
  await first.press('Enter')
  await page.getByRole('dialog').getByText('nothing is deleted from here').first().waitFor()
  const address = page.url()
  expect(address).toContain('callSeq=')
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goForward()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByLabel('Calls over time').locator('.plot-over').first().click()
  await until(async () => query().has('sinceMs') && query().has('untilMs'))
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('radio', { name: 'Newest first' }).click()
  const search = page.getByLabel('Search calls')
  await search.pressSequentially('tool:dele')
  await page.getByRole('option', { name: 'tool:office/delete_all', exact: true }).click()
  await until(
    async () => query().get('server') === 'office' && query().get('name') === 'delete_all',
  )
  await rows.first().waitFor()
}
