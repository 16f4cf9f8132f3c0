// The console's pages under load in a real browser: the first load; Live at a thousand calls a
// second; the ledger with 100,000 recorded calls; servers and board with 10,000 tools. A real gate
// and a real server. Called by console.bench.ts.

import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { ensureConsole } from '../../scripts/build-console.ts'
import { findChromium, HOW, launch } from '../../test/console/browser.ts'
import { Load, type Side } from '../gateway/measure.ts'
import { type RunningProcess, start } from '../gateway/running.ts'
import { CALLER, startSluice } from '../gateway/sluice.ts'
import { writeRecords } from '../ledger/grow.ts'
import { describeFrames, heapOf, look, type Seen, scroll } from './frames.ts'
import { consoleAddress, firstPerson } from './sign-in.ts'

/** With the font, and with what the first page asks the gate for. */
const LOAD_BYTES_MAX = 240_000
const LOAD_REQUESTS_MAX = 15
const USABLE_MS_MAX = 1_000
const FRAME_SCRIPT_MS_MAX = 20
const ANSWERED_MS_MAX = 3_000
const CALLS_PER_SECOND = 1_000
const COMMAND = join(import.meta.dirname, '../../packages/cli/bin/sluice.js')
const ECHO = join(import.meta.dirname, '..', 'gateway', 'echo-server.ts')
const POLICY = `version: 1
default: deny
categories: { Read: allow, Write: require_approval, Execute: deny, Destructive: hide }
tools:
  echo/echo: allow
`

export interface PagesOptions {
  readonly folder: string
  readonly only: string
  readonly liveMs: number
  readonly records: number
  readonly tools: number
  /** Folder for screenshots; undefined for none. */
  readonly pictures: string | undefined
}

interface Stage {
  readonly browser: Browser
  readonly gate: RunningProcess
  readonly data: string
  readonly options: PagesOptions
}

export async function pages(options: PagesOptions): Promise<boolean> {
  const chromium = findChromium()
  if (chromium === undefined) throw new Error(`this needs Chromium: ${HOW}`)
  if (!(await ensureConsole())) throw new Error('the console was not built')
  const { folder, tools, records, only } = options
  const running: RunningProcess[] = []
  const browser = await launch(chromium)
  const load = new Load()
  const goals: [what: string, holds: boolean][] = []
  try {
    const echo = await start({ command: [process.execPath, ECHO, '--tools', String(tools)] })
    running.push(echo)
    const data = join(folder, 'data')
    if (isWanted(only, 'ledger')) writeRecords(data, records, Date.now())
    const gate = await startSluice({
      command: COMMAND,
      folder,
      server: { url: echo.url },
      policy: POLICY,
    })
    running.push(gate)
    await firstPerson(data)
    const stage: Stage = { browser, gate, data, options }
    if (isWanted(only, 'load')) goals.push(...(await firstLoad(stage)))
    if (isWanted(only, 'live')) goals.push(...(await live(stage, load)))
    if (isWanted(only, 'tools')) {
      await listTools(gate)
      goals.push(...(await manyTools(stage)))
    }
    if (isWanted(only, 'ledger')) goals.push(...(await manyRecords(stage)))
  } finally {
    load.end()
    await browser.close()
    for (const one of running.reverse()) await one.stop()
  }
  for (const [what, holds] of goals) console.log(`${holds ? 'holds ' : 'MISSED'} ${what}`)
  return goals.every(([, holds]) => holds)
}

function isWanted(only: string, what: string): boolean {
  return only === '' || only.split(',').includes(what)
}

