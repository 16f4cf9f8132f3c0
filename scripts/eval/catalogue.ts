// `npm run eval -- catalogue --data FILE --labels FILE [--intercept FILE] [--write] [--misses]`: learns
// the weights from the labels, and scores them with whole servers left out. `--write` puts the weights
// into src/catalogue. With `--data` alone it scores the shipped weights against the vendors' hints.

import { account } from '../../src/catalogue/classify.ts'
import { amountsOf, gatherSignals } from '../../src/catalogue/gather-signals.ts'
import type { Weights } from '../../src/catalogue/score.ts'
import type { ToolDefinition } from '../../src/core/tools.ts'
import type { RunOptions } from '../dispatch.ts'
import { type Labelled, readLabels, readTools } from './catalogue/data.ts'
import { faithfulness } from './catalogue/faithful.ts'
import { hintsScore } from './catalogue/hints.ts'
import { type Report, reportOf, tellReport, type Verdict } from './catalogue/report.ts'
import { type Example, train } from './catalogue/train.ts'
import { writeWeights } from './catalogue/write-weights.ts'

export function run(options: RunOptions): number {
  if (typeof options.data !== 'string') {
    console.error('usage: npm run eval -- catalogue --data FILE [--labels FILE] [--intercept FILE]')
    return 2
  }
  const tools = readTools(options.data)
  const result: Record<string, unknown> = { hints: hintsScore(tools), speed: speedOf(tools) }
  if (typeof options.labels === 'string') {
    const labels = readLabels(options.labels, tools)
    const whole = train(labels.map(exampleOf))
    if (options.write === true) writeWeights(whole)
    const verdicts = leaveServersOut(labels)
    result.leftOut = reportOf(verdicts)
    result.agreement = agreementOf(labels)
    result.risk = riskOf(labels, whole)
    result.faithful = faithfulness(tools, whole)
    if (options.misses === true)
      result.misses = verdicts
        .filter(({ truth, found }) => truth !== found)
        .map(({ id, truth, found }) => `${id}: ${truth}, called ${found}`)
  }
  if (typeof options.intercept === 'string')
    result.intercept = reportOf(
      readLabels(options.intercept, []).map(({ tool, category }) => verdictOf(tool, category)),
    )
  tell(result, options.json)
  return 0
}

function tell(result: Record<string, unknown>, json: boolean): void {
  if (json) return console.log(JSON.stringify(result, null, 2))
  for (const [name, value] of Object.entries(result))
    if (value !== null && typeof value === 'object' && 'table' in value)
      console.log(`${tellReport(name, value as Report)}\n`)
    else console.log(`${name}: ${JSON.stringify(value, null, 1)}\n`)
}

function exampleOf({ tool, category }: Labelled): Example {
  return {
    server: tool.server,
    name: tool.name,
    category,
    amounts: amountsOf(gatherSignals(tool)),
  }
}

/** Each server is judged by weights that never saw it. The vendor's hints are withheld. */
function leaveServersOut(labels: readonly Labelled[]): Verdict[] {
  const examples = labels.map(exampleOf)
  return [...new Set(labels.map(({ tool }) => tool.server))].sort().flatMap((server) => {
    const weights = train(examples.filter((example) => example.server !== server))
    return labels
      .filter(({ tool }) => tool.server === server)
      .map(({ tool, category }) => verdictOf(tool, category, weights))
  })
}

function verdictOf(tool: ToolDefinition, truth: Verdict['truth'], weights?: Weights): Verdict {
  const { annotations: _withheld, ...definition } = tool
  const { category } = account(definition, weights)
  return { id: `${tool.server}/${tool.name}`, truth, found: category }
}

function agreementOf(labels: readonly Labelled[]): { twice: number; agreed: number } {
  const twice = labels.filter(({ first, second }) => first !== undefined && second !== undefined)
  return {
    twice: twice.length,
    agreed: twice.filter(({ first, second }) => first === second).length,
  }
}

/** Labels with a list of risks that would all be right. */
function riskOf(labels: readonly Labelled[], weights: Weights): { tools: number; right: number } {
  const rated = labels.filter(({ risk }) => risk !== undefined)
  const right = rated.filter(({ tool, risk }) => risk?.includes(account(tool, weights).risk))
  return { tools: rated.length, right: right.length }
}

function speedOf(tools: readonly ToolDefinition[]): { wholeMs: number; microsecondsATool: number } {
  for (const tool of tools) account(tool)
  const start = performance.now()
  for (const tool of tools) account(tool)
  const wholeMs = performance.now() - start
  return {
    wholeMs: Math.round(wholeMs),
    microsecondsATool: Math.round((wholeMs * 1_000) / tools.length),
  }
}
