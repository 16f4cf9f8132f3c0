// The story of somebody who signs in to the console at a real authorisation server, in the browser that
// the console's other stories run in: there and back, no role, somebody else's answer, a decision. Its
// gate is another one, since a gate with an authorisation server lets nobody call without a token.

import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { CONSOLE, MACHINE, serveAuthorisation } from '../servers/authorisation.ts'
import { PlainClient } from '../support/plain-client.ts'
import { fixture, type RunningGate, startGate } from '../support/start-gate.ts'
import { violationsIn } from './axe.ts'
import { addAuthenticator, watchFaults } from './stage.ts'

const POLICY = `version: 1
default: deny
tools: { office/send_mail: { action: require_approval, approval: { wait: 50s } } }
`

export async function signInExternally(browser: Browser): Promise<void> {
  const authorisation = await serveAuthorisation()
  const gate = await startGate({
    servers: { office: fixture('office') },
    policy: POLICY,
    config: {
      auth: {
        issuers: {
          corp: {
            issuer: authorisation.issuer,
            policy: 'policy',
            roles: { approver: ['ops'] },
            console: { client_id: CONSOLE.id, scopes: ['groups'] },
          },
        },
      },
    },
  })
  const url = gate.url.replace('127.0.0.1', 'localhost')
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const faults = watchFaults(page)
    await addAuthenticator(page)
    await noRole(page, url)
    authorisation.groups = ['ops', 'cooks']
    await anothersAnswer(page, url)
    await thereAndBack(page, url)
    await decides(page, gate, await authorisation.tokenFor(`${gate.url}/mcp/office`))
    expect(faults.filter((text) => !/status of (401|403)/.test(text))).toEqual([])
  } finally {
    await context.close()
    await authorisation.close()
  }
}

async function noRole(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/ledger?server=office`)
  await page.getByRole('button', { name: 'Sign in with corp' }).click()
  await page.getByText('the claim groups is empty').waitFor()
  expect(page.url()).toBe(`${url}/ledger?server=office`)
  expect(await violationsIn(page, 'light')).toEqual([])
}

/** Login CSRF: a page of Mallory's sends the browser here with a code for her own account. */
async function anothersAnswer(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sign-in/corp?code=hers&state=hers`)
  await page.getByText('this answer belongs to no sign-in of this tab').waitFor()
  expect(page.url()).toBe(`${url}/`)
}

async function thereAndBack(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/approvals`)
  await page.getByRole('button', { name: 'Sign in with corp' }).press('Enter')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  await page.getByText('corp:ann').first().waitFor()
  expect(page.url()).toBe(`${url}/approvals`)
  const kept = 'document.cookie + JSON.stringify([{ ...sessionStorage }, { ...localStorage }])'
  expect(await page.evaluate(kept)).toBe('[{},{}]')
  expect(await page.evaluate('document.referrer')).toBe('')
}

/** What was signed in there decides nothing yet: that takes a passkey here. */
async function decides(page: Page, gate: RunningGate, token: string): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByText('the passkey is added').waitFor()
  const office = await PlainClient.open(gate, 'office', '2025-11-25', token)
  const waiting = office.call('send_mail', { to: 'desk@example.com' })
  await page.getByRole('link', { name: /^Approvals/ }).click()
  await page.getByText('desk@example.com', { exact: true }).waitFor()
  await page.getByText(`corp:${MACHINE.id}`).first().waitFor()
  await page.keyboard.press('a')
  expect(JSON.stringify((await waiting).answer)).toContain('send_mail')
}
