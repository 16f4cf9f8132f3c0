// Texts that an attacker chooses, in a real browser with the headers that the gate sends: names and
// definitions of a server, arguments and names of a client, all that an agent and its model write. Each is
// on its page as text; nothing of it runs, loads or becomes an element.

import { writeFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAll, PlainClient } from '../support/plain-client.ts'
import { endGates, until, writeScript } from '../support/start-gate.ts'
import { findChromium, launch, named } from './browser.ts'
import { asTool, type Stage, setStage, signedIn } from './stage.ts'

const chromium = findChromium()
const POLICY = `version: 1
default: allow
tools:
  office/send_mail: { action: require_approval, approval: { wait: 50s } }
`

/** Ends an attribute, an element, a link of Markdown; `mark` finds it on the page. */
function hostile(mark: string): string {
  return `${mark}"'><img src=x onerror="window.harmed=1"><svg/onload=window.harmed=1><a href="javascript:window.harmed=1">[x](javascript:window.harmed=1)![x](http://127.0.0.1:9/${mark})`
}

const TURNS = [
  {
    text: hostile('mark-said'),
    toolCalls: [
      { name: 'write_todos', input: { todos: [{ content: hostile('mark-todo') }] } },
      {
        name: 'write_file',
        input: { path: `${hostile('mark-path').replaceAll('/', '|')}.svg`, content: 'x' },
      },
      { name: hostile('mark-call').slice(0, 100), input: { of: hostile('mark-input') } },
    ],
  },
  { text: hostile('mark-answer') },
]

describe.skipIf(chromium === undefined)(named('hostile texts in the console', chromium), () => {
  let stage: Stage
  let browser: Browser
  let page: Page
  let faults: string[]
  let agentId: string
  let stoppedId: string
  const requests: string[] = []

  beforeAll(async () => {
    stage = await setStage({ policy: POLICY })
    const { gate, desk } = stage
    const tool = asTool({
      name: hostile('mark-tool').slice(0, 60),
      description: hostile('mark-about'),
    })
    writeFileSync(desk, JSON.stringify([tool]))
    await listAll(await PlainClient.open(gate, 'desk'))
    const office = await PlainClient.open(gate, 'office')
    await listAll(office)
    await office.call(hostile('mark-unknown').slice(0, 100))
    const mail = { to: hostile('mark-to'), [hostile('mark-key').slice(0, 60)]: 1 }
    office.call('send_mail', mail).catch(() => undefined)
    writeScript(gate.data, 'hostile', TURNS)
    const agents = await PlainClient.open(gate, 'agents')
    const create = { model: 'script:hostile', tools: ['office/*'] }
    agentId = (await agents.value('wasm_agent_create', create)).agent.id
    await agents.value('wasm_agent_prompt', { agentId, input: hostile('mark-prompt') })
    stoppedId = (await agents.value('wasm_agent_create', create)).agent.id
    const reason = hostile('mark-reason')
    await agents.value('wasm_agent_stop', { agentId: stoppedId, reason })
    browser = await launch(chromium as string)
    ;({ page, faults } = await signedIn(browser, stage, { path: '/approvals' }))
    page.setDefaultTimeout(60_000)
    page.on('request', (request) => requests.push(request.url()))
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
  })

  /** Text of the page and of its fields and titles, where a mark may be. */
  async function marksOnPage(): Promise<string[]> {
    const html = await page.evaluate('document.documentElement.outerHTML')
    return [...new Set(String(html).match(/mark-[a-z]+/g))].sort()
  }

  async function expectMarks(...marks: string[]): Promise<void> {
    await until(async () => {
      const shown = await marksOnPage()
      return marks.every((mark) => shown.includes(`mark-${mark}`))
    }).catch(async () => expect(await marksOnPage()).toEqual(marks))
    expect(await page.evaluate('"harmed" in window')).toBe(false)
    const made = page.locator(
      'img:not([src^="/"]), iframe, object, [onerror], [onload], [href^="javascript:"]',
    )
    expect(await made.evaluateAll((all) => all.map((each) => each.outerHTML))).toEqual([])
  }

  async function show(path: string): Promise<void> {
    const go = `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`
    await page.evaluate(go)
  }

  test('are text wherever they are shown', { timeout: 240_000 }, async () => {
    await expectMarks('to', 'key')
    await show(`/agents/${agentId}`)
    await expectMarks('prompt', 'said', 'todo', 'path', 'call', 'input', 'answer')
    await page.getByText('mark-path').first().click()
    await show(`/agents/${stoppedId}`)
    await expectMarks('reason')
    await show('/servers/desk')
    await expectMarks('tool')
    await page.getByRole('row', { name: /^mark-tool/ }).click()
    await expectMarks('about')
    await page.keyboard.press('Escape')
    await show('/ledger')
    await expectMarks('unknown')
    const query = encodeURIComponent(hostile('mark-query'))
    await show(`/ledger?text=${query}`)
    await expectMarks()
    await show(`/agents/${query}`)
    await expectMarks()
    expect(requests.filter((url) => !url.startsWith(stage.url))).toEqual([])
    expect(faults.filter((fault) => !/404/.test(fault))).toEqual([])
  })
})
