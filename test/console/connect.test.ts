// A person connects at a server in a real browser: from the page of the server to the authorisation server and back, after
// which the call that failed passes.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureConsole } from '../../scripts/build-console.ts'
import { type AuthorisationServer, serveAuthorisation } from '../servers/authorisation.ts'
import { type GuardedServer, serveGuarded } from '../servers/guarded.ts'
import { endGates, mcpUrl, type RunningGate, startGate } from '../support/start-gate.ts'
import { violationsIn } from './axe.ts'
import { findChromium, launch, named } from './browser.ts'
import { addAda, namedUrl, signedIn } from './stage.ts'

const chromium = findChromium()

describe.skipIf(chromium === undefined)(named('connect', chromium), () => {
  let authorisation: AuthorisationServer
  let server: GuardedServer
  let gate: RunningGate
  let browser: Browser

  beforeAll(async () => {
    if (!(await ensureConsole())) throw new Error('the console could not be built')
    authorisation = await serveAuthorisation()
    server = await serveGuarded(authorisation.issuer, 'calls')
    gate = await startGate({ servers: { desk: { url: server.url, auth: { login: 'principal' } } } })
    await addAda(gate)
    browser = await launch(chromium ?? '')
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await endGates()
    await server?.close()
    await authorisation?.close()
  })

  test('the call that failed passes after a person has connected from the page of the server', async () => {
    const client = new Client({ name: 'real', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(mcpUrl(gate, 'desk')))
    await client.connect(transport as Parameters<Client['connect']>[0])
    const call = () => client.callTool({ name: 'get_note', arguments: {} })
    const refused = await call().then(JSON.stringify, String)
    expect(refused).toContain('/connect/desk')

    const { page, faults } = await signedIn(browser, { gate, url: namedUrl(gate) })
    await page.getByRole('link', { name: 'Servers' }).click()
    await page.getByRole('link', { name: 'desk', exact: true }).click()
    await page.getByText('not signed in').waitFor()
    await page.getByRole('button', { name: 'Connect desk for local' }).click()
    const opened = page.waitForEvent('popup')
    await page.getByRole('link', { name: /^Go on at/ }).click()
    const tab = await opened
    await tab.waitForURL(/\/connect\/desk/)
    await tab.getByText('You are signed in. Make the call again').waitFor()
    expect(tab.url()).not.toContain('code=')
    expect(await violationsIn(tab, 'light')).toEqual([])
    await page.getByText(/^signed in/).waitFor()
    expect(JSON.stringify(await call())).toContain('a note')
    expect(faults).toEqual([])
  })
})
