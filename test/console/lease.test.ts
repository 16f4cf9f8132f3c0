// Approve once, in a real browser on a real gate: the text field with the words of a line, and the lines of the session
// that would pass and would ask.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashGrantToken, makeToken } from '../../packages/access/src/identity/callers/grant.ts'
import { ensureConsole } from '../../scripts/build-console.ts'
import { endGates, type RunningGate, startGate } from '../support/start-gate.ts'
import { violationsIn } from './axe.ts'
import { findChromium, launch, named } from './browser.ts'
import { pickOption } from './pick-option.ts'
import { addAda, namedUrl, PIN, signedIn } from './stage.ts'

const TOKEN = makeToken()
const HASH = `sha256:${hashGrantToken(TOKEN)?.toString('hex')}`
const POLICY = `version: 1
default: allow
tools: { "*/Bash": { action: require_approval, approval: { wait: 1s } } }
`
const chromium = findChromium()

describe.skipIf(chromium === undefined)(named('approve once', chromium), () => {
  let gate: RunningGate
  let browser: Browser
  let calls = 0

  beforeAll(async () => {
    if (!(await ensureConsole())) throw new Error('the console could not be built')
    gate = await startGate({
      servers: { 'claude-code': { builtin: 'claude-code' } },
      policy: POLICY,
      config: { grants: { claude: { hash: HASH, policy: 'policy', hooks: 'claude-code' } } },
    })
    await addAda(gate)
    browser = await launch(chromium as string)
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
  })

  async function say(command: string): Promise<string> {
    const response = await fetch(`${gate.url}/hooks/claude-code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        session_id: 's1',
        cwd: '/srv/app',
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command },
        tool_use_id: `toolu_${++calls}`,
      }),
    })
    return response.text()
  }

  test('a line is approved with its family, and the page says what would pass', async () => {
    // The page opens what was asked first.
    await say('npm test')
    await say('npm test; touch evil')
    await say('npm test -- --again')
    const { page, faults } = await signedIn(
      browser,
      { gate, url: namedUrl(gate) },
      { path: '/settings' },
    )
    page.setDefaultTimeout(30_000)
    await page.getByLabel('Your PIN').fill(PIN)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('the passkey is added').waitFor()
    await page
      .getByRole('link', { name: /^Approvals/ })
      .first()
      .click()
    await pickOption(page, 'Valid for', 'Calls like this for 1 h')
    const words = page.getByLabel('The words that a line has')
    expect(await words.inputValue()).toBe('npm test')
    const [passing, asking] = ['Would pass', 'Would ask'].map((name) =>
      page.getByRole('region', { name }),
    )
    await asking?.getByText('npm test -- --again').waitFor()
    await words.fill('npm test > out')
    await page.getByText('names no programs: a redirection').waitFor()
    await words.fill('npm *')
    await passing?.getByText('npm test -- --again').waitFor()
    expect(await asking?.textContent()).toContain('touch evil')
    await page.getByRole('button', { name: /^only in this session\s+Where it holds$/ }).waitFor()
    await page.getByRole('button', { name: /and below\s+What cwd may be$/ }).waitFor()
    expect(await violationsIn(page, 'light')).toEqual([])
    // What was typed last is approved, whether the page has shown its lines or not.
    await words.fill('npm test *')
    await page.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(() => say('npm test -- --more')).toBe('{}')
    expect(await say('npm run lint')).toContain('waiting for approval')
    expect(await say('npm test -- --more; touch evil')).toContain('waiting for approval')
    expect(faults).toEqual([])
  }, 180_000)
})
