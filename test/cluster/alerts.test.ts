// Alerts of gates that share a store: what all of them see is told once, also if the gate that tells is killed
// in the middle; what one sees alone is told by it, and every console lists both. Without the store each tells.
// Real gates on a real PostgreSQL with a real webhook, in a real browser. The stories follow each other.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AlertsView, SentAlertView } from '../../packages/console/src/contract/contract.ts'
import { parsePostgresUrl } from '../../packages/ledger/src/store/postgres/address.ts'
import { PostgresConnections } from '../../packages/ledger/src/store/postgres/connections.ts'
import { ensureConsole } from '../../scripts/build-console.ts'
import { findChromium, launch, named } from '../console/browser.ts'
import { addAda, getToken, type JsonAlert, namedUrl, signedIn } from '../console/stage.ts'
import { listAll, PlainClient } from '../support/plain-client.ts'
import {
  CLUSTER_KEY,
  findPostgres,
  namePostgresSuite,
  type RunningPostgres,
  startPostgres,
} from '../support/postgres.ts'
import { endGates, fixture, type RunningGate, startGate } from '../support/start-gate.ts'

const POLICY = `version: 1
default: allow
tools:
  office/delete_all: deny
  office/write_note: { action: allow, rate_limit: { max: 10, window: 30, per: everyone } }
`
const WAIT = { timeout: 60_000 }
const [postgres, chromium] = [findPostgres(), findChromium()]
const suite = namePostgresSuite(named('alerts of a cluster', chromium), postgres)

