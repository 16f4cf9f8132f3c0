// The story of a server that is added from the console by its command, and of a client that is connected.

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { serveHttp } from '../servers/http.ts'
import { pickOption } from './pick-option.ts'

export async function addServer(page: Page, command: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Add a server' }).click()
  await page.getByLabel('Name', { exact: true }).fill('annex')
  await page.getByRole('radio', { name: 'The gate starts it' }).click()
  await page.getByLabel('Command, one word per line').fill(command.join('\n'))
  await page.getByRole('button', { name: 'See what it does' }).click()
  const words = page.locator('.command-words li')
  await words.first().waitFor()
  expect(await words.allTextContents()).toEqual(command)
  await page.getByRole('button', { name: 'Add it' }).click()
  await page.getByRole('button', { name: 'Read its tools', exact: true }).click()
  await page.getByRole('row', { name: /delete_all.*Destructive.*Deny.*Ask/ }).waitFor()
  await page.getByRole('button', { name: /Put \d+ suggestions? into the policy editor/ }).click()
  await page.getByRole('heading', { level: 1, name: 'Policy' }).waitFor()
  await page
    .getByRole('row', { name: /delete_all.*Ask/ })
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Undo all' }).click()
}

/** By its address: what is sent there is shown before the passkey signs it. */
export async function addServerByUrl(page: Page): Promise<void> {
  const remote = await serveHttp()
  const authorization = 'Bearer of the stage'
  await page.getByRole('button', { name: 'Add a server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('remote')
  await dialog.getByLabel('Address').fill('somewhere')
  expect(await dialog.getByRole('button', { name: 'See what it does' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Address').fill(remote.url)
  await dialog.getByLabel(/^Authorization header/).fill(authorization)
  await page.keyboard.press('Enter')
  await dialog.getByText(`"url": "${remote.url}"`).waitFor()
  await dialog.getByText(authorization).waitFor()
  await dialog.getByRole('button', { name: 'Add it' }).click()
  await dialog.getByRole('button', { name: 'Read its tools', exact: true }).click()
  await dialog.getByRole('row').nth(1).waitFor()
  expect(remote.seen.every(({ headers }) => headers.authorization === authorization)).toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await remote.close()
}

/** The token is in the lines for the client, which only a button closes. */
export async function connectClient(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Connect a client' }).click()
  await pickOption(page, 'Client', 'Cursor')
  await pickOption(page, 'Server', 'annex')
  await page.getByLabel('Name of its grant').fill('ann-laptop')
  await page.getByRole('button', { name: 'Create the grant' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Cursor: shown only once').waitFor()
  const lines = JSON.parse((await dialog.locator('pre').textContent()) ?? '')
  expect(lines.mcpServers.annex.url).toMatch(/^http:.*\/mcp\/annex$/)
  expect(lines.mcpServers.annex.headers.Authorization).toMatch(/^Bearer sluice_/)
  await page.keyboard.press('Escape')
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
}