async function firstLoad({ browser, data }: Stage): Promise<[string, boolean][]> {
  const times: number[] = []
  let bytes = 0
  let requests = 0
  for (let at = 0; at < 5; at++) {
    const page = await (await browser.newContext()).newPage()
    const sizes: Promise<number>[] = []
    page.on('requestfinished', (request) => {
      if (request.url().endsWith('/watch')) return
      // One that ends with the page has no size.
      sizes.push(
        request.sizes().then(
          ({ responseBodySize }) => responseBodySize,
          () => 0,
        ),
      )
    })
    await page.goto(local(await consoleAddress(data)))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    // Until the page responds to the user, by the page's own clock.
    times.push(Number(await page.evaluate('performance.now()')))
    await page.waitForTimeout(1_000)
    // What the browser has in its memory is not asked for; its size is negative. With the open stream.
    const came = (await Promise.all(sizes)).filter((size) => size >= 0)
    requests = came.length + 1
    bytes = came.reduce((sum, size) => sum + size, 0)
    await page.context().close()
  }
  const usable = times.toSorted((a, b) => a - b)[2] ?? Number.NaN
  console.log(
    `first load: ${bytes.toLocaleString('en')} bytes in ${requests} requests, usable after ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`,
  )
  return [
    [`first load under ${LOAD_BYTES_MAX.toLocaleString('en')} bytes`, bytes < LOAD_BYTES_MAX],
    [`first load with at most ${LOAD_REQUESTS_MAX} requests`, requests <= LOAD_REQUESTS_MAX],
    [`usable within ${USABLE_MS_MAX} ms`, usable < USABLE_MS_MAX],
  ]
}

async function live(stage: Stage, load: Load): Promise<[string, boolean][]> {
  const { gate, options } = stage
  const side: Side = { name: 'live', url: gate.url, headers: CALLER, sessionsMax: 16 }
  const page = await opened(stage, '/ledger?follow=1', '.calls')
  const passing = load.turn(side, 16, {
    forMs: options.liveMs * 1.6 + 10_000,
    perSecond: CALLS_PER_SECOND,
  })
  // Rows and plots are full before anything is counted: growth after that is unbounded.
  await page.waitForTimeout(options.liveMs * 0.5 + 3_000)
  const first = await heapOf(page)
  const seen = await look(page, () => page.waitForTimeout(options.liveMs))
  const last = await heapOf(page)
  console.log(describeFrames(`Live, ${CALLS_PER_SECOND} calls/s`, seen))
  console.log(
    `${''.padEnd(34)} ${(seen.busyMsASecond / 10).toFixed(1)} % of a core; heap ${first.toFixed(1)} MB, after ${options.liveMs / 1_000} s ${last.toFixed(1)} MB`,
  )
  await picture(page, stage, 'live')
  const { turned } = await passing
  console.log(`${''.padEnd(34)} ${(turned.calls / turned.seconds).toFixed(0)} calls/s were made`)
  await page.context().close()
  return [smooth('Live', seen), ['the heap of Live is bounded', last < first + 4]]
}

async function manyTools(stage: Stage): Promise<[string, boolean][]> {
  const goals: [string, boolean][] = []
  const servers = await opened(stage, '/servers', '.tools-scroll tbody .grid-row')
  goals.push(await scrolled(servers, 'Servers', '.tools-scroll', stage))
  const figures = await look(servers, async () => {
    await servers.getByLabel('Search tools').pressSequentially('tool-77', { delay: 60 })
    await servers.waitForTimeout(300)
  })
  console.log(describeFrames('Servers, search typed', figures))
  goals.push(smooth('Servers, search', figures))
  await servers.context().close()
  const board = await opened(stage, '/policy', '.piece')
  goals.push(await scrolled(board, 'Policy board', '.column-list', stage))
  const typed = await look(board, async () => {
    await board.getByLabel('Find a tool').pressSequentially('tool-77', { delay: 60 })
    await board.waitForTimeout(300)
  })
  console.log(describeFrames('Policy board, search typed', typed))
  goals.push(smooth('Policy board, search', typed))
  await board.context().close()
  return goals
}

