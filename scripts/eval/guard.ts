// `npm run eval -- guard --texts FILE [--data FILE]`: what the guard finds in texts that are
// labelled `injection` or `benign`, and its false positives on definitions of published tools, as
// responses and as texts that may contain a secret.

import { readFileSync } from 'node:fs'
import { inspectAnswer } from '../../packages/guard/src/inspect-answer.ts'
import { findSecrets } from '../../packages/guard/src/secrets.ts'
import type { RunOptions } from '../dispatch.ts'
import { readTools } from './catalogue/data.ts'

interface Labelled {
  readonly text: string
  readonly label: string
  readonly kind: string
}

export function run({ texts, data }: RunOptions): number {
  if (typeof texts !== 'string') {
    console.error('usage: npm run eval -- guard --texts FILE [--data FILE]')
    return 2
  }
  const counts = new Map<string, { found: number; of: number }>()
  for (const { text, label, kind } of JSON.parse(readFileSync(texts, 'utf8')) as Labelled[]) {
    const name = `${label}, ${kind}`
    const count = counts.get(name) ?? { found: 0, of: 0 }
    count.of++
    if (inspectAnswer(text, ['injection']).length > 0) count.found++
    counts.set(name, count)
  }
  for (const [name, { found, of }] of counts) console.log(`${name}: ${found} of ${of} found`)
  if (typeof data !== 'string') return 0
  const tools = readTools(data)
  const written = tools.map((tool) => JSON.stringify(tool))
  const began = performance.now()
  const suspect = written.filter((text) => inspectAnswer(text, ['injection']).length > 0).length
  const between = performance.now()
  const secret = written.filter((text) => findSecrets(text).length > 0).length
  const kilobytes = written.reduce((sum, text) => sum + text.length, 0) / 1_000
  const rate = (ms: number) => `${((ms * 1_000) / kilobytes).toFixed(0)} µs a kB`
  console.log(`definitions: ${suspect} of ${tools.length} suspect, ${rate(between - began)}`)
  console.log(
    `definitions: ${secret} of ${tools.length} with a secret, ${rate(performance.now() - between)}`,
  )
  return 0
}
