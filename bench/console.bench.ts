// `npm run bench -- console [--rounds N] [--ms N]`: what console viewers cost the gate. One
// gate in short blocks with three pages and without; its CPU per call with them is to be within 3 % of
// that without. `--brief`: only the isolated cost. `--page [load,live,tools,ledger]`: the pages in a
// real browser under load; `--pictures FOLDER` stores screenshots. `--queries N`: what pages ask a ledger of
// N calls for.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { measureViewers } from './console/blocks.ts'
import { byItself } from './console/by-itself.ts'
import { pages } from './console/pages.ts'
import { measureQueries } from './console/queries.ts'

const BY_ITSELF_ROUNDS = 5

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
    measureQueries(join(folder, 'queries'), Number(options.queries))
    return true
  }
  await byItself(join(folder, 'by-itself'), BY_ITSELF_ROUNDS)
  if (options.brief) return true
  return measureViewers({
    folder,
    rounds: Number(options.rounds ?? 12),
    turnMs: Number(options.ms ?? 500),
    warmCalls: Number(options.warm ?? 20_000),
  })
}
