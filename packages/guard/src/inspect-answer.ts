// What passes the gate towards a model, or from it towards a server, looked through: words that speak
// to the model (A05), hidden text (A04), keys and passwords (A20). Every text of it, names of members
// too, in every reading; pictures and sound for the text in their bytes. What does not fit into the
// budget was not looked at and counts as found: otherwise padding would be the way around. Pure.

import { decodeRun, findEncodedRuns } from '@sluice/policy/readers/encoded-runs'
import { runSteps, type Steps } from '@sluice/policy/structures/steps'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { findInAnswer, ORDER_REACH } from './answer-injections.ts'
import { binaryIn, findPrintedTexts, textIn } from './binary-text.ts'
import { changesIn, partsAround } from './changed-parts.ts'
import type { Finding, FindingKind } from './finding.ts'
import { findHidden } from './hidden-text.ts'
import { findInjections } from './injections.ts'
import { ANSWER_CHARS_MAX, BINARY_CHARS_MAX, DEPTH_MAX, STRINGS_MAX } from './limits.ts'
import { isSplitSteps } from './locate-data.ts'
import { newScanBudget, type ScanBudget, spend } from './patterns.ts'
import { isNamedSecret } from './secret-names.ts'
import { findSecretsSteps, plainDataIn } from './secrets.ts'
import { readingsOf } from './views.ts'

/**
 * What an answer is searched for.
 *
 * @example
 * ```ts
 * const wanted: ScanTarget[] = ['injection', 'secret']
 * ```
 */
export type ScanTarget = 'injection' | 'secret'

/**
 * What was found in an answer.
 *
 * @example
 * ```ts
 * const [finding] = inspectAnswer(answer, ['secret'])
 * ```
 */
export interface AnswerFinding {
  readonly kind: ScanTarget
  /** The words as the answer has them; for hidden text its code points, for a secret its kind, never the secret. */
  readonly words: string
  /** What the words do, in the gate's own words. */
  readonly what?: FindingKind
  /** Part of the answer was not inspected, because it is too large or nested too deeply. That counts as found. */
  readonly isUnread?: true
}

/** How orders are searched for. `definition` is for texts that a person or the pins judge as well, and that describe
 * tools by orders. */
export type Strictness = 'answer' | 'definition'

/**
 * The first finding of each kind that is wanted.
 *
 * @example
 * ```ts
 * inspectAnswer({ text: 'ignore all previous instructions' }, ['injection'])
 * ```
 */
export function inspectAnswer(
  value: JsonValue,
  wanted: readonly ScanTarget[],
  strictness: Strictness = 'answer',
): AnswerFinding[] {
  return runSteps(inspectAnswerSteps(value, wanted, strictness))
}

/** The same in steps: a long answer takes more time than other calls should wait for. */
export function* inspectAnswerSteps(
  value: JsonValue,
  wanted: readonly ScanTarget[],
  strictness: Strictness = 'answer',
): Steps<AnswerFinding[]> {
  const walk: AnswerScan = {
    chars: 0,
    binaryChars: 0,
    strings: 0,
    left: new Set(wanted),
    found: [],
    strictness,
    seen: new Set(),
    budget: newScanBudget(),
  }
  const parts: AnswerPart[] = []
  collectParts(value, 0, { parts, wantsSecrets: walk.left.has('secret') })
  let unseen = 0
  for (const part of parts) {
    if (walk.left.size === 0) break
    if (part === TOO_DEEP) beyond('it is nested too deeply', walk)
    else if (typeof part !== 'string') addFinding({ kind: 'secret', words: 'named secret' }, walk)
    else if (part.length < STEP_CHARS) runSteps(lookAt(part, walk))
    else yield* lookAt(part, walk)
    unseen += TEXT_COST + (typeof part === 'string' ? part.length : 0)
    if (unseen < STEP_CHARS) continue
    unseen = 0
    yield
  }
  return walk.found
}

/**
 * Whether arguments hold a secret, also one that is split over several of them.
 *
 * @example
 * ```ts
 * holdsSecret({ url: 'https://example.com/?key=…' })
 * ```
 */
export function holdsSecret(args: JsonValue): boolean {
  return runSteps(holdsSecretSteps(args))
}

