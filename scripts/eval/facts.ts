// `npm run eval -- facts --data FILE`: how far two readers agree on four facts of 300 tools (who can write what a tool
// answers, what is private, who gets what it sends, whether it writes files), and how well rules on names and schemas
// give them. `--draw DIR` writes the drawn tools for readers, `--misses` what the rules miss in the first half.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { RunOptions } from '../dispatch.ts'
import { readTools } from './catalogue/data.ts'
import { drawTools, toReaderTool } from './facts/draw.ts'
import { FACT_NAMES, type LabelledFacts, readFactLabels } from './facts/labels.ts'
import { listMisses, printAgreement, printScores } from './facts/measure.ts'
import { getFacts } from './facts/rules.ts'

/** `--half second`: measured once, when the rules are final. */
export function run({ data, draw, half = 'first', misses }: RunOptions): number {
  if (typeof data !== 'string') {
    console.error(
      'usage: npm run eval -- facts --data FILE [--draw DIR | --half second | --misses]',
    )
    return 2
  }
  const tools = readTools(data)
  if (typeof draw === 'string') return writeDrawn(tools, draw)
  const all = readFactLabels(tools)
  const labels = all.filter((one) => one.half === half)
  if (misses === true) return printMisses(labels)
  const servers = new Set(all.map(({ tool }) => tool.server))
  console.log(`${all.length} tools of ${servers.size} servers; agreement of the readers:`)
  printAgreement(all)
  for (const how of ['excluded', 'more dangerous'] as const) {
    console.log(`\n${half} half, ${labels.length} tools; disagreements: ${how}`)
    printScores(labels, getFacts, how)
  }
  return 0
}

function printMisses(labels: readonly LabelledFacts[]): number {
  for (const fact of FACT_NAMES) {
    console.log(`\n${fact}`)
    for (const line of listMisses(labels, getFacts, fact)) console.log(`  ${line}`)
  }
  return 0
}

function writeDrawn(tools: readonly ToolDefinition[], folder: string): number {
  const drawn = drawTools(tools)
  writeFileSync(join(folder, 'tools.json'), `${JSON.stringify(drawn.map(toReaderTool), null, 1)}\n`)
  const servers = new Set(drawn.map(({ tool }) => tool.server))
  const first = drawn.filter(({ half }) => half === 'first').length
  console.log(`${drawn.length} tools of ${servers.size} servers, ${first} in the first half`)
  return 0
}
