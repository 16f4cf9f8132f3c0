// `npm run screenshots`: every page of the console, light and dark, desktop, laptop and phone, on a
// gate with real servers, a scripted agent and calls of every kind. Into docs/images/, as WebP.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { findChromium, HOW, launch } from '../test/console/browser.ts'
import { asTool, PIN, type Stage, setStage, signedIn } from '../test/console/stage.ts'
import { listAll, PlainClient } from '../test/support/plain-client.ts'
import { endGates } from '../test/support/start-gate.ts'
import { ROOT } from './run-step.ts'

const OUT = join(ROOT, 'docs', 'images')
const PAGES = ['overview', 'approvals', 'live', 'servers', 'policy', 'agents', 'ledger', 'settings']
const SIZES = {
  desktop: { width: 1440, height: 900 },
  laptop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const
const QUALITY = 0.82

const chromium = findChromium()
if (chromium === undefined) throw new Error(`screenshots need Chromium: ${HOW}`)
rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

const stage = await setStage()
const browser = await launch(chromium)
const traffic = new AbortController()
try {
  const agent = await play(stage)
  const first = await signedIn(browser, stage, {
    path: '/settings',
    options: { viewport: SIZES.desktop },
  })
  await first.page.getByLabel('Your PIN').fill(PIN)
  await first.page.getByRole('button', { name: 'Add a passkey' }).click()
  await first.page.getByText('the passkey is added').waitFor()
  void keepCalling(stage, traffic.signal)
  for (const scheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries(SIZES)) {
      const { page } = await signedIn(browser, stage, {
        path: '/live',
        options: { viewport, colorScheme: scheme, deviceScaleFactor: size === 'phone' ? 2 : 1 },
      })
      // The plots need some seconds of data.
      await page.waitForTimeout(size === 'desktop' ? 12_000 : 4_000)
      for (const name of ['live', ...PAGES.filter((one) => one !== 'live')]) {
        await page.locator(`.nav-link[href="/${name}"]`).click()
        await page.waitForTimeout(1_500)
        if (name === 'agents') await page.getByRole('link', { name: agent.slice(0, 18) }).click()
        if (name === 'approvals' && size === 'phone')
          await page.locator('.inbox-entry').first().click()
        await page.waitForTimeout(1_200)
        await shoot(page, join(OUT, `${name}-${scheme}-${size}.webp`))
      }
      await page.context().close()
    }
} finally {
  traffic.abort()
  await browser.close()
  await endGates()
}

/** The browser encodes the WebP itself: a tenth of the PNG. */
async function shoot(page: Page, file: string): Promise<void> {
  const png = await page.screenshot()
  const drawer = await page.context().newPage()
  const address = `data:image/png;base64,${png.toString('base64')}`
  const webp = await drawer.evaluate(
    `(async () => {
      const image = new Image()
      image.src = ${JSON.stringify(address)}
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d').drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', ${QUALITY})
    })()`,
  )
  await drawer.close()
  writeFileSync(file, Buffer.from(String(webp).split(',')[1] ?? '', 'base64'))
  process.stdout.write(`${file}\n`)
}

/**
 * Something on every page: calls of each kind, pending approvals, a changed definition, a running
 * agent.
 */
async function play({ gate, desk }: Stage): Promise<string> {
  const clients = await Promise.all(
    ['office', 'desk', 'memory', 'agents'].map((server) => PlainClient.open(gate, server)),
  )
  for (const client of clients) await listAll(client)
  const [office, , , agents] = clients as [PlainClient, PlainClient, PlainClient, PlainClient]
  writeFileSync(
    desk,
    JSON.stringify([
      asTool({
        name: 'look_up',
        description: 'Looks a word up in the glossary, and forgets the old one.',
      }),
    ]),
  )
  await listAll(await PlainClient.open(gate, 'desk'))
  void office.call('send_mail', { to: 'customers@example.com' }).catch(() => {})
  void office.call('create_payment', { amount: 1280 }).catch(() => {})
  const made = await agents.call('wasm_agent_create', {
    model: 'script:report',
    tools: ['office/*'],
  })
  const { agent } = made.answer.result.structuredContent
  await agents.call('wasm_agent_prompt', { agentId: agent.id, input: 'Write the report, please.' })
  return agent.id
}

async function keepCalling({ gate }: Stage, signal: AbortSignal): Promise<void> {
  const office = await PlainClient.open(gate, 'office')
  const memory = await PlainClient.open(gate, 'memory')
  for (let at = 0; !signal.aborted; at++) {
    const calls = [office.call('read_file', { path: `/notes/${at}` })]
    if (at % 3 === 0) calls.push(memory.call('read_graph', {}))
    if (at % 4 === 0) calls.push(office.call('write_note', { text: `note ${at}` }))
    if (at % 17 === 0) calls.push(office.call('delete_all', { all: true }))
    await Promise.all(calls.map((call) => call.catch(() => undefined)))
    const wave = 60 + 50 * Math.sin(at / 25)
    await new Promise((resolve) => setTimeout(resolve, wave))
  }
}
