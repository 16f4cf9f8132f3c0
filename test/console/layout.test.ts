// Every page at four widths, in light and dark, with texts as long as strangers write them: no element scrolls sideways,
// and every control has a name. Then hundreds of pending approvals (500 in the soak): what the console counts is what is on record.

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OpenSessionView } from '../../packages/console/src/contract/contract.ts'
import { listAll, PlainClient } from '../support/plain-client.ts'
import { forms, rounds } from '../support/runs.ts'
import { endGates, until } from '../support/start-gate.ts'
import { violationsIn } from './axe.ts'
import { findChromium, launch, named } from './browser.ts'
import { layoutFaults } from './layout-faults.ts'
import { amountOf, countBy, type ExportedCall, exportCalls, sumAmounts } from './ledger-figures.ts'
import { ask, getToken, PIN, type Stage, setStage, signedIn } from './stage.ts'

const chromium = findChromium()
/** Of each server. A session may hold 20 calls. */
const CLIENTS = rounds(13)
const HELD_MIN = CLIENTS * 40 - 20
/** A phone and a desk first. */
const WIDTHS = forms([390, 1440, 768, 1024])
const PAGES = [
  'overview',
  'approvals',
  'ledger',
  'ledger?where=args.amount%20%3E%20100',
  'servers',
  'policy',
  'agents',
  'settings',
]
const MAIL = {
  to: 'somebody-with-a-long-name@a-long-subdomain.of-some.example',
  subject: 'Quarterly'.repeat(30),
  body: `${'a line of a mail that goes on and on '.repeat(60)}\n${'unbroken'.repeat(200)}`,
}
const POLICY = `version: 1
default: allow
tools:
  office/send_mail: { action: require_approval, approval: { wait: 1s, timeout: 1h } }
  office/create_payment:
    action: allow
    when: args.amount <= 100
    otherwise: require_approval
    approval: { wait: 1s, timeout: 1h }
  office/write_note: { action: require_approval, approval: { wait: 1s, timeout: 1h } }
  office/get_report: { action: require_approval, approval: { wait: 1s, timeout: 1h } }
  memory/*: { action: require_approval, approval: { wait: 1s, timeout: 1h } }
  office/delete_all: { action: deny, reason: ${'nothing is deleted from here '.repeat(15)} }
`

