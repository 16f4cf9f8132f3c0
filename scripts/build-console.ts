// Builds the console's page into dist/sluice/dist/console if it is missing or older than its
// sources. Called by `npm run build`, `npm start` and the tests; concurrent builds run once: the
// second waits for the first.

import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describeStep, ROOT, runStep } from './run-step.ts'

const OUT = join(ROOT, 'dist/sluice/dist/console')
const STAMP = join(OUT, '.built')
const LOCK = join(ROOT, 'dist', '.console-lock')
const WAIT_MS = 120_000
const SOURCES = [
  'packages/console/page/**/*.{ts,tsx,css,html,svg,json}',
  'packages/console/src/contract/*.ts',
  'packages/guard/src/show/hidden-characters.ts',
  'package-lock.json',
]

/** A digest of all inputs of the page. */
function digestOfSources(): string {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap((glob) => globSync(glob, { cwd: ROOT })).sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  return hash.digest('hex')
}

function isFresh(digest: string): boolean {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digest
}

export async function ensureConsole(): Promise<boolean> {
  const digest = digestOfSources()
  if (isFresh(digest)) return true
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const deadline = Date.now() + WAIT_MS
  while (!takeLock()) {
    if (Date.now() > deadline) throw new Error(`${LOCK} is held: remove it where nothing builds`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  try {
    if (isFresh(digest)) return true
    const result = await runStep('console', [
      'node_modules/vite/bin/vite.js',
      'build',
      '--config',
      'packages/console/page/vite.config.ts',
      '--logLevel',
      'warn',
    ])
    console.error(`build: ${describeStep(result)}`)
    if (result.passed) writeFileSync(STAMP, digest)
    return result.passed
  } finally {
    rmdirSync(LOCK)
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(LOCK)
    return true
  } catch {
    // A killed build leaves its lock.
    try {
      if (Date.now() - statSync(LOCK).mtimeMs > WAIT_MS) rmdirSync(LOCK)
    } catch {
      // Removed in the meantime.
    }
    return false
  }
}

if (import.meta.main) process.exitCode = (await ensureConsole()) ? 0 : 1