describe.skipIf(postgres === undefined || chromium === undefined)(suite, () => {
  const gates = new Map<string, RunningGate>()
  const alerts: JsonAlert[] = []
  /** The webhook takes messages and does not answer. */
  let isHanging = false
  let server: RunningPostgres
  let browser: Browser
  let hook = ''
  /** Which tells of the first lost gate, and which does not. */
  let [teller, other] = ['', '']

  beforeAll(async () => {
    if (!(await ensureConsole())) throw new Error('the console could not be built')
    server = await startPostgres(postgres as string)
    await server.createDatabase('alerts')
    browser = await launch(chromium as string)
    const receiver = createServer(async (request, response) => {
      alerts.push((await json(request)) as JsonAlert)
      if (!isHanging) response.end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    receiver.unref()
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    await Promise.all(['north', 'west', 'south'].map((name) => start(name)))
  })
  afterAll(async () => {
    await browser?.close()
    await endGates()
    await server?.end()
  })

  async function start(name: string): Promise<void> {
    const before = gates.get(name)
    const gate = await startGate({
      servers: { office: fixture('office') },
      policy: POLICY,
      config: {
        store: server.url('alerts'),
        cluster: { name, key: CLUSTER_KEY },
        approvals: { webhook: { url: hook, secret: 'of the stage, long enough' } },
        alerts: { every: '1s' },
      },
      ...(before === undefined ? {} : { folder: before.folder }),
    })
    gates.set(name, gate)
  }

  const gateOf = (name: string) => gates.get(name) as RunningGate

  /** Messages of a kind in words, without the gate that tells of what all see. */
  const told = (kind: string, state: JsonAlert['state']) =>
    alerts
      .filter((one) => one.kind === kind && one.state === state)
      .map(({ facts }) => facts.map(({ name, value }) => `${name}: ${value}`).join('; '))
      .sort()

  const seenBy = ({ facts }: JsonAlert) => facts.find(({ name }) => name === 'Seen by')?.value

  /** Messages that south is lost, or back. */
  const ofSouth = (state: JsonAlert['state'] = 'raised') =>
    alerts.filter(
      (one) => one.kind === 'gate' && one.state === state && one.facts[0]?.value === 'south',
    )

  /** As its console lists them. */
  async function listAt(gate: RunningGate, token: string) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${gate.url}/api/alerts`, { headers })
    return (await response.json()) as AlertsView
  }

  test('a full limit is told once, denials at two gates by each, and every console lists them', async () => {
    for (const [name, notes, denials] of [
      ['north', 5, 0],
      ['west', 4, 25],
      ['south', 0, 25],
    ] as const) {
      const office = await PlainClient.open(gateOf(name), 'office')
      await listAll(office)
      for (let at = 0; at < notes; at++) await office.call('write_note', { text: 'a' })
      for (let at = 0; at < denials; at++) await office.call('delete_all', { at })
    }
    await expect.poll(() => told('denials', 'raised').length, WAIT).toBe(2)
    await expect
      .poll(() => told('limit', 'raised'), WAIT)
      .toEqual([expect.stringMatching(/^office\/write_note: [89] of 10; Seen by: (north|west)$/)])
    await addAda(gateOf('north'))
    const { sent } = await listAt(gateOf('north'), await getToken(gateOf('north')))
    const listed = sent
      .map(({ kind, gate, state }) => `${kind} ${gate} ${state}`)
      .filter((one) => /^(denials|limit) /.test(one))
      .sort()
    expect(listed).toEqual([
      'denials south ongoing',
      'denials west ongoing',
      expect.stringMatching(/^limit (north|west) ongoing$/),
    ])
  })

  test('a lost gate is told by one of the others, and by the next if that is killed meanwhile', async () => {
    isHanging = true
    const token = await getToken(gateOf('north'))
    const { sent } = await listAt(gateOf('north'), token)
    const { id } = sent.find(
      (one) => one.kind === 'denials' && one.gate === 'west',
    ) as SentAlertView
    const handle = (of: string) =>
      fetch(`${gateOf('north').url}/api/alerts/${of}/handled`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ note: 'a wrong script' }),
      })
    expect([(await handle(id)).status, (await handle('none')).status]).toEqual([200, 404])
    await gateOf('south').kill()
    await expect.poll(() => ofSouth().length, WAIT).toBeGreaterThan(0)
    teller = seenBy(ofSouth()[0] as JsonAlert) ?? ''
    other = teller === 'north' ? 'west' : 'north'
    await gateOf(teller).kill()
    isHanging = false
    // Half a minute later.
    const connections = new PostgresConnections(parsePostgresUrl(server.url('alerts')))
    await connections.query("UPDATE sluice.alerts SET claimed_at = now() - interval '31 s'")
    await connections.close()
    await expect.poll(() => ofSouth().length, WAIT).toBe(2)
    expect(new Set(ofSouth().map(({ id }) => id)).size).toBe(1)
    await start(teller)
  })

  test('the console shows whose an alert is and what is not known; a restart leaves it open and untold', async () => {
    const gate = gateOf(other)
    const token = await getToken(gate)
    const denials = async () => {
      const { sent } = await listAt(gate, token)
      return sent.find((one) => one.kind === 'denials' && one.gate === 'south')?.state
    }
    expect(await denials()).toBe('unknown')
    // Whichever gate it was told, and whichever was started again since.
    for (const at of [gate, gateOf(teller)])
      await expect
        .poll(
          async () =>
            (await listAt(at, await getToken(at))).sent.map(({ handled }) => handled?.note),
          WAIT,
        )
        .toContain('a wrong script')
    const { page } = await signedIn(browser, { gate, url: namedUrl(gate) })
    page.setDefaultTimeout(WAIT.timeout)
    const recent = page.getByLabel('Recent alerts')
    await recent.getByText('open when its gate was lost').waitFor()
    await page.getByRole('link', { name: /The gate south is lost/ }).click()
    await page.getByRole('row', { name: /^south\s*lost/ }).waitFor()
    await start('south')
    await expect.poll(() => ofSouth('over').length, WAIT).toBe(1)
    expect(await denials()).toBe('ongoing')
    expect(told('denials', 'raised')).toHaveLength(2)

    await page.getByRole('link', { name: 'Ledger', exact: true }).click()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page
      .getByText(
        `Only the chain of ${other} was verified, not those of ${[teller, 'south'].sort().join(', ')}`,
      )
      .waitFor()
    await expect.poll(() => told('limit', 'over').length, WAIT).toBe(1)
  })

  test('if the store does not answer each gate tells it, and tells when it does', async () => {
    const gate = gateOf(other)
    const token = await getToken(gate)
    const from = alerts.length
    const ids = (state: JsonAlert['state']) =>
      alerts
        .slice(from)
        .filter((one) => one.kind === 'ledger' && one.state === state)
        .map(({ id }) => id)
        .sort()
    await server.stop()
    await expect.poll(() => ids('raised').length, WAIT).toBe(3)
    expect(await listAt(gate, token)).toMatchObject({ isComplete: false })
    await server.start()
    await expect.poll(() => ids('over'), WAIT).toEqual(ids('raised'))
    const { sent, isComplete } = await listAt(gate, token)
    expect(isComplete).toBe(true)
    const listed = sent.filter(({ id }) => ids('raised').includes(id))
    expect(listed.map((one) => one.gate).sort()).toEqual(['north', 'south', 'west'])
    // All of them have looked many times since: what they all see was told once.
    const idsOf = (all: readonly JsonAlert[]) => new Set(all.map(({ id }) => id)).size
    expect([idsOf(ofSouth()), ofSouth('over').length]).toEqual([1, 1])
    expect([told('limit', 'raised').length, told('limit', 'over').length]).toEqual([1, 1])
  })
})
