// `npm run bench -- console [--rounds N] [--ms N]`: what console viewers cost the gate. One
// gate in short blocks with three pages and without; its CPU per call with them is to be within 3 % of
// that without. Then the frames of Live in a browser at 1,000 calls a second: two minutes
// in all. `--brief`: only the isolated cost. `--page [load,live,tools,ledger]`: the pages in a
// real browser under load; `--pictures FOLDER` stores screenshots. `--queries N`: what pages ask a ledger of
// N calls for, and the longest pause of the gate's own thread meanwhile.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { findChromium, HOW } from '../test/console/browser.ts'
import { measureViewers } from './console/blocks.ts'
import { byItself } from './console/by-itself.ts'
import { pages } from './console/pages.ts'
import { measureQueries } from './console/queries.ts'

const BY_ITSELF_ROUNDS = 5
const LIVE_MS = 15_000

export async function run(options: RunOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return (await measure(options, folder)) ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(options: RunOptions, folder: string): Promise<boolean> {
  if (options.page !== undefined) {
    const pictures = options.pictures === undefined ? undefined : String(options.pictures)
    if (pictures !== undefined) mkdirSync(pictures, { recursive: true })
    return pages({
      folder,
      pictures,
      only: options.page === true ? '' : String(options.page),
      liveMs: Number(options.ms ?? 60_000),
      records: Number(options.records ?? 200_000),
      tools: Number(options.tools ?? 10_000),
    })
  }
  if (options.queries !== undefined) {
    await measureQueries(folder, Number(options.queries))
    return true
  }
  await byItself(join(folder, 'by-itself'), BY_ITSELF_ROUNDS)
  if (options.brief) return true
  const isCheap = await measureViewers({
    folder: join(folder, 'viewers'),
    rounds: Number(options.rounds ?? 12),
    turnMs: Number(options.ms ?? 500),
    warmCalls: Number(options.warm ?? 20_000),
  })
  if (findChromium() === undefined) {
    console.log(`frames of Live were not measured: no Chromium, ${HOW}`)
    return isCheap
  }
  const live = { only: 'live', liveMs: LIVE_MS, records: 0, tools: 10, pictures: undefined }
  return (await pages({ folder: join(folder, 'live'), ...live })) && isCheap
}
