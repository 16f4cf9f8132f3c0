// Compares the methods, each with whole servers left out: the signals with the lexicon as prior,
// words alone, and both together.

import { CATEGORIES } from '@sluice/policy/core/tools'
import { floorOf } from '../../../packages/sluice/src/catalogue/classify/floors.ts'
import { choose, sharesOf } from '../../../packages/sluice/src/catalogue/classify/score.ts'
import {
  amountsOf,
  gatherSignals,
} from '../../../packages/sluice/src/catalogue/signals/gather-signals.ts'
import type { Labelled } from './data.ts'
import { buildReport, type Report, type Verdict } from './report.ts'
import { assignFolds, FOLDS } from './split.ts'
import { type Example, PULL, train } from './train.ts'
import { isWord, keepShared, listWords } from './words-method.ts'

const WORDS_PULL_TIMES = 5
const METHODS = ['signals', 'words', 'both'] as const

export function compareMethods(labels: readonly Labelled[]): Record<string, Summary> {
  return Object.fromEntries(METHODS.map((method) => [method, scoreMethod(method, labels)]))
}

type Summary = Pick<Report, 'accuracy' | 'readOrNot' | 'changeCalledRead'> & {
  readonly recall: Record<string, number>
}

function scoreMethod(method: (typeof METHODS)[number], labels: readonly Labelled[]): Summary {
  const folds = assignFolds([...new Set(labels.map(({ tool }) => tool.server))])
  const examples = labels.map(({ tool, category }): Example => {
    const signals = method === 'words' ? [] : [...amountsOf(gatherSignals(tool))]
    const words = method === 'signals' ? [] : listWords(tool).map((word) => [word, 1] as const)
    return { server: tool.server, category, amounts: new Map([...signals, ...words]) }
  })
  const verdicts = Array.from({ length: FOLDS }, (_, fold) => fold).flatMap((fold): Verdict[] => {
    const teach = examples.filter(({ server }) => folds.get(server) !== fold)
    const weights = train(keepShared(teach), {
      ...(method === 'words' ? { known: [] } : {}),
      pull: (feature) => (method === 'both' && isWord(feature) ? WORDS_PULL_TIMES : 1) * PULL,
    })
    return examples
      .map((example, index) => ({ example, id: String(index) }))
      .filter(({ example }) => folds.get(example.server) === fold)
      .map(({ example: { category, amounts }, id }) => {
        const shares = sharesOf(weights, amounts)
        const weighed = choose(shares)
        const floor = floorOf(new Set(amounts.keys()))?.category ?? 'Read'
        const lifted = CATEGORIES.indexOf(floor) > CATEGORIES.indexOf(weighed)
        const found = lifted ? floor : weighed
        return { id, truth: category, found, confidence: 1, unknown: false, rightRisk: true }
      })
  })
  const { accuracy, readOrNot, changeCalledRead, classes } = buildReport(verdicts)
  const recall = Object.fromEntries(CATEGORIES.map((name) => [name, classes[name].recall]))
  return { accuracy, readOrNot, changeCalledRead, recall }
}
