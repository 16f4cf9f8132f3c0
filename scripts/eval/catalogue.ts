// `npm run eval -- catalogue --data FILE [--collected FILE] [--packages FILE] [--unseen FILE] [--money FILE] [--fresh FILE] [--deals FILE] [--kept] [--compare] [--misses] [--write]`:
// learns the weights from the labels and scores them by leave-servers-out cross-validation. `--data`
// are definitions of published servers, `--collected` of public repositories, the others as installed
// packages list them; the last part of `--fresh`, and `--deals`, teach nothing. `--kept` scores the held-out servers,
// `--compare` other methods, `--write` puts the weights into packages/sluice/src/catalogue.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { assessTool } from '../../packages/sluice/src/catalogue/classify/classify.ts'
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
  computeIntervals,
  computeReadCurve,
  computeReliability,
  formatReport,
  type Report,
  type Verdict,
} from './catalogue/report.ts'
import { alike, assignFolds, FOLDS, isHeldOut, partOfFresh } from './catalogue/split.ts'
import { type Example, train } from './catalogue/train.ts'
import { writeWeights } from './catalogue/write-weights.ts'
import { readWritten, WRITTEN_SHARE } from './catalogue/written.ts'

export function run(options: RunOptions): number {
  const { data } = options
  const hasAll = [options.packages, options.unseen, options.money, options.fresh].every(
    (file) => typeof file === 'string',
  )
  if (typeof data !== 'string' || (options.write === true && !hasAll)) {
    console.error(USAGE)
    return 2
  }
  const tools = readTools(data)
  const labels = readLabels(tools)
  const taught = labels.filter(({ tool }) => !isHeldOut(tool.server))
  const collected = readOptional(options.collected, 'collected.tsv')
  const fresh = readOptional(options.fresh, 'fresh.tsv')
  const freshTaught = fresh.filter(({ tool }) => partOfFresh(tool.server) !== 'last')
  const deals = readOptional(options.deals, 'deals.tsv')
  const written = readWritten()
  const writtenTaught = written.filter(({ tool }) => !isHeldOut(tool.server))
  const listed = [
    ...readOptional(options.packages, 'packages.tsv'),
    ...readOptional(options.unseen, 'unseen.tsv'),
    ...readOptional(options.money, 'money.tsv'),
    ...freshTaught,
  ]
  const verdicts = leaveServersOut(taught, {
    real: [...collected, ...listed],
    written: writtenTaught,
  })
  const collectedVerdicts = leaveServersOut(collected, {
    real: [...taught, ...listed],
    written: writtenTaught,
  })
  const listedVerdicts = leaveServersOut(listed, {
    real: [...labels, ...collected],
    written: writtenTaught,
  })
  const writtenVerdicts = leaveServersOut(writtenTaught, {
    real: [...taught, ...collected, ...listed],
    written: [],
    isWritten: true,
  })
  const result: Record<string, unknown> = {
    labels: { tools: labels.length, of: tools.length, ...computeAgreement(labels) },
    leftOut: buildReport(verdicts),
    reliability: computeReliability(verdicts),
    collectedLabels: { tools: collected.length, ...computeAgreement(collected) },
    collectedLeftOut: buildReport(collectedVerdicts),
    freshLabels: { tools: fresh.length, ...computeAgreement(fresh) },
    dealsLabels: { tools: deals.length, ...computeAgreement(deals) },
    packagesLeftOut: buildReport(listedVerdicts),
    writtenLeftOut: buildReport(writtenVerdicts),
    readCurve: computeReadCurve([...verdicts, ...collectedVerdicts, ...listedVerdicts]),
  }
  const whole = train([
    ...toExamples([...labels, ...collected, ...listed]),
    ...toExamples(writtenTaught, true),
  ])
  const score = (sample: readonly Labelled[], real: readonly Labelled[], withHints = false) => {
    const weights = train([
      ...toExamples(unlike(real, sample)),
      ...toExamples(unlike(writtenTaught, sample), true),
    ])
    return sample.map((label) => classifyLabelled(label, weights, withHints))
  }
  if (options.kept === true) {
    const heldOut = labels.filter(({ tool }) => isHeldOut(tool.server))
    const found = score(heldOut, [...taught, ...collected, ...listed])
    result.kept = buildReport(found)
    result.keptReliability = computeReliability(found)
    const freshKept = fresh.filter(({ tool }) => partOfFresh(tool.server) === 'last')
    const real = [...labels, ...collected, ...listed]
    const freshFound = score(freshKept, real)
    result.freshKept = buildReport(freshFound)
    result.freshKeptIntervals = computeIntervals(freshFound)
    result.freshKeptReliability = computeReliability(freshFound)
    result.freshKeptWithHints = buildReport(score(freshKept, real, true))
    const dealsFound = score(deals, real)
    result.deals = buildReport(dealsFound)
    result.dealsIntervals = computeIntervals(dealsFound)
    const writtenKept = written.filter(({ tool }) => isHeldOut(tool.server))
    const writtenFound = writtenKept.map((label) => classifyLabelled(label, whole))
    result.writtenKept = buildReport(writtenFound)
  }
  if (options.write === true) writeWeights(whole)
  result.faithful = faithfulness(tools, whole)
  result.hints = hintsScore(tools)
  if (options.compare === true) result.compare = compareMethods([...taught, ...collected])
  if (options.misses === true)
    result.misses = [...verdicts, ...collectedVerdicts, ...listedVerdicts]
      .filter(({ truth, found }) => truth !== found)
      .map(({ id, truth, found }) => `${id}: ${truth}, called ${found}`)
  printResult(result, options.json)
  return 0
}

const USAGE =
  'usage: npm run eval -- catalogue --data FILE [--collected FILE] [--packages FILE] [--unseen FILE] [--money FILE] [--fresh FILE] [--deals FILE] [--kept] [--compare] [--misses] [--write]; --write needs all but --collected and --deals'

function readOptional(file: unknown, labels: string): Labelled[] {
  return typeof file === 'string' ? readLabels(readTools(file), labels) : []
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

interface Others {
  /** Definitions of other servers that are used for training as well. */
  readonly real: readonly Labelled[]
  readonly written: readonly Labelled[]
  /** The scored ones are written themselves. */
  readonly isWritten?: boolean
}

/**
 * Each server is scored by weights that never saw it or its product. The vendor's hints are
 * withheld.
 */
function leaveServersOut(
  labels: readonly Labelled[],
  { real, written, isWritten = false }: Others,
): Verdict[] {
  const folds = assignFolds([...new Set(labels.map(({ tool }) => tool.server))])
  return Array.from({ length: FOLDS }, (_, fold) => fold).flatMap((fold) => {
    const here = labels.filter(({ tool }) => folds.get(tool.server) === fold)
    if (here.length === 0) return []
    const others = labels.filter(({ tool }) => folds.get(tool.server) !== fold)
    const weights = train([
      ...toExamples(others, isWritten),
      ...toExamples(unlike(real, here)),
      ...toExamples(unlike(written, here), true),
    ])
    return here.map((label) => classifyLabelled(label, weights))
  })
}

function classifyLabelled(
  { tool, category, risk }: Labelled,
  weights: Weights,
  withHints = false,
): Verdict {
  const { annotations: _withheld, ...definition } = tool
  const assessment = assessTool(withHints ? tool : (definition as ToolDefinition), weights)
  return {
    id: `${tool.server}/${tool.name}`,
    truth: category,
    found: assessment.category,
    confidence: assessment.confidence,
    unknown: assessment.unknown,
    rightRisk: assessment.risk === risk,
  }
}
