// Scores the guard's detectors on labelled texts: recall by kind, and false alarms of the kinds that may
// deny. Files of texts have a broken bar inside of long words, so that no file holds a whole secret.

import { readFileSync } from 'node:fs'
import { BLOCKING_KINDS, type DataKind } from '@sluice/policy/calls/data-kinds'
import { runSteps } from '@sluice/policy/structures/steps'
import { locateDataSteps } from '../../packages/guard/src/locate-data.ts'
import { newScanBudget } from '../../packages/guard/src/patterns.ts'

interface LabelledText {
  readonly kind: string
  readonly group?: DataKind
  readonly text: string
}

interface KindRecall {
  readonly kind: string
  found: number
  of: number
}

export interface HarmlessScore {
  readonly name: string
  readonly of: number
  /** The kind that was found, and the text around it. */
  readonly alarms: readonly string[]
  /** Upper 95 % bound of the rate, by Clopper and Pearson. */
  readonly bound: number
}

export interface DetectorScore {
  readonly recall: readonly KindRecall[]
  readonly harmless: readonly HarmlessScore[]
}

const FOLDER = new URL('../cases/detectors/', import.meta.url)

export const DETECTOR_FILES = {
  sensitive: 'sensitive.jsonl',
  harmless: ['harmless.jsonl', 'harmless-held-out.jsonl'],
}

/** What the guard finds in a text, at once. */
export function locateData(text: string, kinds: ReadonlySet<DataKind>, budget = newScanBudget()) {
  return runSteps(locateDataSteps(text, kinds, budget))
}

export function scoreDetectors(files: typeof DETECTOR_FILES): DetectorScore {
  const recall = new Map<string, KindRecall>()
  for (const { kind, group, text } of readTexts(files.sensitive)) {
    const row = recall.get(kind) ?? { kind, found: 0, of: 0 }
    row.of++
    const matches = locateData(text, new Set([group as DataKind]))
    if (matches === undefined || matches.length > 0) row.found++
    recall.set(kind, row)
  }
  const textsOf = (name: string) => readTexts(name).map(({ text }) => text)
  const harmless = files.harmless.map((name) => scoreHarmless(name, textsOf(name)))
  harmless.push(scoreHarmless('all', files.harmless.flatMap(textsOf)))
  return { recall: [...recall.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1)), harmless }
}

export function scoreHarmless(name: string, texts: readonly string[]): HarmlessScore {
  const alarms = texts.flatMap((text) => {
    const [first] = locateData(text, new Set(BLOCKING_KINDS)) ?? [TOO_LARGE]
    if (first === undefined) return []
    return [`${first.kind}: ${text.slice(Math.max(0, first.start - 40), first.start + 40)}`]
  })
  return { name, of: texts.length, alarms, bound: upperBound(alarms.length, texts.length) }
}

const TOO_LARGE = { kind: 'too large', start: 0 }

export function readTexts(file: string): LabelledText[] {
  return readFileSync(new URL(file, FOLDER), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const labelled = JSON.parse(line) as LabelledText
      return { ...labelled, text: labelled.text.replaceAll('¦', '') }
    })
}

/** The largest rate at which so few alarms, or fewer, still have a chance of 5 %. */
export function upperBound(alarms: number, of: number): number {
  let [low, high] = [0, 1]
  for (let step = 0; step < 60; step++) {
    const rate = (low + high) / 2
    if (chanceOfAtMost(alarms, of, rate) > 0.05) low = rate
    else high = rate
  }
  return high
}

function chanceOfAtMost(alarms: number, of: number, rate: number): number {
  let term = of * Math.log1p(-rate)
  let sum = Math.exp(term)
  for (let count = 1; count <= alarms; count++) {
    term += Math.log(((of - count + 1) / count) * (rate / (1 - rate)))
    sum += Math.exp(term)
  }
  return sum
}
