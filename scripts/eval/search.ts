// `npm run eval -- search --tools FILE [--seed N] [--verbose]`: how often a question in a user's words finds its tool
// (`search/questions.json`) among all definitions of FILE and at gates of 100 to 1,000 tools; attacks by stuffed
// descriptions and copies; and the tokens of definitions, signatures and the tools of a mode. FILE is a JSON array of
// definitions with `server`. A hit is that very tool; equivalents of other servers count as misses. Exit code 1 below
// the figures that the documentation publishes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { runSteps } from '@sluice/policy/structures/steps'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { writeSignature } from '../../packages/catalogue/src/search/signature.ts'
import {
  indexTools,
  rankTools as rankInSteps,
  readToolTerms,
  type ToolTerms,
} from '../../packages/catalogue/src/search/tool-index.ts'
import { Random } from '../../test/fuzz/mutate.ts'
import type { RunOptions } from '../dispatch.ts'
import { ROOT } from '../run-step.ts'

function rankTools(terms: readonly ToolTerms[], query: string, limit: number): number[] {
  return runSteps(rankInSteps(runSteps(indexTools(terms)), query, limit))
}

interface Question {
  readonly server: string
  readonly tool: string
  readonly question: string
}

interface Entry {
  readonly tool: ToolDefinition
  readonly terms: ToolTerms
}

const RANKS = [1, 5, 10, 20]
const SIZES = [100, 250, 500, 1_000]
const DRAWS = 5
/** What is published: recall@10 over all definitions and at 250 tools, in per cent; tokens. */
const FLOORS = { all: 80, at250: 88, resultTokens: 700 }

export function run({ tools: file, set = 'questions', seed, verbose }: RunOptions): number {
  if (typeof file !== 'string') {
    console.error('usage: npm run eval -- search --tools FILE [--seed N] [--verbose]')
    return 2
  }
  const tools = JSON.parse(readFileSync(file, 'utf8')) as ToolDefinition[]
  const questions = JSON.parse(
    readFileSync(join(ROOT, `scripts/eval/search/${set}.json`), 'utf8'),
  ) as Question[]
  const entries = tools.map((tool) => ({ tool, terms: readToolTerms(tool) }))
  const random = new Random(Number(seed ?? 1))
  const ranks = questions.map((question) => rankOf(entries, question))
  console.log(`${tools.length} tools, ${questions.length} questions`)
  const all = report('all tools', ranks)
  if (verbose)
    for (const [at, { server, tool, question }] of questions.entries())
      if ((ranks[at] ?? 0) > 10) console.log(`  ${ranks[at]} ${server}/${tool}: ${question}`)
  const atSizes = SIZES.map((size) => {
    const drawn = questions.flatMap((question) =>
      Array.from({ length: DRAWS }, () =>
        rankOf(drawGate(entries, question, size, random), question),
      ),
    )
    return report(`${size} tools`, drawn)
  })
  reportAttacks(entries, questions)
  const resultTokens = reportTokens(entries, questions)
  const at250 = atSizes[SIZES.indexOf(250)] ?? 0
  const holds = all >= FLOORS.all && at250 >= FLOORS.at250 && resultTokens <= FLOORS.resultTokens
  return holds ? 0 : 1
}

/** From 1; infinite if it is not among the first 20. */
function rankOf(entries: readonly Entry[], { server, tool, question }: Question): number {
  const terms = entries.map((entry) => entry.terms)
  const found = rankTools(terms, question, Math.max(...RANKS))
  const at = found.findIndex((place) => {
    const entry = entries[place]?.tool
    return entry?.server === server && entry.name === tool
  })
  return at < 0 ? Number.POSITIVE_INFINITY : at + 1
}

/** The server of the question and random others, until there are `size` tools. */
function drawGate(
  entries: readonly Entry[],
  { server, tool }: Question,
  size: number,
  random: Random,
): Entry[] {
  const own = entries.filter((entry) => entry.tool.server === server)
  const right = own.filter((entry) => entry.tool.name === tool)
  const servers = [...new Set(entries.map((entry) => entry.tool.server))]
    .filter((each) => each !== server)
    .map((each) => ({ each, at: random.next(2 ** 30) }))
    .sort((one, other) => one.at - other.at)
  const drawn = [...right, ...own.filter((entry) => !right.includes(entry))]
  for (const { each } of servers) {
    if (drawn.length >= size) break
    drawn.push(...entries.filter((entry) => entry.tool.server === each))
  }
  return drawn.slice(0, size)
}

