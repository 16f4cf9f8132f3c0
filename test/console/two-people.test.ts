// Two people at one gate: both decide on a call at the same moment, and one saves a rule while calls are held for it.

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import { listAll, PlainClient } from '../support/plain-client.ts'
import { endGates } from '../support/start-gate.ts'
import { findChromium, launch, named } from './browser.ts'
import { ask, PIN, type Stage, setStage, signedIn } from './stage.ts'

const CARLS_PIN = '161803'
const chromium = findChromium()

describe.skipIf(chromium === undefined)(named('two people', chromium), () => {
  let stage: Stage
  let browser: Browser
  let ada: Page
  let carl: Page
  let office: PlainClient

  beforeAll(async () => {
    stage = await setStage()
    const added = { name: 'carl', roles: ['approver'], pin: CARLS_PIN }
    await ask(stage.gate, { do: 'approver-add', ...added, proof: { name: 'ada', pin: PIN } })
    browser = await launch(chromium as string)
    ada = await openAs('ada', PIN)
    carl = await openAs('carl', CARLS_PIN)
    office = await PlainClient.open(stage.gate, 'office')
    await listAll(office)
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
  })

  /** With a passkey of their own. */
  async function openAs(name: string, pin: string): Promise<Page> {
    const { page } = await signedIn(browser, stage, { name, pin, path: '/settings' })
    page.setDefaultTimeout(60_000)
    await page.getByLabel('Your PIN').fill(pin)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('the passkey is added').waitFor()
    await page.getByRole('link', { name: /^Approvals/ }).click()
    return page
  }

  test('both decide at the same moment: each is told what came of it, and by whom', async () => {
    const waiting = office.call('send_mail', { to: 'both@example.com' })
    for (const page of [ada, carl])
      await page.getByText('both@example.com', { exact: true }).waitFor()
    await Promise.all([
      ada.getByRole('button', { name: 'Approve A', exact: true }).click(),
      carl.getByRole('button', { name: 'Deny D', exact: true }).click(),
    ])
    const answer = JSON.stringify((await waiting).answer)
    const { requests } = await ask(stage.gate, { do: 'approvals', states: ['denied', 'executed'] })
    const [{ id, state, votes }] = requests as [ApprovalRequest]
    expect(answer.includes('APPROVAL_DENIED')).toBe(state === 'denied')
    const toldTo = (page: Page, says: RegExp) => page.getByText(says).first().waitFor()
    if (votes.length === 2) {
      // The approval was first, and was denied before the call was made.
      await toldTo(carl, /^Denied office\/send_mail; ada had approved it/)
      await toldTo(ada, /^carl has denied office\/send_mail, which you had approved/i)
    } else if (state === 'denied') {
      await toldTo(carl, /^Denied office\/send_mail/)
      await toldTo(ada, /^The request is denied already: carl has denied it/)
    } else {
      await toldTo(ada, /^Approved office\/send_mail/)
      await toldTo(carl, /^The request is \w+ already: ada has approved it/)
    }
    // The page of the request says it to whoever opens it later.
    for (const page of [ada, carl]) {
      await page.goto(`${stage.url}/approvals/${id}`)
      const request = page.getByRole('article', { name: 'office/send_mail' })
      const says = state === 'denied' ? /denied by carl; [01] of 1 had approved/ : /1 of 1 approved/
      await request.getByText(says).waitFor()
    }
  })

  test('who saves a rule is told how many held calls become void by it', async () => {
    const waiting = ['one', 'two'].map((to) => office.call('send_mail', { to }))
    await ada.getByRole('link', { name: /^Policy/ }).click()
    await ada.getByText('2 pending', { exact: false }).first().waitFor({ state: 'attached' })
    await ada.getByLabel('Find a tool').fill('send_mail')
    await ada.getByRole('button', { name: /Decision for office\/send_mail/ }).click()
    await ada.getByRole('menuitem', { name: 'Deny', exact: true }).click()
    await ada.getByRole('button', { name: 'Save…' }).click()
    await ada.getByText('2 requests for approval would be void.').waitFor()
    await ada.getByLabel('Why').fill('no mail for now')
    await ada.getByRole('button', { name: 'Save and put in force' }).click()
    await ada.getByText('saved, and in force').waitFor()
    for (const one of waiting) expect(JSON.stringify((await one).answer)).toContain('DENIED')
    const { requests } = await ask(stage.gate, { do: 'approvals', states: ['void'] })
    expect(requests).toHaveLength(2)
    await carl.getByRole('link', { name: /^Approvals/ }).click()
    await carl.getByText('Nothing to approve').waitFor()
  })
})
