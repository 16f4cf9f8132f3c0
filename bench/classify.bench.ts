// `npm run bench -- classify [--data FILE]`: the cost of assessing a tool: the category as the gate
// needs it, the whole assessment, and the poison check. On generated definitions, or on those of a
// file.

import { readFileSync } from 'node:fs'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { assessTool, classify } from '../packages/catalogue/src/classify/classify.ts'
import { inspectDefinition } from '../packages/guard/src/inspect-definition.ts'
import type { RunOptions } from '../scripts/dispatch.ts'

const MADE = 2_000
const ROUNDS = 12

export function run(options: RunOptions): number {
  const tools =
    typeof options.data === 'string'
      ? (JSON.parse(readFileSync(options.data, 'utf8')) as ToolDefinition[])
      : createDefinitions()
  const measured = [
    { name: 'class and risk', work: (tool: ToolDefinition) => void classify(tool) },
    { name: 'whole account', work: (tool: ToolDefinition) => void assessTool(tool) },
    { name: 'poison check', work: (tool: ToolDefinition) => void inspectDefinition(tool as never) },
  ].map(({ name, work }) => ({ name, ...measure(tools, work) }))
  if (options.json) console.log(JSON.stringify({ tools: tools.length, measured }))
  else
    for (const { name, microseconds, medianMicroseconds, wholeMs } of measured)
      console.log(
        `${name.padEnd(16)} ${medianMicroseconds.toFixed(1).padStart(8)} µs of CPU a tool (median of ${ROUNDS} rounds), ${microseconds.toFixed(1)} at best, ${wholeMs.toFixed(0)} ms for ${tools.length}`,
      )
  return 0
}

/** CPU time of this thread: neither other programs nor the compiler's threads are measured. */
function measure(tools: readonly ToolDefinition[], work: (tool: ToolDefinition) => void) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.threadCpuUsage()
    for (const tool of tools) work(tool)
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }).sort((one, other) => one - other)
  const [best = 0] = rounds
  const median = rounds[ROUNDS / 2] ?? 0
  return {
    microseconds: best / tools.length,
    medianMicroseconds: median / tools.length,
    wholeMs: best / 1_000,
  }
}

function createDefinitions(): ToolDefinition[] {
  const verbs = ['get', 'list', 'create', 'update', 'delete', 'run', 'send', 'refund']
  return Array.from({ length: MADE }, (_, index) => {
    const verb = verbs[index % verbs.length]
    const properties = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [
        `field_${at}`,
        { type: 'string', description: `field ${at}` },
      ]),
    )
    return {
      server: 'made',
      name: `${verb}_thing_${index}`,
      description: `${verb} a thing of the number ${index}. ${'It has a text of some length. '.repeat(10)}`,
      inputSchema: { type: 'object', properties },
    }
  })
}
