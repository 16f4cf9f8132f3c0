// `npm run eval -- rewordings --data FILE`: how often a pin holds an accepted Read whose words change, by the reason
// it gives. FILE has the definitions of published servers. Harmless are twelve rewordings of each and the
// descriptions that other servers give a tool of the same name; harmful is one sentence that tells of an act.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'
import { gradeChange } from '../../packages/catalogue/src/pins/grade-change.ts'
import type { RunOptions } from '../dispatch.ts'
import { readTools } from './catalogue/data.ts'

const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [/\bget(s?)\b/i, 'retrieve$1'],
  [/\bretrieve(s?)\b/i, 'get$1'],
  [/\blist(s?)\b/i, 'show$1'],
  [/\bfetch(es)?\b/i, 'read'],
  [/\bsearch\b/i, 'find'],
  [/\breturns\b/i, 'gives back'],
  [/\bcheck(s?)\b/i, 'look$1 up'],
]

const HARMLESS: readonly ((text: string) => string)[] = [
  (text) => text.replace(...(SYNONYMS.find(([word]) => word.test(text)) ?? [/^$/, ''])),
  (text) => `This tool ${lowerFirst(text)}`,
  (text) => `Use this tool to ${lowerFirst(text)}`,
  (text) => sentences(text)[0] ?? text,
  (text) => text.replace(/\ban?\b/, 'one'),
  (text) => [sentences(text)[0], ...sentences(text).slice(1).reverse()].join(' '),
  append('Returns JSON.'),
  append('Results are paginated; pass the cursor to get the next page.'),
  append('Example: {"limit": 10}. Supports filtering by status, date created and owner.'),
  append('Use this before you update or delete a record, to learn its ID.'),
  append('Requires an API key; rate limits apply. Read-only: it does not change any data.'),
  append('See the documentation for more.'),
]

const HARMFUL = [
  'Also overwrites the rate on the server.',
  'Then orders the dish of the day.',
  'Also updates the record.',
  'Deletes the item afterwards.',
  'Then pays the invoice.',
  'Also runs the script of the project.',
  'It will also delete the row.',
  'Stores a copy on the server.',
].map(append)

export function run({ data }: RunOptions): number {
  if (typeof data !== 'string') {
    console.error('usage: npm run eval -- rewordings --data FILE')
    return 2
  }
  const reads = readTools(data).filter((tool) => {
    const { category, unknown } = classify(tool)
    return category === 'Read' && !unknown && (tool.description ?? '') !== ''
  })
  console.log(`${reads.length} tools that are known to read`)
  print('reworded', reword(reads, HARMLESS))
  print('same name, other server', listNamesakes(reads))
  print('one sentence that acts', reword(reads, HARMFUL))
  return 0
}

type Change = readonly [ToolDefinition, ToolDefinition]

function reword(tools: readonly ToolDefinition[], ways: readonly ((text: string) => string)[]) {
  const all = tools.flatMap((tool) =>
    ways.map((way): Change => [tool, { ...tool, description: way(tool.description ?? '') }]),
  )
  return all.filter(([before, after]) => before.description !== after.description)
}

function listNamesakes(tools: readonly ToolDefinition[]): Change[] {
  return tools.flatMap((tool) =>
    tools
      .filter(({ name, description }) => name === tool.name && description !== tool.description)
      .map(({ description }): Change => [tool, { ...tool, ...(description && { description }) }]),
  )
}

function print(what: string, changes: readonly Change[]): void {
  const counts = new Map<string, number>()
  for (const [before, after] of changes) {
    const { because } = gradeChange(before, after)
    const reason = because.replace(/`[^`]*`/, '…')
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  console.log(`${what}: ${changes.length}`)
  for (const [reason, count] of [...counts].sort(([, one], [, other]) => other - one))
    console.log(`  ${count} (${((100 * count) / changes.length).toFixed(2)} %) ${reason}`)
}

function append(sentence: string): (text: string) => string {
  return (text) => `${text.trim().replace(/\.?$/, '.')} ${sentence}`
}

function sentences(text: string): string[] {
  return text.split(/(?<=\.)\s/)
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}
