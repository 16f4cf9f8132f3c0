// Finds secrets in a text (A20) by the detectors of secret-detectors.ts, also below layers of base64 or
// hex: for verdicts, for exports and for the masks of approvers. Linear: a text costs no more than its
// length. What has no shape (a password in plain prose) is not found. Pure.

import { decodeRun, type EncodedRun, encodedRuns } from './encoded-runs.ts'
import { FINDINGS_MAX } from './limits.ts'
import { always, SECRET_BEGINNINGS, SECRET_DETECTORS } from './secret-detectors.ts'
import { newViewBudget, type ViewBudget } from './views.ts'

export interface SecretMatch {
  /** What it is, such as `GitHub token`; never the secret itself. */
  readonly kind: string
  readonly start: number
  readonly end: number
}

/** In the order of the text, without overlaps; the first FINDINGS_MAX. Linear: some 100 ns a character at
 * worst. */
export function findSecrets(text: string, budget = newViewBudget()): SecretMatch[] {
  return find(text, budget, { max: FINDINGS_MAX, isLenient: false })
}

/** All of them, also what only looks like one by its shape or by the name that it stands under, and what
 * is masked: for texts that are to be rid of secrets. An encoded run that the budget does not allow to look into is
 * one too. */
export function findSecretShapes(text: string, budget = newViewBudget()): SecretMatch[] {
  return find(text, budget, { max: Number.POSITIVE_INFINITY, isLenient: true })
}

/** What an approver is not shown of a text, in its order and without overlaps. Encoded runs are not looked
 * into: whoever wrote one could hide anything beside the secret in it. */
export function findMaskedSpans(text: string): SecretMatch[] {
  const found = new Spans()
  if (SECRET_BEGINNINGS.test(text)) matchMasks(text, found)
  return found.inOrder
}

/** The kind of a secret that stands in the text itself, for whoever decodes it alone. */
export function plainSecretIn(text: string, isLenient = false): string | undefined {
  if (!SECRET_BEGINNINGS.test(text)) return undefined
  const found = new Spans()
  match(text, found, { max: 1, isLenient })
  return found.inOrder[0]?.kind
}

interface FindOptions {
  readonly max: number
  readonly isLenient: boolean
}

function find(text: string, budget: ViewBudget, options: FindOptions): SecretMatch[] {
  const found = new Spans()
  if (SECRET_BEGINNINGS.test(text)) match(text, found, options)
  for (const run of encodedRuns(text)) {
    if (found.inOrder.length >= options.max) break
    const kind = secretIn(run, budget, options.isLenient)
    if (kind !== undefined) found.add({ kind, start: run.start, end: run.end })
  }
  return found.inOrder
}

function match(text: string, found: Spans, { max, isLenient }: FindOptions): void {
  for (const { kind, pattern, check, lenient, rest } of SECRET_DETECTORS) {
    const isOne = (isLenient && lenient) || check || always
    pattern.lastIndex = 0
    for (let one = pattern.exec(text); one !== null; one = pattern.exec(text)) {
      if (!isOne(one[0], one[1] ?? '')) continue
      if (rest !== undefined) pattern.lastIndex = endOf(rest, text, pattern.lastIndex)
      found.add({ kind, start: one.index, end: pattern.lastIndex })
      if (found.inOrder.length >= max) return
    }
  }
  if (isLenient) matchMasks(text, found)
}

function matchMasks(text: string, found: Spans): void {
  for (const { kind, pattern, check, lenient, mask, maskCheck } of SECRET_DETECTORS) {
    const isOne = mask === undefined ? (lenient ?? check ?? always) : always
    for (const one of text.matchAll(mask ?? pattern)) {
      const hidden = mask === undefined ? one[0] : (one[2] ?? one[0])
      if (!isOne(one[0], one[1] ?? '') || maskCheck?.(hidden) === false) continue
      const end = one.index + one[0].length
      found.add({ kind, start: end - hidden.length, end })
    }
  }
}

function endOf(rest: RegExp, text: string, from: number): number {
  rest.lastIndex = from
  return from + (rest.exec(text)?.[0].length ?? 0)
}

/** Found places, sorted. Of two that overlap the one that came first stays, up to where the other ends. */
class Spans {
  readonly inOrder: SecretMatch[] = []

  add(secret: SecretMatch): void {
    let low = 0
    let high = this.inOrder.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.inOrder[middle] as SecretMatch).end <= secret.start) low = middle + 1
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

/** In base64, hex or binary digits, also several times over. */
function secretIn(run: EncodedRun, budget: ViewBudget, isLenient: boolean): string | undefined {
  for (const inside of decodeRun(run, budget)) {
    if (inside === undefined) return `${run.encoding}, too large to look into`
    const kind = plainSecretIn(inside, isLenient)
    if (kind !== undefined) return `${kind}, in ${run.encoding}`
    for (const deeper of encodedRuns(inside)) {
      const below = secretIn(deeper, budget, isLenient)
      if (below !== undefined) return `${below}, in ${run.encoding}`
    }
  }
  return undefined
}
