// `npm run eval -- classify --data FILE [--verbose]`: how well the shipped classifier does on tools that somebody else
// has labelled. FILE is a JSON array of definitions, each with `server`, `name`, `category` and, if known, `risk`.
// Nothing is learnt from them. `--verbose` prints each tool that is classified otherwise.

import { readFileSync } from 'node:fs'
import { CATEGORIES, RISKS, type ToolDefinition } from '@sluice/policy/calls/tools'
import { classify } from '../../packages/catalogue/src/classify/classify.ts'
import type { RunOptions } from '../dispatch.ts'

interface LabelledTool extends ToolDefinition {
  readonly category: string
  /** One, or several that are all right. */
  readonly risk?: string | readonly string[]
}

export function run({ data, verbose }: RunOptions): number {
  if (typeof data !== 'string') {
    console.error('eval: `--data FILE` is missing: a JSON array of tools with `category`')
    return 1
  }
  const tools = JSON.parse(readFileSync(data, 'utf8')) as LabelledTool[]
  const wrong = tools.find(({ category }) => !CATEGORIES.some((known) => known === category))
  if (wrong !== undefined) {
    console.error(
      `eval: ${wrong.server}/${wrong.name} has the category \`${wrong.category}\`: it is one of ${CATEGORIES.join(', ')}`,
    )
    return 1
  }
  const judged = tools.map(({ category, risk, ...definition }) => {
    const found = classify(definition)
    const id = `${definition.server}/${definition.name}`
    return { id, category, risks: risk === undefined ? [] : [risk].flat(), found }
  })
  const milder = judged.filter(({ category, found }) => rank(found.category) < rank(category))
  print('category', judged, ({ category, found }) => category === found.category)
  print('milder than labelled', judged, (one) => milder.includes(one))
  print('known not to be certain', judged, ({ found }) => found.unknown === true)
  const rated = judged.filter(({ risks }) => risks.length > 0)
  print('risk', rated, ({ risks, found }) => risks.includes(found.risk))
  print('risk within one step', rated, ({ risks, found }) =>
    risks.some((risk) => Math.abs(step(risk) - step(found.risk)) <= 1),
  )
  for (const known of CATEGORIES)
    print(
      `  ${known}`,
      judged.filter(({ category }) => category === known),
      ({ found }) => found.category === known,
    )
  if (verbose !== undefined)
    for (const { id, category, found } of judged)
      if (category !== found.category) console.log(`${id}: ${category}, found ${found.category}`)
  return 0
}

function rank(category: string): number {
  return (CATEGORIES as readonly string[]).indexOf(category)
}

function step(risk: string): number {
  return (RISKS as readonly string[]).indexOf(risk)
}

function print<Judged>(name: string, of: readonly Judged[], isSo: (one: Judged) => boolean): void {
  const count = of.filter(isSo).length
  const share = of.length === 0 ? '–' : `${((100 * count) / of.length).toFixed(1)} %`
  console.log(`${name.padEnd(26)} ${count} of ${of.length} (${share})`)
}
