// `npm run bench -- console [--only load,live,tools,ledger] [--ms N]`: the console's pages in a real browser:
// bytes and requests of the first load, frames of the Ledger while it follows 1,000 calls a second, and with many
// tools and records; without `--only` the first two. `--pictures FOLDER` stores screenshots. `--queries N`: what
// pages ask a ledger of N calls for, and the longest pause of the gate's own thread meanwhile.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../scripts/dispatch.ts'
import { pages } from './console/pages.ts'
import { measureQueries } from './console/queries.ts'

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
  if (options.queries !== undefined) {
    await measureQueries(folder, Number(options.queries))
    return true
  }
  const pictures = options.pictures === undefined ? undefined : String(options.pictures)
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true })
  return pages({
    folder,
    pictures,
    only: String(options.only ?? 'load,live'),
    liveMs: Number(options.ms ?? LIVE_MS),
    records: Number(options.records ?? 200_000),
    tools: Number(options.tools ?? 10_000),
  })
}