describe.skipIf(chromium === undefined)(named('the layout of the console', chromium), () => {
  let stage: Stage
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    stage = await setStage({
      policy: POLICY,
      share: 'all',
      // It ends before the last day: a call would leave that between two looks at its figures.
      past: { days: 64, endMs: Date.now() - 26 * 3_600_000, callsPerHour: 4, hasRefunds: true },
      config: { sessions: { max: 200 }, alerts: undefined },
    })
    await listAll(await PlainClient.open(stage.gate, 'desk'))
    const office = await PlainClient.open(stage.gate, 'office')
    await listAll(office)
    await Promise.all([
      office.call('send_mail', MAIL),
      office.call('create_payment', { amount: 180.5, to: MAIL.to.repeat(5) }),
      office.call('delete_all', { all: true }),
      office.call('read_file', { path: `${'/a-long-folder'.repeat(40)}/file` }),
    ])
    browser = await launch(chromium as string)
    ;({ page } = await signedIn(browser, stage, { path: '/approvals' }))
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
  })

  async function show(path: string): Promise<void> {
    const go = `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`
    await page.evaluate(go)
    await page.locator('h1').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  }

  test.each(WIDTHS)(
    'H2, H3: at %i px nothing scrolls sideways, and every control has a name',
    { timeout: 240_000 },
    async (width) => {
      const found: string[] = []
      await page.setViewportSize({ width, height: 900 })
      await show('/approvals')
      await page.locator('.inbox-entry').first().waitFor()
      const request = await page.evaluate(`document.querySelector('.request')?.innerText ?? ''`)
      if (width > 720) expect(request).toContain('is above 100')
      for (const name of PAGES) {
        await show(`/${name}`)
        for (const scheme of ['light', 'dark'] as const) {
          const faults = [...(await violationsIn(page, scheme)), ...(await layoutFaults(page))]
          found.push(...faults.map((one) => `${name} (${scheme}): ${one}`))
        }
      }
      expect(found).toEqual([])
    },
  )

  test(`H1: ${HELD_MIN} pending approvals are all there, and the figures are those of the ledger`, {
    timeout: 240_000,
  }, async () => {
    const tools = {
      office: ['create_payment', 'send_mail', 'write_note', 'get_report'],
      memory: ['search_nodes', 'open_nodes', 'read_graph', 'add_observations'],
    }
    await listAll(await PlainClient.open(stage.gate, 'memory'))
    // An open page would read the list again for each of them.
    await page.context().close()
    for (const [server, own] of Object.entries(tools)) {
      for (let client = 0; client < CLIENTS; client++) {
        const session = await PlainClient.open(stage.gate, server)
        await Promise.all(
          own.flatMap((tool) =>
            [1, 2, 3, 4, 5].map((n) => session.call(tool, { amount: 1_000 * client + 200 + n })),
          ),
        )
        await session.end()
      }
    }
    const { requests } = await ask(stage.gate, { do: 'approvals', states: ['pending'], limit: 3 })
    for (const { id } of requests)
      await ask(stage.gate, {
        do: 'approval-decide',
        id,
        verdict: 'deny',
        comment: 'not today',
        proof: { name: 'ada', pin: PIN },
      })
    const headers = { authorization: `Bearer ${await getToken(stage.gate)}` }
    const fetchJson = async (path: string) =>
      (await fetch(`${stage.url}/api${path}`, { headers })).json()
    const { sinceMs } = (await fetchJson('/overview?lengthMs=86400000')) as { sinceMs: number }
    const calls = await exportCalls(stage.gate)
    const day = calls.filter(({ atMs }) => atMs >= sinceMs)
    // What a limit of the policy refuses has a word of its own.
    const words = countBy(day, ({ decision: { action, code } }) =>
      code === 'RATE_LIMITED' ? 'limited' : action,
    )
    const ownHeld = day.filter(
      ({ server, decision }) => decision.action === 'require_approval' && server !== 'shop',
    )
    const held = ownHeld.length
    expect(held).toBeGreaterThanOrEqual(HELD_MIN)
    const options = { viewport: { width: 1440, height: 900 } }
    ;({ page } = await signedIn(browser, stage, { path: '/overview', options }))
    page.setDefaultTimeout(60_000)
    await page.getByText(`${held} pending approvals`).first().waitFor()
    const shown = async (word: string) => {
      const link = page.getByLabel('Calls by decision').locator('a', { hasText: word })
      return Number((await link.locator('b').textContent()) ?? '')
    }
    await until(async () => (await shown('ask')) === words.require_approval)
    for (const [word, action] of Object.entries({
      ask: 'require_approval',
      deny: 'deny',
      allow: 'allow',
      limited: 'limited',
    }))
      expect([word, await shown(word)]).toEqual([word, words[action] ?? 0])
    const { sessions } = (await fetchJson('/sessions')) as { sessions: OpenSessionView[] }
    const bySession = countBy(calls, ({ session }) => session)
    for (const { id, calls: own } of sessions) expect([id, own]).toEqual([id, bySession[id] ?? 0])
    expect(sessions.some(({ calls: own }) => own > 0)).toBe(true)
    await page.getByText('0 questions spared').waitFor()
    const callers = countBy(day, ({ principal }) => principal.id)
    for (const [id, own] of Object.entries(callers))
      await page
        .locator(`li[title^="${own.toLocaleString('en')} call"]`, { hasText: id })
        .first()
        .waitFor()
    await page.locator('.nav-link', { hasText: 'Approvals' }).click()
    await page.getByRole('radio', { name: `Pending ${held}` }).waitFor()
    await until(async () => (await page.locator('.inbox-entry').count()) === held)
    await page.getByRole('radio', { name: 'Decided' }).click()
    await until(async () => (await page.locator('.inbox-entry').count()) === requests.length)
    expect(await page.locator('.inbox-entry').first().textContent()).toContain('Deniedada')
  })

  test('calls in all, and all refunds above 100 with their sum, are those of the ledger', async () => {
    const calls = await exportCalls(stage.gate)
    await show('/ledger')
    await page.getByText(`${calls.length.toLocaleString('en')} calls. Click`).waitFor()
    const refunds = calls.filter((call) => call.name === 'create_refund' && amountOf(call) > 100)
    await show('/ledger?server=shop&name=create_refund&where=args.amount%20%3E%20100')
    const says = `${refunds.length.toLocaleString('en')} calls, sum of amount ${sumAmounts(refunds)},`
    await page.getByText(says).waitFor()
  })

  test('an audit: refunds of the last month above 100, by whom and approved by whom, as the ledger has them', async () => {
    await show(
      '/ledger?server=shop&name=create_refund&range=last-month&where=args.amount%20%3E%20100',
    )
    const now = new Date()
    const start = (months: number) =>
      new Date(now.getFullYear(), now.getMonth() + months, 1).getTime()
    const refunds = (await exportCalls(stage.gate)).filter(
      (call) =>
        call.name === 'create_refund' &&
        amountOf(call) > 100 &&
        call.atMs >= start(-1) &&
        call.atMs < start(0),
    )
    const allowed = refunds.filter(({ decision }) => decision.action === 'allow')
    expect(allowed.length).toBeGreaterThan(100)
    const says = `${refunds.length.toLocaleString('en')} calls, sum of amount ${sumAmounts(refunds)},`
    await page.getByText(says).waitFor()
    // A refund that was held, approved and made is one call.
    expect(allowed).toEqual(refunds)
    const row = async (name: string, some: readonly ExportedCall[], all = some) => {
      const cells = [name, String(all.length), String(some.length), sumAmounts(some)]
      await page.getByRole('row', { name: cells.join(' '), exact: true }).waitFor()
    }
    await page.getByRole('radio', { name: 'By approver' }).click()
    for (const by of ['ada', 'carl'])
      await row(
        by,
        allowed.filter(({ decision }) => decision.reason.startsWith(`approved by ${by} `)),
      )
    await page.getByRole('radio', { name: 'By caller' }).click()
    for (const id of Object.keys(countBy(refunds, ({ principal }) => principal.id))) {
      const own = (some: readonly ExportedCall[]) =>
        some.filter(({ principal }) => principal.id === id)
      await row(id, own(allowed), own(refunds))
    }
  })

  test('M17: without the key `alerts` the console shows what is wrong', async () => {
    await show('/settings')
    await page.getByText('To be sent a message as well').waitFor()
    await page.getByRole('link', { name: 'A tool definition waits for review' }).waitFor()
  })
})
