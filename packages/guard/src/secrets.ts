// Finds secrets (A20) and other kinds of data in a text by the one list of detectors, also below layers of base64 or
// hex: for decisions, for exports and for the masks of approvers. Linear: a text costs no more than its
// length. What has no shape (a password in plain prose) is not found. Pure.

import { BLOCKING_KINDS, type DataKind } from '@sluice/policy/calls/data-kinds'
import { decodeRun, type EncodedRun, findEncodedRuns } from '@sluice/policy/readers/encoded-runs'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import type { TextSpan } from './chain.ts'
import { type DetectorGroup, groupsOf } from './data-detectors.ts'
import { FINDINGS_MAX } from './limits.ts'
import { always, type SecretContext, type SecretDetector } from './secret-detectors.ts'
import { newViewBudget, type ViewBudget } from './views.ts'

export interface SecretMatch {
  /** What it is, such as `GitHub token`; never the secret itself. */
  readonly kind: string
  readonly start: number
  readonly end: number
}

export interface DataMatch extends SecretMatch {
  readonly group: DataKind
}

const SECRETS = groupsOf(['secret'])
const EXPORTED = groupsOf(BLOCKING_KINDS)
/** What is masked. IBANs are not: an approver decides by the account that a payment goes to. */
const MASKED = groupsOf(['secret', 'card'])

/** In the order of the text, without overlaps; the first FINDINGS_MAX. Linear: some 100 ns a character at
 * worst. */
export function findSecrets(text: string, budget = newViewBudget()): SecretMatch[] {
  return runSteps(findSecretsSteps(text, budget))
}

/** The same in steps, each short. */
export function findSecretsSteps(text: string, budget: ViewBudget): Steps<SecretMatch[]> {
  return findSteps(text, budget, { max: FINDINGS_MAX, isLenient: false, groups: SECRETS })
}

/** The same for the kinds that a policy names, all of them. */
export function findDataSteps(
  text: string,
  kinds: Iterable<DataKind>,
  budget: ViewBudget,
): Steps<DataMatch[]> {
  return findSteps(text, budget, {
    max: Number.POSITIVE_INFINITY,
    isLenient: false,
    groups: groupsOf(kinds),
  })
}

/** All of them, also what only looks like one by its shape or by the name that it stands under, and what
 * is masked: for texts that are to be rid of secrets. An encoded run that the budget does not allow to look into is
 * one too. */
export function findSecretShapes(text: string, budget = newViewBudget()): SecretMatch[] {
  return runSteps(
    findSteps(text, budget, {
      max: Number.POSITIVE_INFINITY,
      isLenient: true,
      groups: EXPORTED,
    }),
  )
}

/** What an approver is not shown of a text, in its order and without overlaps. Encoded runs are not looked
 * into: its author could hide anything next to the secret in it. */
export function findMaskedSpans(text: string): SecretMatch[] {
  const spans = new Spans()
  for (const group of MASKED) if (group.beginnings.test(text)) matchMasks(text, spans, group)
  return spans.inOrder
}

/** A foreign line for the log, with secrets and cards masked. */
export function maskLine(line: string): string {
  let shown = ''
  let next = 0
  for (const { start, end } of findMaskedSpans(line)) {
    shown += `${line.slice(next, start)}[masked]`
    next = end
  }
  return shown + line.slice(next)
}

/** The kind of data in the text itself, for callers that decode it themselves. */
export function plainDataIn(
  text: string,
  group: DataKind,
  budget = newViewBudget(),
): string | undefined {
  const options = { max: 1, isLenient: false, groups: groupsOf([group]) }
  return runSteps(firstIn(text, budget, options))?.kind
}

interface FindOptions {
  readonly max: number
  readonly isLenient: boolean
  readonly groups: readonly DetectorGroup[]
}

interface BudgetedFindOptions extends FindOptions {
  readonly budget: ViewBudget
}

/** Texts beyond this are searched by one detector a step. */
const STEP_CHARS = 16_384
/** Matches of one detector that are checked in one step. */
const STEP_MATCHES = 2_000

function* findSteps(text: string, budget: ViewBudget, options: FindOptions): Steps<DataMatch[]> {
  const spans = new Spans()
  yield* match(text, spans, { ...options, budget })
  let unpaused = 0
  for (const run of findEncodedRuns(text)) {
    if (spans.inOrder.length >= options.max) break
    const inside = yield* dataIn(run, budget, options)
    if (inside !== undefined) spans.add({ ...inside, start: run.start, end: run.end })
    unpaused += run.text.length
    if (unpaused < STEP_CHARS) continue
    unpaused = 0
    yield
  }
  return spans.inOrder
}

function* match(text: string, spans: Spans, options: BudgetedFindOptions): Steps<void> {
  const isLong = text.length > STEP_CHARS
  for (const group of options.groups) {
    if (isLong) yield
    if (!group.beginnings.test(text)) continue
    for (const detector of group.detectors) {
      if (spans.inOrder.length >= options.max) return
      if (isLong) yield
      const search = { ...options, group: group.name, detector }
      if (detector.locate === undefined) yield* matchOne(text, spans, search)
      else matchPlaces(detector.locate(text, options.budget), spans, search)
    }
    if (options.isLenient) matchMasks(text, spans, group)
  }
}

