// The story of a rule that is made from a recorded call of `office/delete_all`, and taken back.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { PlainClient } from '../support/plain-client.ts'
import { until } from '../support/start-gate.ts'
import { pickOption } from './pick-option.ts'

/** The rule has a bound of 50 already: only the value moves. */
export async function raiseBound(page: Page, folder: string): Promise<void> {
  const file = join(folder, 'policy.yaml')
  const before = readFileSync(file, 'utf8')
  await page.locator('tbody .grid-row', { hasText: 'office/create_payment' }).first().click()
  await page.getByRole('button', { name: 'Ask…' }).click()
  // As the last call had it.
  const value = page.getByLabel('Ask from', { exact: true })
  await until(async () => Number(await value.inputValue()) > 50)
  await value.fill('fifty')
  expect(await page.getByRole('button', { name: 'See what it changes' }).isDisabled()).toBe(true)
  await value.fill('65.50')
  await page.keyboard.press('Enter')
  await page.getByText('It may loosen 1 rule').waitFor()
  await page.getByLabel('Why').fill('small sums are trusted')
  await page.getByRole('button', { name: 'Save and put in force' }).click()
  const wanted = before.replace('args.amount <= 50', 'args.amount < 65.50')
  await until(() => readFileSync(file, 'utf8') === wanted)
  await page.getByText('It may loosen 1 rule').waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
}

export async function makeRuleFromCall(
  page: Page,
  office: PlainClient,
  folder: string,
): Promise<void> {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const before = read('policy.yaml')
  await page.locator('tbody .grid-row', { hasText: 'office/delete_all' }).first().click()
  // Whoever finds a caller that misbehaves can stop it from here.
  await page.getByRole('button', { name: 'Freeze… The principal local' }).waitFor()
  const rules = page.getByRole('group', { name: 'Make a rule for this tool' })
  await rules.getByRole('button', { name: 'Never' }).click()
  await page.getByText('The policy says so already.').waitFor()
  await page.keyboard.press('Escape')
  // M2: what was saved is taken back with its case, by one button and the passkey.
  await rules.getByRole('button', { name: 'Always allow' }).click()
  await page.getByLabel('Test case').waitFor()
  await page.getByRole('button', { name: 'Save and put in force' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('policy.yaml is as it was').waitFor()
  expect(read('policy.yaml')).toBe(before)
  expect(existsSync(join(folder, 'cases.yaml'))).toBe(false)
  await rules.getByRole('button', { name: 'Always allow' }).click()
  await page.getByText('1 tool loosens').waitFor()
  await page.getByRole('row', { name: /^office\/delete_all deny allow \d+$/ }).waitFor()
  await page.getByLabel('Test case').getByText('expect: allow').waitFor()
  await page.getByLabel('Why').fill('the desk may, today')
  await page.getByRole('button', { name: 'Save and put in force' }).click()
  await page.getByText('saved, and in force').waitFor()
  expect(JSON.stringify((await office.call('delete_all', {})).answer)).not.toContain('DENIED')
  expect(read('policy.yaml')).not.toBe(before)
  const cases = read('cases.yaml')
  expect(cases).toMatch(/^policy: "policy.yaml"\ncases:\n {2}- name: "record \d+: allow always"\n/)
  await rules.getByRole('button', { name: 'Never' }).click()
  // M3: the effect is tried first, on more days if one likes; the cases that are there are run.
  await page.getByRole('button', { name: 'Save and put in force' }).waitFor()
  await pickOption(page, 'Try it on', 'Calls of 7 days')
  await page.getByText('1 tool tightens').waitFor()
  await page.getByText(/1 would fail:.*record \d+: allow always/).waitFor()
  await page.getByRole('button', { name: 'Save and put in force' }).click()
  await page.getByText('1 tool tightens').waitFor({ state: 'detached' })
  expect(JSON.stringify((await office.call('delete_all', {})).answer)).toContain('DENIED')
  expect(read('cases.yaml').startsWith(cases.trimEnd())).toBe(true)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
