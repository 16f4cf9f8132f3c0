// `npm run screenshots`: every page of the console, light and dark, desktop, laptop and phone, on a
// gate with real servers, a scripted agent and calls of every kind. Into docs/images/, as WebP.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Page } from 'playwright-core'
import { findChromium, HOW, launch } from '../test/console/browser.ts'
import { ask, asTool, PIN, type Stage, setStage, signedIn } from '../test/console/stage.ts'
import { listAll, PlainClient } from '../test/support/plain-client.ts'
import { endGates } from '../test/support/start-gate.ts'
import { ROOT } from './run-step.ts'

const OUT = join(ROOT, 'docs', 'images')
const PAGES = ['overview', 'approvals', 'ledger', 'servers', 'policy', 'agents', 'settings']
const SIZES = {
  desktop: { width: 1440, height: 900 },
  laptop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const
const QUALITY = 0.82
/** A folder for the same pictures without loss. */
const PNG = process.argv[2]

const chromium = findChromium()
if (chromium === undefined) throw new Error(`screenshots need Chromium: ${HOW}`)
rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT, { recursive: true })

const stage = await setStage({ past: { days: 9, endMs: Date.now(), callsPerHour: 240 } })
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
  await first.page.context().close()
  void keepCalling(stage, traffic.signal)
  // The plots need some seconds of data.
  await new Promise((resolve) => setTimeout(resolve, 20_000))
  await Promise.all(
    Object.entries(SIZES).map(async ([size, viewport]) => {
      const { page } = await signedIn(browser, stage, {
        path: '/overview',
        options: { viewport, deviceScaleFactor: size === 'phone' ? 2 : 1 },
      })
      for (const name of PAGES) {
        if (size === 'phone' && PAGES.indexOf(name) > 4)
          await page.getByRole('button', { name: 'More' }).click()
        await page.locator(`.nav-link[href="/${name}"]`).click()
        if (name === 'agents') await page.getByRole('link', { name: agent.slice(0, 18) }).click()
        if (name === 'approvals' && size === 'phone')
          await page.locator('.inbox-entry').first().click()
        await page.waitForTimeout(2_500)
        await page.locator('.skeleton').first().waitFor({ state: 'hidden' })
        for (const scheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: scheme })
          await page.waitForTimeout(800)
          await shoot(page, join(OUT, `${name}-${scheme}-${size}.webp`))
        }
        await page.emulateMedia({ colorScheme: 'light' })
      }
    }),
  )
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
  if (PNG !== undefined) writeFileSync(join(PNG, `${basename(file, '.webp')}.png`), png)
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
  const agents = clients[3] as PlainClient
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
  const made = await agents.call('wasm_agent_create', {
    model: 'script:report',
    tools: ['office/*'],
  })
  const { agent } = made.answer.result.structuredContent
  await agents.call('wasm_agent_prompt', { agentId: agent.id, input: 'Write the report, please.' })
  return agent.id
}

/** From the first grant on, every caller needs a token. */
async function openAs({ gate }: Stage, name: string): Promise<readonly PlainClient[]> {
  const proof = { name: 'ada', pin: PIN }
  const { token } = await ask(gate, { do: 'grant-add', name, policy: 'policy', proof })
  return Promise.all(
    ['office', 'memory'].map((server) => PlainClient.open(gate, server, '2025-11-25', token)),
  )
}

async function keepCalling(stage: Stage, signal: AbortSignal): Promise<void> {
  const callers = []
  for (const name of ['support', 'research', 'ops-desk']) callers.push(await openAs(stage, name))
  const quietly = (call: Promise<unknown>) => void call.catch(() => undefined)
  const [, , desk] = callers
  quietly(desk?.[0]?.call('send_mail', { to: 'customers@example.com' }) ?? Promise.resolve())
  quietly(desk?.[0]?.call('create_payment', { amount: 1280 }) ?? Promise.resolve())
  for (let at = 0; !signal.aborted; at++) {
    const [office, memory] = callers[at % callers.length] as [PlainClient, PlainClient]
    quietly(office.call('read_file', { path: `/notes/${at}` }))
    if (at % 3 === 0) quietly(memory.call('read_graph', {}))
    if (at % 4 === 0) quietly(office.call('write_note', { text: `note ${at}` }))
    if (at % 17 === 0) quietly(office.call('delete_all', { all: true }))
    const wave = 160 + 120 * Math.sin(at / 25)
    await new Promise((resolve) => setTimeout(resolve, wave))
  }
}