interface DetectorSearch extends FindOptions {
  readonly group: DataKind
  readonly detector: SecretDetector
}

function matchPlaces(places: Iterable<TextSpan>, spans: Spans, search: DetectorSearch): void {
  const { detector, group, max } = search
  for (const { start, end } of places) {
    spans.add({ kind: detector.kind, group, start, end })
    if (spans.inOrder.length >= max) return
  }
}

function* matchOne(text: string, spans: Spans, options: DetectorSearch): Steps<void> {
  const { detector, group, isLenient, max } = options
  const { kind, pattern, check, lenient, rest, measure, hides } = detector
  const isOne = (isLenient && lenient) || check || always
  pattern.lastIndex = 0
  let unpaused = 0
  for (let one = pattern.exec(text); one !== null; one = pattern.exec(text)) {
    const { index } = one
    if (++unpaused === STEP_MATCHES) {
      unpaused = 0
      // The patterns are shared: another text may be searched meanwhile.
      const { lastIndex } = pattern
      yield
      pattern.lastIndex = lastIndex
    }
    if (measure !== undefined) {
      const end = measure(text, index)
      if (end === undefined) continue
      pattern.lastIndex = end
    } else if (!isOne(one[0], one[1] ?? '', besideOf(text, one))) continue
    if (rest !== undefined) pattern.lastIndex = endOf(rest, text, pattern.lastIndex)
    const end = pattern.lastIndex
    const start = hides === true ? end - (one[1] ?? '').length : index
    spans.add({ kind, group, start, end })
    if (spans.inOrder.length >= max) return
  }
}

/** What a check sees of the text in front of a match, and behind it. */
const BESIDE_CHARS = 40

function besideOf(text: string, { 0: matched, index }: RegExpExecArray): SecretContext {
  const end = index + matched.length
  return {
    before: text.slice(Math.max(0, index - BESIDE_CHARS), index),
    after: text.slice(end, end + BESIDE_CHARS),
  }
}

function matchMasks(text: string, spans: Spans, { name, detectors }: DetectorGroup): void {
  for (const detector of detectors) {
    const { kind, pattern, check, lenient, mask, maskCheck, measure, locate, shown = 0 } = detector
    if (measure !== undefined || locate !== undefined) continue
    const isOne = mask === undefined ? (lenient ?? check ?? always) : always
    for (const one of text.matchAll(mask ?? pattern)) {
      const hidden = mask === undefined ? one[0] : (one[2] ?? one[0])
      if (!isOne(one[0], one[1] ?? '', besideOf(text, one)) || maskCheck?.(hidden) === false)
        continue
      const end = one.index + one[0].length
      spans.add({ kind, group: name, start: end - hidden.length, end: end - shown })
    }
  }
}

function endOf(rest: RegExp, text: string, from: number): number {
  rest.lastIndex = from
  return from + (rest.exec(text)?.[0].length ?? 0)
}

/** Found places, sorted. Of two that overlap the one that came first stays, up to where the other ends. */
class Spans {
  readonly inOrder: DataMatch[] = []

  add(secret: DataMatch): void {
    let low = 0
    let high = this.inOrder.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.inOrder[middle] as DataMatch).end <= secret.start) low = middle + 1
      else high = middle
    }
    const next = this.inOrder[low]
    if (next === undefined || secret.end <= next.start) this.inOrder.splice(low, 0, secret)
    else if (secret.start >= next.start && secret.end > next.end) {
      const limit = this.inOrder[low + 1]?.start ?? secret.end
      this.inOrder[low] = { ...next, end: Math.min(secret.end, limit) }
    }
  }
}

type FoundInside = Pick<DataMatch, 'kind' | 'group'>

function* firstIn(
  text: string,
  budget: ViewBudget,
  options: FindOptions,
): Steps<FoundInside | undefined> {
  const spans = new Spans()
  yield* match(text, spans, { ...options, budget, max: 1 })
  return spans.inOrder[0]
}

/** In base64, hex or binary digits, also several times over. */
function* dataIn(
  run: EncodedRun,
  budget: ViewBudget,
  options: FindOptions,
): Steps<FoundInside | undefined> {
  for (const inside of decodeRun(run, budget)) {
    const group = options.groups[0]?.name as DataKind
    if (inside === undefined) return { kind: `${run.encoding}, too large to look into`, group }
    const plain = yield* firstIn(inside, budget, options)
    if (plain !== undefined) return { ...plain, kind: `${plain.kind}, in ${run.encoding}` }
    for (const deeper of findEncodedRuns(inside)) {
      const below = yield* dataIn(deeper, budget, options)
      if (below !== undefined) return { ...below, kind: `${below.kind}, in ${run.encoding}` }
    }
  }
  return undefined
}