/** The same in steps, each short. */
export function* holdsSecretSteps(args: JsonValue): Steps<boolean> {
  const findings = yield* inspectAnswerSteps(args, ['secret'])
  return findings.length > 0 || (yield* isSplitSteps(args, 'secret', newScanBudget()))
}

/** What is too large to be parsed and looked at, as found. */
export function tooLargeToInspect(wanted: readonly ScanTarget[]): AnswerFinding[] {
  return wanted.map((kind) => ({ kind, words: TOO_LARGE, isUnread: true }))
}

const TOO_LARGE = 'it is too large to look at'

interface AnswerScan {
  chars: number
  binaryChars: number
  strings: number
  readonly left: Set<ScanTarget>
  readonly found: AnswerFinding[]
  readonly strictness: Strictness
  /** Short texts that were looked at: rows of a table repeat their names. */
  readonly seen: Set<string>
  /** One for all that is searched and decoded. */
  readonly budget: ScanBudget
}

const TOO_DEEP = Symbol('too deep')
const NAMED_SECRET = Symbol('named secret')
/** A text, or what was seen between two texts. */
type AnswerPart = string | typeof TOO_DEEP | typeof NAMED_SECRET

interface CollectedParts {
  readonly parts: AnswerPart[]
  readonly wantsSecrets: boolean
}

/** In the order of the document. */
function collectParts(value: JsonValue, depth: number, into: CollectedParts): void {
  const { parts, wantsSecrets } = into
  if (typeof value === 'string') {
    parts.push(value)
  } else if (depth > DEPTH_MAX) {
    parts.push(TOO_DEEP)
  } else if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) collectParts(item, depth + 1, into)
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const member = value[name] as JsonValue
      parts.push(name)
      if (wantsSecrets && typeof member === 'string' && isNamedSecret(name, member))
        parts.push(NAMED_SECRET)
      collectParts(member, depth + 1, into)
    }
  }
}

function* lookAt(text: string, walk: AnswerScan): Steps<void> {
  if (text.length < ORDER_CHARS_MIN || walk.seen.has(text)) return
  if (text.length <= SEEN_CHARS_MAX) walk.seen.add(text)
  if (++walk.strings > STRINGS_MAX) return beyond(TOO_LARGE, walk)
  // As bytes or as a text, it is more than is looked at.
  if (text.length > BINARY_CHARS_MAX) return beyond(TOO_LARGE, walk)
  const bytes = binaryIn(text)
  if (bytes !== undefined) return yield* lookAtBinary(text, bytes, walk)
  walk.chars += text.length
  if (walk.chars > ANSWER_CHARS_MAX || !spend(walk.budget, TEXT_COST + text.length))
    return beyond(TOO_LARGE, walk)
  // Hidden text is hidden from a reader of the text as it is, not from a reader that decodes it.
  const [hidden] = walk.left.has('injection') ? findHidden(text, walk.budget) : []
  if (hidden !== undefined) addFinding(toOrder(hidden), walk)
  if (walk.budget.charsLeft < 0) return beyond(TOO_LARGE, walk)
  let before: string | undefined
  for (const reading of readingsOf(text, walk.budget)) {
    if (reading === undefined) return beyond(TOO_LARGE, walk)
    yield
    if (walk.left.has('injection')) yield* lookForOrders(reading, walk, before)
    before = reading
    if (!walk.left.has('secret')) continue
    yield
    const [secret] = yield* findSecretsSteps(reading, walk.budget)
    if (secret !== undefined) addFinding({ kind: 'secret', words: secret.kind }, walk)
  }
}

/** `before`: the reading that has been looked at; only what is new is looked at again. */
function* lookForOrders(text: string, walk: AnswerScan, before?: string): Steps<void> {
  const parts =
    before === undefined
      ? overlappingParts(text)
      : partsAround(text, changesIn(before, text), ORDER_REACH)
  for (const part of parts) {
    const order = orderIn(part, walk)
    if (order !== undefined) return addFinding(order, walk)
    if (part.length > STEP_CHARS) yield
  }
  const encoded = yield* findEncodedOrder(text, walk)
  if (encoded !== undefined) addFinding(encoded, walk)
}