async function manyRecords(stage: Stage): Promise<[string, boolean][]> {
  // The first query of all, before anything was indexed.
  const filtered = await opened(stage, '/ledger?principal=person-13', '.page-head')
  const began = performance.now()
  await filtered
    .locator('.ledger-rows [role="status"] .notice, tbody .grid-row')
    .first()
    .waitFor({ timeout: 120_000 })
  const answered = performance.now() - began
  await picture(filtered, stage, 'ledger-indexing')
  await filtered.locator('tbody .grid-row').first().waitFor({ timeout: 120_000 })
  const rows = performance.now() - began
  await filtered
    .locator('.ledger-rows [role="status"] .notice')
    .waitFor({ state: 'detached', timeout: 120_000 })
  const whole = performance.now() - began
  const ms = (value: number) => `${value.toFixed(0)} ms`
  console.log(
    `Ledger, ${stage.options.records.toLocaleString('en')} records not indexed: a filter is answered after ${ms(answered)}, has rows after ${ms(rows)}, is whole after ${ms(whole)}`,
  )
  await picture(filtered, stage, 'ledger-filtered')
  await filtered.context().close()
  const page = await opened(stage, '/ledger', 'tbody .grid-row')
  const goals = [await scrolled(page, 'Ledger', '.calls', stage)]
  const typed = await look(page, async () => {
    await page.getByLabel('Search calls').pressSequentially('who:person-13\n', { delay: 60 })
    await page.locator('tbody .grid-row').first().waitFor()
  })
  console.log(describeFrames('Ledger, filter typed', typed))
  goals.push(smooth('Ledger, filter', typed))
  await page.context().close()
  return [...goals, ['a filter is answered within 3 s', answered < ANSWERED_MS_MAX]]
}

/** Slowly, as a wheel does, and in jumps. */
async function scrolled(
  page: Page,
  what: string,
  selector: string,
  stage: Stage,
): Promise<[string, boolean]> {
  const slow = await look(page, () => page.evaluate(scroll(selector, 100, 240)))
  console.log(describeFrames(`${what}, scrolled slowly`, slow))
  const fast = await look(page, () => page.evaluate(scroll(selector, 3_000, 240)))
  console.log(describeFrames(`${what}, scrolled in leaps`, fast))
  await picture(page, stage, what.toLowerCase().replaceAll(' ', '-'))
  return smooth(what, slow, fast)
}

function smooth(what: string, ...all: readonly Seen[]): [string, boolean] {
  const most = Math.max(...all.map(({ scriptMs }) => scriptMs))
  return [`${what}: script a frame under ${FRAME_SCRIPT_MS_MAX} ms`, most < FRAME_SCRIPT_MS_MAX]
}

async function opened({ browser, data }: Stage, path: string, selector: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  const url = new URL(local(await consoleAddress(data)))
  await page.goto(`${url.origin}${path}${url.hash}`)
  await page.locator(selector).first().waitFor({ timeout: 120_000 })
  return page
}

function local(address: string): string {
  return address.replace('127.0.0.1', 'localhost')
}

async function picture(page: Page, { options }: Stage, name: string): Promise<void> {
  if (options.pictures === undefined) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.waitForTimeout(300)
    await page.screenshot({ path: join(options.pictures, `${name}-${colorScheme}.png`) })
  }
}

/** As a client does in its first session: the gate learns the tools this way. */
async function listTools({ url }: RunningProcess): Promise<void> {
  const headers = {
    ...CALLER,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const send = (body: object, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
  const first = await send({ id: 1, method: 'initialize', params })
  const session = {
    'mcp-session-id': first.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-06-18',
  }
  await first.text()
  await (await send({ method: 'notifications/initialized' }, session)).text()
  const began = performance.now()
  let count = 0
  let cursor: string | undefined
  do {
    const listed = await send(
      { id: 2, method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      session,
    )
    const text = await listed.text()
    const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
    if (result === undefined) throw new Error(`no list of tools: ${text.slice(0, 500)}`)
    count += result.tools.length
    cursor = result.nextCursor
  } while (cursor !== undefined)
  const seconds = (performance.now() - began) / 1_000
  console.log(`${count.toLocaleString('en')} tools were listed in ${seconds.toFixed(1)} s`)
}
