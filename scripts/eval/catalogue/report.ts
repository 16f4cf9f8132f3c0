// Reports a set of classifications: the confusion matrix, precision and recall of each category,
// read-or-not, and how many tools that change something were called Read.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'

export interface Verdict {
  readonly id: string
  readonly truth: Category
  readonly found: Category
  readonly confidence: number
  /** The category is a guess. */
  readonly unknown: boolean
  readonly rightRisk: boolean
}

export interface Report {
  readonly tools: number
  readonly accuracy: number
  readonly readOrNot: number
  /** Of the tools that change something, the share called Read. */
  readonly changeCalledRead: number
  /** The same without those whose category is a guess. */
  readonly changeKnownAsRead: number
  /** The share whose category is a guess. */
  readonly unknown: number
  readonly accuracyOfKnown: number
  readonly risk: number
  readonly table: Record<Category, Record<Category, number>>
  readonly classes: Record<Category, { precision: number; recall: number; tools: number }>
}

export function buildReport(verdicts: readonly Verdict[]): Report {
  const known = verdicts.filter(({ unknown }) => !unknown)
  const of = (truth: Category, found: Category) =>
    verdicts.filter((verdict) => verdict.truth === truth && verdict.found === found).length
  const table = Object.fromEntries(
    CATEGORIES.map((truth) => [
      truth,
      Object.fromEntries(CATEGORIES.map((found) => [found, of(truth, found)])),
    ]),
  ) as Report['table']
  const changing = verdicts.filter(({ truth }) => truth !== 'Read')
  const share = (part: number, whole: number) =>
    whole === 0 ? 1 : Math.round((part / whole) * 1_000) / 1_000
  const classes = Object.fromEntries(
    CATEGORIES.map((category) => {
      const right = table[category][category]
      const tools = verdicts.filter(({ truth }) => truth === category).length
      const called = verdicts.filter(({ found }) => found === category).length
      return [category, { precision: share(right, called), recall: share(right, tools), tools }]
    }),
  ) as Report['classes']
  return {
    tools: verdicts.length,
    accuracy: share(verdicts.filter(({ truth, found }) => truth === found).length, verdicts.length),
    readOrNot: share(
      verdicts.filter(({ truth, found }) => (truth === 'Read') === (found === 'Read')).length,
      verdicts.length,
    ),
    changeCalledRead: share(
      changing.filter(({ found }) => found === 'Read').length,
      changing.length,
    ),
    changeKnownAsRead: share(
      changing.filter(({ found, unknown }) => found === 'Read' && !unknown).length,
      changing.length,
    ),
    unknown: share(verdicts.length - known.length, verdicts.length),
    accuracyOfKnown: share(
      known.filter(({ truth, found }) => truth === found).length,
      known.length,
    ),
    risk: share(verdicts.filter(({ rightRisk }) => rightRisk).length, verdicts.length),
    table,
    classes,
  }
}

export function formatReport(title: string, report: Report): string {
  const head = ['', ...CATEGORIES.map((category) => category.slice(0, 6)), 'recall', 'precision']
  const rows = CATEGORIES.map((truth) => [
    truth,
    ...CATEGORIES.map((found) => String(report.table[truth][found])),
    report.classes[truth].recall.toFixed(3),
    report.classes[truth].precision.toFixed(3),
  ])
  const line = (cells: readonly string[]) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(12) : cell.padStart(9))).join('')
  return [
    `${title}: ${report.tools} tools, five classes ${report.accuracy}, read or not ${report.readOrNot}, changes called Read ${report.changeCalledRead}, known as Read ${report.changeKnownAsRead}, unknown ${report.unknown}, accuracy of the others ${report.accuracyOfKnown}, risk ${report.risk}`,
    line(head),
    ...rows.map(line),
  ].join('\n')
}

/** What the counts of a sample can show: the Wilson interval of 95 % for each goal. */
export function computeIntervals(verdicts: readonly Verdict[]): Record<string, string> {
  const changing = verdicts.filter(({ truth }) => truth !== 'Read')
  const money = verdicts.filter(({ truth }) => truth === 'Financial')
  const called = verdicts.filter(({ found }) => found === 'Financial')
  const isRight = ({ truth, found }: Verdict) => truth === found
  return {
    fiveClasses: describeShare(verdicts.filter(isRight).length, verdicts.length),
    financialFound: describeShare(money.filter(isRight).length, money.length),
    financialRight: describeShare(called.filter(isRight).length, called.length),
    changingKnownAsRead: describeShare(
      changing.filter(({ found, unknown }) => found === 'Read' && !unknown).length,
      changing.length,
    ),
  }
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.96

function describeShare(part: number, whole: number): string {
  if (whole === 0) return 'none'
  const share = part / whole
  const scale = 1 + Z ** 2 / whole
  const middle = (share + Z ** 2 / (2 * whole)) / scale
  const half = (Z * Math.sqrt((share * (1 - share)) / whole + Z ** 2 / (4 * whole ** 2))) / scale
  return `${part} of ${whole}, ${(middle - half).toFixed(3)} to ${(middle + half).toFixed(3)}`
}

interface Bin {
  readonly from: number
  readonly tools: number
  /** The average confidence, and the share that was right. */
  readonly confidence: number
  readonly right: number
}

const BINS = 10

/** What it costs that a Read needs so much confidence to be known. */
export function computeReadCurve(verdicts: readonly Verdict[]): readonly ReadCurvePoint[] {
  const changing = verdicts.filter(({ truth }) => truth !== 'Read')
  return READ_BARS.map((from) => {
    const isKnown = ({ found, confidence, unknown }: Verdict) =>
      found === 'Read' ? confidence >= from : !unknown
    const passed = changing.filter((verdict) => verdict.found === 'Read' && isKnown(verdict))
    const open = verdicts.filter((verdict) => !isKnown(verdict))
    const percent = (part: number, whole: number) => Math.round((part / whole) * 10_000) / 100
    return {
      from,
      changeKnownAsRead: percent(passed.length, changing.length),
      unknown: percent(open.length, verdicts.length),
    }
  })
}

const READ_BARS = [0.7, 0.8, 0.85, 0.88, 0.9, 0.91, 0.92, 0.93, 0.95, 0.97]

interface ReadCurvePoint {
  readonly from: number
  /** In per cent, of the tools that change something. */
  readonly changeKnownAsRead: number
  /** In per cent, of all. */
  readonly unknown: number
}

/** The reliability curve: how often a category is right, by its confidence. */
export function computeReliability(verdicts: readonly Verdict[]): Bin[] {
  return Array.from({ length: BINS }, (_, bin) => {
    const from = bin / BINS
    const here = verdicts.filter(
      ({ confidence }) => confidence >= from && (confidence < from + 1 / BINS || bin === BINS - 1),
    )
    const mean = (sum: number) =>
      here.length === 0 ? 0 : Math.round((sum / here.length) * 100) / 100
    return {
      from,
      tools: here.length,
      confidence: mean(here.reduce((sum, { confidence }) => sum + confidence, 0)),
      right: mean(here.filter(({ truth, found }) => truth === found).length),
    }
  }).filter(({ tools }) => tools > 0)
}
