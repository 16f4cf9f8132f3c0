// `npm run eval -- facts --data FILE --draw DIR`: draws the 300 tools that two readers label with facts (who can write
// what a tool answers, what is private, who gets what it sends, whether it writes files), and writes them for a reader.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunOptions } from '../dispatch.ts'
import { readTools } from './catalogue/data.ts'
import { drawTools, toReaderTool } from './facts/draw.ts'

export function run({ data, draw }: RunOptions): number {
  if (typeof data !== 'string' || typeof draw !== 'string') {
    console.error('usage: npm run eval -- facts --data FILE --draw DIR')
    return 2
  }
  const drawn = drawTools(readTools(data))
  writeFileSync(join(draw, 'tools.json'), `${JSON.stringify(drawn.map(toReaderTool), null, 1)}\n`)
  const servers = new Set(drawn.map(({ tool }) => tool.server))
  const first = drawn.filter(({ half }) => half === 'first').length
  console.log(`${drawn.length} tools of ${servers.size} servers, ${first} in the first half`)
  return 0
}