/** Recall@10 in per cent. */
function report(name: string, ranks: readonly number[]): number {
  const shares = RANKS.map((most) => ranks.filter((rank) => rank <= most).length / ranks.length)
  const texts = RANKS.map((most, at) => `@${most} ${percent(shares[at] ?? 0)}`)
  const [low, high] = wilson(shares[2] ?? 0, ranks.length)
  console.log(`${name}: ${texts.join(', ')}; @10 within ${percent(low)} to ${percent(high)}`)
  return (shares[2] ?? 0) * 100
}

/** The 95 % interval of a share. */
function wilson(share: number, count: number): [number, number] {
  const z = 1.96
  const middle = share + z ** 2 / (2 * count)
  const width = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2))
  const scale = 1 + z ** 2 / count
  return [(middle - width) / scale, (middle + width) / scale]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

/** How often a foreign server's tools, written to be found for everything, are first or among the ten. */
function reportAttacks(entries: readonly Entry[], questions: readonly Question[]): void {
  const counts = new Map<string, number>()
  for (const { terms } of entries)
    for (const term of terms.counts.keys()) counts.set(term, (counts.get(term) ?? 0) + 1)
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([term]) => term)
  const words = (count: number, from = 0): string => frequent.slice(from, from + count).join(' ')
  const foreign = (about: Partial<ToolDefinition>) => ({ server: 'foreign', name: 'run', ...about })
  const attacks: Record<string, ToolDefinition[]> = {
    '3,000 words in a description': [foreign({ description: words(3_000) })],
    '60 words in a title': [foreign({ title: words(60) })],
    '300 words in a title': [foreign({ title: words(300) })],
    '100 tools of 30 words': Array.from({ length: 100 }, (_, at) =>
      foreign({ name: `run${at}`, description: words(30, at * 30) }),
    ),
    'copies of the 200 tools': questions.flatMap(({ server, tool }) =>
      entries
        .filter((entry) => entry.tool.server === server && entry.tool.name === tool)
        .map((entry) => ({ ...entry.tool, server: 'foreign' })),
    ),
  }
  for (const [name, tools] of Object.entries(attacks)) {
    const added = tools.map((tool) => ({ tool, terms: readToolTerms(tool) }))
    const all = [...entries, ...added]
    const terms = all.map((entry) => entry.terms)
    const found = questions.map(({ question }) => rankTools(terms, question, 10))
    const isForeign = (at: number | undefined) => all[at ?? -1]?.tool.server === 'foreign'
    const first = found.filter(([at]) => isForeign(at)).length
    const among = found.filter((places) => places.some(isForeign)).length
    console.log(`attack, ${name}: first in ${first}, among the ten in ${among}`)
  }
}

/** The mean tokens of ten results. */
function reportTokens(entries: readonly Entry[], questions: readonly Question[]): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length
  const { length } = entries
  const signatures = entries.map(({ tool }) => writeSignature(`${tool.server}__${tool.name}`, tool))
  const definitions = entries.map(({ tool: { server: _server, ...own } }) => JSON.stringify(own))
  const ofSignatures = mean(signatures.map((text) => countTokens(text)))
  const ofDefinitions = mean(definitions.map((text) => countTokens(text)))
  console.log(
    `tokens, mean of ${length}: definition ${ofDefinitions.toFixed(0)}, signature ${ofSignatures.toFixed(0)}`,
  )
  const terms = entries.map((entry) => entry.terms)
  const results = questions.map(({ question }) =>
    countTokens(
      rankTools(terms, question, 10)
        .map((at) => signatures[at])
        .join('\n'),
    ),
  )
  const sorted = [...results].sort((a, b) => a - b)
  console.log(
    `tokens of ten results: mean ${mean(results).toFixed(0)}, p90 ${sorted[Math.floor(sorted.length * 0.9)]}`,
  )
  return mean(results)
}
