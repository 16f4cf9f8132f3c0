// `npm run eval -- catalogue --data FILE --packages FILE [--misses] [--write]`: learns weights and
// network from the labels and scores them with servers left out. `--data` are the definitions of
// published servers, `--packages` those of all other labelled servers, as their packages list them;
// those of actions.tsv and recent.tsv teach nothing. `--write` puts the numbers into packages/sluice/src/catalogue.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { assessTool } from '../../packages/catalogue/src/classify/classify.ts'
import { Network } from '../../packages/catalogue/src/classify/network.ts'
import type { Model } from '../../packages/catalogue/src/classify/score.ts'
import { amountsOf, gatherSignals } from '../../packages/catalogue/src/signals/gather-signals.ts'
import type { RunOptions } from '../dispatch.ts'
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
import { alike, assignFolds, FOLDS, isHeldOut } from './catalogue/split.ts'
import { type Example, train } from './catalogue/train.ts'
import { trainNetwork } from './catalogue/train-network.ts'
import { type LearntModel, writeModel } from './catalogue/write-model.ts'
import { readWritten, WRITTEN_SHARE } from './catalogue/written.ts'

/** Labels of servers whose packages were installed or collected; all of them teach. */
const TAUGHT = ['collected', 'packages', 'unseen', 'money', 'fresh', 'deals']
/** Labels that teach nothing: what to expect of a server that nobody here has seen. */
const UNSEEN: readonly string[] = ['actions', 'recent']

export function run(options: RunOptions): number {
  const { data, packages } = options
  if (typeof data !== 'string' || typeof packages !== 'string') {
    console.error(
      'usage: npm run eval -- catalogue --data FILE --packages FILE [--misses] [--write]',
    )
    return 2
  }
  const tools = readTools(data)
  const installed = readTools(packages)
  const sets = new Map([
    ['published', readLabels(tools)],
    ...[...TAUGHT, ...UNSEEN].map(
      (name) => [name, readLabels(installed, `${name}.tsv`)] as [string, Labelled[]],
    ),
  ])
  const result: Record<string, unknown> = {}
  const verdicts = leaveServersOut(sets)
  for (const [name, labels] of sets) {
    const own = labels.map((label) => verdicts.get(label) as Scored)
    if (own.length > 0) Object.assign(result, describeSet(name, labels, own))
  }
  const kept = (sets.get('published') as Labelled[]).filter(({ tool }) => isHeldOut(tool.server))
  result['published, the kept fifth'] = buildReport(
    kept.map((label) => (verdicts.get(label) as Scored).verdict),
  )
  const taught = listTaught(sets)
  const all = taught.map((label) => (verdicts.get(label) as Scored).verdict)
  result.reliability = computeReliability(all)
  result.readCurve = computeReadCurve(all)
  const model = learn(taught, readSynthetic())
  if (options.write === true) writeModel(model)
  result.faithful = faithfulness(tools, model)
  result.hints = hintsScore(tools)
  if (options.misses === true)
    result.misses = all
      .filter(({ truth, found }) => truth !== found)
      .map(({ id, truth, found }) => `${id}: ${truth}, called ${found}`)
  printResult(result, options.json)
  return 0
}

function describeSet(
  name: string,
  labels: readonly Labelled[],
  scored: readonly Scored[],
): Record<string, unknown> {
  const verdicts = scored.map(({ verdict }) => verdict)
  const { accuracy, classes, changeKnownAsRead } = buildReport(
    scored.map(({ byWeights }) => byWeights),
  )
  return {
    [name]: buildReport(verdicts),
    [`${name}, by the weights alone`]: {
      accuracy,
      financial: classes.Financial,
      changeKnownAsRead,
    },
    [`${name}, intervals`]: computeIntervals(verdicts),
    [`${name}, readers`]: computeAgreement(labels),
    [`${name}, reliability`]: computeReliability(verdicts),
  }
}

function printResult(result: Record<string, unknown>, json: boolean): void {
  if (json) return console.log(JSON.stringify(result, null, 2))
  for (const [name, value] of Object.entries(result))
    if (value !== null && typeof value === 'object' && 'table' in value)
      console.log(`${formatReport(name, value as Report)}\n`)
    else console.log(`${name}: ${JSON.stringify(value, null, 1)}\n`)
}

function listTaught(sets: ReadonlyMap<string, readonly Labelled[]>): Labelled[] {
  return [...sets].flatMap(([name, labels]) => (UNSEEN.includes(name) ? [] : labels))
}

interface Synthetic {
  readonly written: readonly Labelled[]
  readonly invented: readonly Labelled[]
}

function readSynthetic(): Synthetic {
  return { written: readWritten(), invented: readWritten('invented.tsv') }
}

/** Invented servers teach the network alone: their mix of classes is not that of real ones. */
function learn(real: readonly Labelled[], { written, invented }: Synthetic): LearntModel {
  const examples = [...toExamples(real), ...toExamples(written, WRITTEN_SHARE)]
  const data = trainNetwork([...examples, ...toExamples(invented)])
  return { weights: train(examples), network: new Network(data), data }
}

function toExamples(labels: readonly Labelled[], counts = 1): Example[] {
  return labels.map(({ tool, category }) => ({
    tool,
    category,
    amounts: amountsOf(gatherSignals(tool)),
    counts,
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

interface Scored {
  readonly verdict: Verdict
  /** Without the network. */
  readonly byWeights: Verdict
}

/**
 * Each server is scored by a model that never saw it or its product. The vendor's hints are withheld.
 */
function leaveServersOut(
  sets: ReadonlyMap<string, readonly Labelled[]>,
): ReadonlyMap<Labelled, Scored> {
  const labels = [...sets.values()].flat()
  const taught = listTaught(sets)
  const { written, invented } = readSynthetic()
  const folds = assignFolds([...new Set(labels.map(({ tool }) => tool.server))])
  const scored = new Map<Labelled, Scored>()
  for (let fold = 0; fold < FOLDS; fold++) {
    const here = labels.filter(({ tool }) => folds.get(tool.server) === fold)
    const others = taught.filter(({ tool }) => folds.get(tool.server) !== fold)
    const model = learn(others, {
      written: unlike(written, here),
      invented: unlike(invented, here),
    })
    for (const label of here)
      scored.set(label, {
        verdict: classifyLabelled(label, model),
        byWeights: classifyLabelled(label, { weights: model.weights }),
      })
  }
  return scored
}

function classifyLabelled({ tool, category, risk }: Labelled, model: Model): Verdict {
  const { annotations: _withheld, ...definition } = tool
  const assessment = assessTool(definition as ToolDefinition, model)
  return {
    id: `${tool.server}/${tool.name}`,
    truth: category,
    found: assessment.category,
    confidence: assessment.confidence,
    unknown: assessment.unknown,
    rightRisk: assessment.risk === risk,
  }
}
