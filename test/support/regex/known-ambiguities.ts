// What the analysis found for each expression, stored from one run to the next: over a thousand expressions take
// 20 s of CPU, and few change. Another version of the analysis begins with an empty file.

import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { ROOT } from '../modules.ts'
import { type Ambiguity, findAmbiguity } from './ambiguity.ts'

const digest = createHash('sha256').update(process.version)
for (const file of globSync('*.ts', { cwd: import.meta.dirname }).sort())
  digest.update(readFileSync(join(import.meta.dirname, file)))
const FILE = join(ROOT, 'node_modules/.cache', `sluice-regexes-${digest.digest('hex')}.json`)

const known = readKnown()
let isChanged = false

export function findAmbiguityOnce(source: string, flags: string): Ambiguity | undefined {
  const key = `${flags} ${source}`
  let found = known.get(key)
  if (found === undefined) {
    found = findAmbiguity(source, flags) ?? null
    known.set(key, found)
    isChanged = true
  }
  return found ?? undefined
}

afterAll(() => {
  if (!isChanged) return
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(`${FILE}.${process.pid}`, JSON.stringify([...known]))
  renameSync(`${FILE}.${process.pid}`, FILE)
})

function readKnown(): Map<string, Ambiguity | null> {
  try {
    return new Map(JSON.parse(readFileSync(FILE, 'utf8')) as [string, Ambiguity | null][])
  } catch {
    return new Map()
  }
}