/** Cuts a long text into parts, each with as much around it as an order reaches. */
function* overlappingParts(text: string): Generator<string> {
  if (text.length <= PART_CHARS) return yield text
  for (let start = 0; start < text.length; start += PART_CHARS)
    yield* partsAround(
      text,
      [{ start, end: Math.min(text.length, start + PART_CHARS) }],
      ORDER_REACH,
    )
}

function orderIn(text: string, { strictness, budget }: AnswerScan): AnswerFinding | undefined {
  const find = strictness === 'answer' ? findInAnswer : findInjections
  // In definitions the mild ones are shown to people, and pass.
  const found = find(text, budget).find(
    ({ severity }) => strictness === 'answer' || severity !== 'flag',
  )
  return found && toOrder(found)
}

function toOrder({ kind, text }: Finding): AnswerFinding {
  return { kind: 'injection', words: text, what: kind }
}

/** In base64, hex or binary digits, also several times over. */
function* findEncodedOrder(text: string, walk: AnswerScan): Steps<AnswerFinding | undefined> {
  let unpaused = 0
  for (const run of findEncodedRuns(text)) {
    for (const inside of decodeRun(run, walk.budget)) {
      if (inside === undefined) return tooLargeToInspect(['injection'])[0]
      const innerText = textIn(inside)
      if (innerText === '') continue
      for (const part of overlappingParts(innerText)) {
        const order = orderIn(part, walk)
        if (order !== undefined) return order
        if (part.length > STEP_CHARS) yield
      }
      const order = yield* findEncodedOrder(innerText, walk)
      if (order !== undefined) return order
    }
    unpaused += run.text.length
    if (unpaused < ENCODED_STEP_CHARS) continue
    unpaused = 0
    yield
  }
  return undefined
}

/** Short runs up to this length together are one step: each is read in every alignment. */
const ENCODED_STEP_CHARS = 8_192

/** A picture, sound or file: what can be read in its bytes, in every alignment and nested. */
function* lookAtBinary(text: string, bytes: Uint8Array, walk: AnswerScan): Steps<void> {
  walk.binaryChars += text.length
  if (walk.binaryChars > BINARY_CHARS_MAX || !spend(walk.budget, text.length))
    return beyond(TOO_LARGE, walk)
  if (walk.left.has('secret') && PLAIN_KEY.test(text)) {
    const kind = plainDataIn(text, 'secret')
    if (kind !== undefined) addFinding({ kind: 'secret', words: kind }, walk)
  }
  for (const printed of findPrintedTexts(text, bytes)) {
    if (printed === '') continue
    // What can be read in it is a text of the answer as any other.
    walk.chars += printed?.length ?? 0
    const isTooMuch = printed === undefined || walk.chars > ANSWER_CHARS_MAX
    if (isTooMuch || !spend(walk.budget, TEXT_COST + printed.length)) return beyond(TOO_LARGE, walk)
    yield
    if (walk.left.has('injection')) yield* lookForOrders(printed, walk)
    const [secret] = walk.left.has('secret') ? yield* findSecretsSteps(printed, walk.budget) : []
    if (secret !== undefined) addFinding({ kind: 'secret', words: secret.kind }, walk)
  }
}

/** Secrets that have no other letters than base64. */
const PLAIN_KEY = /\b(?:(?:AKIA|ASIA)[A-Z2-7]{16}|AIza[A-Za-z0-9]{35})\b/

/** No order and no key is shorter. */
const ORDER_CHARS_MIN = 10
/** What a text costs however short it is, in characters that are searched. */
const TEXT_COST = 300
/** Texts up to this length together are one step. */
const STEP_CHARS = 16_384
/** Characters that are looked through for orders at once. */
const PART_CHARS = 65_536
/** The length of a text that is remembered. */
const SEEN_CHARS_MAX = 64

/** What nobody looked at counts as found. */
function beyond(words: string, { left, found }: AnswerScan): void {
  for (const kind of left) found.push({ kind, words, isUnread: true })
  left.clear()
}

function addFinding(finding: AnswerFinding, { left, found }: AnswerScan): void {
  if (left.delete(finding.kind)) found.push(finding)
}
