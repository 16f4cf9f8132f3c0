// The story of a program in the console. In the ledger it is one row, whose calls unfold beneath it, and stand alone under a
// filter; who approves one of its calls is shown the program.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { PlainClient } from '../support/plain-client.ts'
import { type RunningGate, until } from '../support/start-gate.ts'

const CODE = `
  await tools.office.read_file({ path: 'first' })
  await tools.office.delete_all({}).catch(() => undefined)
  return await tools.office.read_file({ path: 'second' })`

/** The page is at the ledger, without a filter. */
export async function unfoldProgram(page: Page, gate: RunningGate): Promise<void> {
  const client = await PlainClient.open(gate, '?mode=code')
  expect((await client.value('run_code', { code: CODE })).status).toBe('completed')
  await page.reload()
  const texts = async () => {
    const all = await page.locator('tbody [data-column="tool"]').allTextContents()
    return all.map((text) => text.trim())
  }
  const table = page.getByRole('grid', { name: 'Calls' })
  const rows = async () => Number(await table.getAttribute('aria-rowcount'))
  const unfold = page.getByRole('button', { name: '3 calls' }).first()
  await unfold.waitFor()
  const folded = await rows()
  expect((await texts())[0]).toContain('code/run_code')
  await unfold.click()
  const inner = ['office/read_file', 'office/delete_all', 'office/read_file']
  await until(async () => (await rows()) === folded + inner.length)
  expect((await texts()).slice(1, 4)).toEqual(inner)
  expect(await unfold.getAttribute('aria-expanded')).toBe('true')
  await unfold.click()
  await until(async () => (await rows()) === folded)
  await page.locator('tbody .grid-row').first().press('Enter')
  await page.getByRole('link', { name: 'All calls of the program' }).click()
  await page.getByRole('button', { name: /^program:/ }).waitFor()
  // Newest first, which reads the same.
  await until(async () => (await texts()).join() === inner.join())
  await page.getByRole('button', { name: 'Clear' }).click()
}

const MAIL = `
  const to = ['first', 'second'].at(-1) + '@example.com'
  return await tools.office.send_mail({ to })`

/** The page is at the approvals, of which none is pending. */
export async function approveProgram(page: Page, gate: RunningGate): Promise<void> {
  const client = await PlainClient.open(gate, '?mode=code')
  const run = client.value('run_code', { code: MAIL })
  const request = page.getByRole('article', { name: 'office/send_mail' })
  await request.getByText('The program that makes this call').waitFor()
  await request.getByText("['first', 'second'].at(-1)").waitFor()
  await page.keyboard.press('a')
  expect(await run).toMatchObject({ status: 'completed', calls: [{ tool: 'send_mail', count: 1 }] })
}
