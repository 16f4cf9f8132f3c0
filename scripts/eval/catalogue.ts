// `npm run eval -- catalogue --data FILE [--kept] [--compare] [--misses] [--write]`: learns the
// weights from the labels and the written definitions in the repository and scores them by
// leave-servers-out cross-validation. `--kept` scores the held-out fifth of the servers,
// `--compare` the other methods, `--write` puts the weights into packages/sluice/src/catalogue; the
// held-out fifth of the written ones is not used for training.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import {
  assessTool,
  CONFIDENCE_MIN,
} from '../../packages/sluice/src/catalogue/classify/classify.ts'
import type { Weights } from '../../packages/sluice/src/catalogue/classify/score.ts'
import {
  amountsOf,
  gatherSignals,
} from '../../packages/sluice/src/catalogue/signals/gather-signals.ts'
import type { RunOptions } from '../dispatch.ts'
import { compareMethods } from './catalogue/compare.ts'
import { type Labelled, readLabels, readTools } from './catalogue/data.ts'
import { faithfulness } from './catalogue/faithful.ts'
import { hintsScore } from './catalogue/hints.ts'
import { computeAgreement } from './catalogue/readers.ts'
import {
  buildReport,
  computeReliability,
  formatReport,
  type Report,
  type Verdict,
} from './catalogue/report.ts'
import { alike, assignFolds, FOLDS, isHeldOut } from './catalogue/split.ts'
import { type Example, train } from './catalogue/train.ts'
import { writeWeights } from './catalogue/write-weights.ts'
import { readWritten, WRITTEN_SHARE } from './catalogue/written.ts'

export function run(options: RunOptions): number {
  if (typeof options.data !== 'string') {
    console.error('usage: npm run eval -- catalogue --data FILE [--kept] [--compare] [--write]')
    return 2
  }
  const tools = readTools(options.data)
  const labels = readLabels(tools)
  const taught = labels.filter(({ tool }) => !isHeldOut(tool.server))
  const written = readWritten()
  const writtenTaught = written.filter(({ tool }) => !isHeldOut(tool.server))
  const verdicts = leaveServersOut(taught, writtenTaught)
  const result: Record<string, unknown> = {
    labels: { tools: labels.length, of: tools.length, ...computeAgreement(labels) },
    leftOut: buildReport(verdicts, CONFIDENCE_MIN),
    reliability: computeReliability(verdicts),
    writtenLeftOut: buildReport(leaveServersOut(writtenTaught, [], taught), CONFIDENCE_MIN),
  }
  if (options.kept === true) {
    const kept = labels.filter(({ tool }) => isHeldOut(tool.server))
    const weights = train([...toExamples(taught), ...toExamples(unlike(writtenTaught, kept), true)])
    const found = kept.map((label) => classifyLabelled(label, weights))
    result.kept = buildReport(found, CONFIDENCE_MIN)
    result.keptReliability = computeReliability(found)
  }
  const whole = train([...toExamples(labels), ...toExamples(writtenTaught, true)])
  if (options.kept === true)
    result.writtenKept = buildReport(
      written
        .filter(({ tool }) => isHeldOut(tool.server))
        .map((label) => classifyLabelled(label, whole)),
      CONFIDENCE_MIN,
    )
  if (options.write === true) writeWeights(whole)
  result.faithful = faithfulness(tools, whole)
  result.hints = hintsScore(tools)
  if (options.compare === true) result.compare = compareMethods(taught)
  if (options.misses === true)
    result.misses = verdicts
      .filter(({ truth, found }) => truth !== found)
      .map(({ id, truth, found }) => `${id}: ${truth}, called ${found}`)
  printResult(result, options.json)
  return 0
}

function printResult(result: Record<string, unknown>, json: boolean): void {
  if (json) return console.log(JSON.stringify(result, null, 2))
  for (const [name, value] of Object.entries(result))
    if (value !== null && typeof value === 'object' && 'table' in value)
      console.log(`${formatReport(name, value as Report)}\n`)
    else console.log(`${name}: ${JSON.stringify(value, null, 1)}\n`)
}

function toExamples(labels: readonly Labelled[], written = false): Example[] {
  return labels.map(({ tool, category }) => ({
    server: tool.server,
    category,
    amounts: amountsOf(gatherSignals(tool)),
    counts: written ? WRITTEN_SHARE : 1,
  }))
}

/** Those that share no product with the others. */
function unlike(labels: readonly Labelled[], others: readonly Labelled[]): Labelled[] {
  const servers = [...new Set(others.map(({ tool }) => tool.server))]
  const known = new Map<string, boolean>()
  return labels.filter(({ tool: { server } }) => {
    if (!known.has(server))
      known.set(server, !servers.some((other) => other === server || alike(server, other)))
    return known.get(server)
  })
}

/**
 * Each server is scored by weights that never saw it or its product, written or published: `beside`
 * are written definitions used for training as well, `published` real ones. The vendor's hints are
 * withheld.
 */
function leaveServersOut(
  labels: readonly Labelled[],
  beside: readonly Labelled[],
  published?: readonly Labelled[],
): Verdict[] {
  const folds = assignFolds([...new Set(labels.map(({ tool }) => tool.server))])
  return Array.from({ length: FOLDS }, (_, fold) => fold).flatMap((fold) => {
    const here = labels.filter(({ tool }) => folds.get(tool.server) === fold)
    const others = labels.filter(({ tool }) => folds.get(tool.server) !== fold)
    const weights = train([
      ...toExamples(others, published !== undefined),
      ...toExamples(unlike(beside, here), true),
      ...toExamples(unlike(published ?? [], here)),
    ])
    return here.map((label) => classifyLabelled(label, weights))
  })
}

function classifyLabelled({ tool, category, risk }: Labelled, weights: Weights): Verdict {
  const { annotations: _withheld, ...definition } = tool
  const found = assessTool(definition as ToolDefinition, weights)
  return {
    id: `${tool.server}/${tool.name}`,
    truth: category,
    found: found.category,
    confidence: found.confidence,
    rightRisk: found.risk === risk,
  }
}
