// A gate of a cluster that is killed: another one tells, on the webhook and in the console, and says when it
// is back. Real gates on a real PostgreSQL, in a real browser.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureConsole } from '../../scripts/build-console.ts'
import { findChromium, launch, named } from '../console/browser.ts'
import { addAda, namedUrl, receiveMessages, signedIn } from '../console/stage.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const WAIT = { timeout: 60_000 }
const [postgres, chromium] = [findPostgres(), findChromium()]
const suite = namePostgresSuite(named('a lost gate', chromium), postgres)

describe.skipIf(postgres === undefined || chromium === undefined)(suite, () => {
  let server: RunningPostgres
  let browser: Browser

  beforeAll(async () => {
    if (!(await ensureConsole())) throw new Error('the console could not be built')
    server = await startPostgres(postgres as string)
    await server.createDatabase('lost')
    browser = await launch(chromium as string)
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
    await server?.end()
  })

  test('is told by another, shown where one acts, and told again when it is back', async () => {
    const { alerts, approvals } = await receiveMessages()
    const start = (name: string, folder?: string): Promise<RunningGate> =>
      startGate({
        servers: { office: fixture('office') },
        config: {
          store: `postgres://sluice@127.0.0.1:${server.port}/lost`,
          cluster: { name, key: CLUSTER_KEY },
          // One of them is enough here: each gate sends its own.
          ...(name === 'north' ? { approvals, alerts: { every: '1s' } } : {}),
        },
        ...(folder === undefined ? {} : { folder }),
      })
    const north = await start('north')
    await addAda(north)
    const south = await start('south')
    const { page } = await signedIn(browser, { gate: north, url: namedUrl(north) })
    page.setDefaultTimeout(WAIT.timeout)
    await page.getByText('2 gates, all live').waitFor()
    await south.kill()
    const inWords = () =>
      alerts.map(({ kind, state, title, facts }) => [
        `${kind} ${state}: ${title}`,
        ...facts.map(({ name, value }) => `${name}: ${value}`),
      ])
    const facts = ['Gate: south', 'Seen by: north']
    const lost = ['gate raised: A gate does not answer', ...facts]
    await expect.poll(inWords, WAIT).toEqual([lost])
    const recent = page.getByLabel('Recent alerts')
    await recent.getByText('ongoing').waitFor()
    await recent.getByRole('link', { name: 'A gate does not answer' }).click()
    await page.getByRole('row', { name: /^south\s*lost/ }).waitFor()
    await start('south', south.folder)
    await expect.poll(inWords, WAIT).toEqual([lost, ['gate over: The gate is back', ...facts]])
    await page.getByRole('link', { name: /^Overview/ }).click()
    await recent.getByText(/^over after/).waitFor()
  })
})
