// A message towards a client as the policy's `answers` wants it: data redacted, secrets sealed, links
// removed, long texts cut. Everything else keeps its bytes, numbers as written. What was not looked
// through, or has no valid replacement, is denied. Called by filter-answers.ts.

import { Buffer } from 'node:buffer'
import { type Path, rewriteText } from '@sluice/access/approvals/json-text'
import { ECHO_AT_ONCE_CHARS_MAX, ECHO_CHARS_MAX } from '@sluice/access/identity/limits'
import type { SessionVault, ValueSource } from '@sluice/access/identity/sessions/session-vault'
import { binaryIn, findPrintedTexts } from '@sluice/guard/binary-text'
import { findExternalLinksSteps } from '@sluice/guard/external-links'
import { DEPTH_MAX } from '@sluice/guard/limits'
import { locateDataSteps, locateInMember, locateInMemberSteps } from '@sluice/guard/locate-data'
import { cardDigits } from '@sluice/guard/number-checks'
import { newScanBudget, type ScanBudget, type ScanEffort } from '@sluice/guard/patterns'
import { looksRandom } from '@sluice/guard/secret-checks'
import type { DataMatch } from '@sluice/guard/secrets'
import type { CompareBudget } from '@sluice/guard/value-forms'
import { type AnswerChange, AnswerChangeCounts } from '@sluice/ledger/records/answer-changes'
import type { DataKind } from '@sluice/policy/calls/data-kinds'
import { type AnswerPolicy, isHostListed } from '@sluice/policy/model/answer-rule'
import type { Steps } from '@sluice/policy/structures/steps'
import { joinMembers } from '@sluice/policy/values/canonical-json'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import { writeRestUri } from '../shared/rest-uri.ts'
import { cutText, estimateTokens, type Replacement } from './cut-text.ts'
import { PlaceholderSchema } from './valid-placeholder.ts'

export interface RewriteContext {
  readonly rules: AnswerPolicy
  readonly vault: SessionVault
  readonly sources: readonly ValueSource[]
  /** The schema of structured content; `unknown` if it is not known which call is answered. */
  readonly schema: JsonValue | undefined | 'unknown'
  readonly effort: ScanEffort
}

export type RewrittenMessage = (
  | { readonly status: 'passes'; readonly text: string; readonly marked: ReadonlySet<DataKind> }
  | { readonly status: 'denied'; readonly reason: string }
) & { readonly changes: readonly AnswerChange[] }

/** Thrown to end the rewriting; it is caught in this file. */
class DeniedAnswer extends Error {
  /** The kind of data in the answer that may not be passed on. */
  readonly kind: string

  constructor(reason: string, kind = 'message') {
    super(reason)
    this.kind = kind
  }
}

export function* rewriteAnswerSteps(
  text: string,
  context: RewriteContext,
): Steps<RewrittenMessage> {
  const { deny, mark, redact } = context.rules
  const kinds = new Set([...deny, ...mark, ...redact])
  const marked = new Set<DataKind>()
  const scan: Scan = {
    kinds,
    context,
    marked,
    replacements: new Map(),
    budget: newScanBudget(context.effort),
    echoBudget: {
      charsLeft: context.effort === 'at once' ? ECHO_AT_ONCE_CHARS_MAX : ECHO_CHARS_MAX,
    },
  }
  try {
    for (const leaf of leavesOf(JSON.parse(text) as JsonValue, '', 0)) yield* look(leaf, scan)
    yield
    const rewriter = new Rewriter(context, scan)
    const rewritten = rewriter.rewrite(text)
    return { status: 'passes', text: rewritten, marked, changes: rewriter.changes.take() }
  } catch (error) {
    if (!(error instanceof DeniedAnswer)) throw error
    const { kind, message: reason } = error
    return { status: 'denied', reason, changes: [{ change: 'withheld', kind, count: 1 }] }
  }
}

interface Scan {
  readonly kinds: ReadonlySet<DataKind>
  readonly budget: ScanBudget
  /** The budget for comparisons with sealed values. */
  readonly echoBudget: CompareBudget
  readonly context: RewriteContext
  readonly marked: Set<DataKind>
  /** The replacements found before, by the name of the member and its text. */
  readonly replacements: Map<string, readonly CountedReplacement[]>
}

interface Leaf {
  readonly name: string
  readonly text: string
  readonly isName: boolean
}

function* leavesOf(value: JsonValue, name: string, depth: number): Generator<Leaf> {
  if (depth > DEPTH_MAX) throw new DeniedAnswer('it is nested too deeply to look through')
  if (typeof value === 'string') yield { name, text: value, isName: false }
  else if (Array.isArray(value))
    for (const item of value as readonly JsonValue[]) yield* leavesOf(item, name, depth + 1)
  else if (isObject(value))
    for (const key of Object.keys(value)) {
      yield { name: '', text: key, isName: true }
      yield* leavesOf(value[key] as JsonValue, key, depth + 1)
    }
}

/** A step for each text: a short one of a small message costs little, a long one has steps of its own. */
function* look({ name, text, isName }: Leaf, scan: Scan): Steps<void> {
  const { budget, context, kinds, replacements } = scan
  const { rules } = context
  const key = toMemberKey(name, text)
  if (text.length < SHORTEST_CHARS || replacements.has(key)) return
  yield
  const bytes = binaryIn(text)
  // What is cut off is looked through when it is read.
  const shown = text.slice(0, shownCharsMax(rules))
  const matches =
    kinds.size === 0
      ? []
      : bytes === undefined
        ? yield* locateInMemberSteps(name, shown, { kinds, budget })
        : yield* lookAtBinary(text, bytes, scan)
  if (matches === undefined) throw new DeniedAnswer('it is too large to look through')
  for (const { group, kind } of matches) {
    if (rules.deny.has(group)) throw new DeniedAnswer(`it holds a ${kind}`, kind)
    if (rules.mark.has(group)) scan.marked.add(group)
  }
  const redacted = matches.filter(({ group }) => rules.redact.has(group))
  if (redacted.length > 0 && (isName || bytes !== undefined))
    throw new DeniedAnswer(
      `it holds a ${redacted[0]?.kind} where nothing can stand for it`,
      redacted[0]?.kind,
    )
  if (!isName) replacements.set(key, yield* findReplacements(text, redacted, scan))
}

/** Values of the session that are sealed, what is redacted, and links. */
function* findReplacements(
  text: string,
  redacted: readonly DataMatch[],
  { context, echoBudget }: Scan,
): Steps<CountedReplacement[]> {
  const { rules, vault } = context
  const echoes = vault.size === 0 ? [] : yield* vault.findEchoes(text, echoBudget)
  if (echoes === undefined) throw new DeniedAnswer('it is too large to look through')
  const replacements: CountedReplacement[] = echoes.map((echo) => ({
    ...echo,
    change: 'sealed' as const,
  }))
  // Both in the order of the text: what begins before a match and reaches into it is among the last before.
  let next = 0
  let end = 0
  for (const match of redacted) {
    for (; next < echoes.length && (echoes[next] as Replacement).start < match.end; next++)
      end = Math.max(end, (echoes[next] as Replacement).end)
    if (end <= match.start) replacements.push(toReplacement(match, text, context))
  }
  if (rules.links.length > 0)
    for (const link of yield* findExternalLinksSteps(text, (host) =>
      rules.links.every((hosts) => isHostListed(host, hosts)),
    ))
      replacements.push({ ...link, placeholder: link.replacement, change: 'removed', kind: 'link' })
  return mergeReplacements(replacements)
}

function toReplacement(
  match: DataMatch,
  text: string,
  { rules, sources, vault }: RewriteContext,
): CountedReplacement {
  const value = text.slice(match.start, match.end)
  const sealed =
    rules.seal.length > 0 && isSealable(match, value)
      ? vault.seal(value, match.kind, sources)
      : undefined
  const { start, end, kind } = match
  const placeholder = sealed ?? placeholderFor(match, value)
  return { start, end, kind, placeholder, change: sealed === undefined ? 'redacted' : 'sealed' }
}

/** Returns how much of one text can be shown, with room for a secret that begins at the bound. */
function shownCharsMax({ maxBytes, maxTokens }: AnswerPolicy): number {
  return Math.min(maxBytes, 4 * maxTokens) + SECRET_CHARS_MAX
}

const SECRET_CHARS_MAX = 16_384
/** The length of the shortest data that is looked for. */
const SHORTEST_CHARS = 4

/** Builds the key of a member. The length of the name separates both parts, because the server chooses both texts. */
function toMemberKey(name: string, text: string): string {
  return `${name.length} ${name}${text}`
}

function* lookAtBinary(
  text: string,
  bytes: Uint8Array,
  { budget, kinds }: Scan,
): Steps<DataMatch[] | undefined> {
  const all: DataMatch[] = []
  for (const printed of findPrintedTexts(text, bytes)) {
    yield
    const matches =
      printed === undefined ? undefined : yield* locateDataSteps(printed, kinds, budget)
    if (matches === undefined) return undefined
    all.push(...matches)
  }
  return all
}

/** Members that only the protocol and the server read. */
const UNTOUCHED: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method'])
/** Members whose words belong to the protocol, and are not counted. */
const OF_PROTOCOL: ReadonlySet<string> = new Set(['type', 'resultType', 'mimeType', 'role'])
const WORD_CHARS_MAX = 64
/** Members of a result that cannot be cut. */
const BINARY: ReadonlySet<string> = new Set(['data', 'blob'])

class Rewriter {
  /** The changes that were made so far. */
  readonly changes = new AnswerChangeCounts()
  readonly #context: RewriteContext
  readonly #scan: Scan
  readonly #placeholders: PlaceholderSchema | undefined
  #bytesLeft: number
  #tokensLeft: number
  #structuredBytes = 0
  #structuredTokens = 0

  constructor(context: RewriteContext, scan: Scan) {
    this.#context = context
    this.#scan = scan
    if (context.schema !== undefined && context.schema !== 'unknown')
      this.#placeholders = new PlaceholderSchema(context.schema)
    this.#bytesLeft = context.rules.maxBytes
    this.#tokensLeft = context.rules.maxTokens
  }

  rewrite(text: string): string {
    return rewriteText(text, {
      text: (value, path) => JSON.stringify(this.#rewriteLeaf(value, path)),
      plain: (written, path) => this.#rewriteNumber(written, path),
      object: joinMembers,
    })
  }

  #rewriteLeaf(text: string, path: Path): string | null {
    if (path.length === 1 && UNTOUCHED.has(String(path[0]))) return text
    const replacements = this.#scan.replacements.get(toMemberKey(nameOf(path), text)) ?? []
    const structured = structuredPath(path)
    if (structured === undefined) return this.#cut(text, replacements, path)
    this.#countStructured(text)
    if (replacements.length === 0) return text
    this.#count(replacements, text.length)
    const redacted = applyReplacements(text, replacements)
    if (this.#context.schema === undefined) return redacted
    const allowed = this.#placeholders?.find(structured)
    if (allowed === undefined)
      throw new DeniedAnswer(
        `nothing can stand for what is redacted at \`/${structured.join('/').slice(0, 100)}\` without breaking the tool's \`outputSchema\``,
      )
    return allowed === 'text' ? redacted : null
  }

  #rewriteNumber(written: string, path: Path): string {
    const { kinds, budget, marked } = this.#scan
    const { rules } = this.#context
    const digits = kinds.has('card') ? cardDigits(written) : undefined
    if (digits === undefined) return written
    const found = locateInMember(nameOf(path), digits, { kinds, budget })
    if (found === undefined) throw new DeniedAnswer('it is too large to look through')
    const [card] = found
    if (card === undefined) return written
    if (rules.deny.has('card')) throw new DeniedAnswer(`it holds a ${card.kind}`, card.kind)
    if (rules.mark.has('card')) marked.add('card')
    if (!rules.redact.has('card')) return written
    this.changes.add('redacted', card.kind)
    const structured = structuredPath(path)
    const isFree = structured === undefined || this.#context.schema === undefined
    const allowed = isFree ? 'text' : this.#placeholders?.find(structured)
    if (allowed !== undefined)
      return allowed === 'text' ? JSON.stringify(placeholderFor(card, digits)) : 'null'
    throw new DeniedAnswer(`it holds a ${card.kind} as a number, and nothing can stand for it`)
  }

  #cut(text: string, replacements: readonly CountedReplacement[], path: Path): string {
    const isBounded = Number.isFinite(this.#bytesLeft) || Number.isFinite(this.#tokensLeft)
    const isWord = text.length <= WORD_CHARS_MAX && OF_PROTOCOL.has(nameOf(path))
    if (!isBounded || isWord) {
      this.#count(replacements, text.length)
      return applyReplacements(text, replacements)
    }
    if (BINARY.has(nameOf(path)) && path[0] === 'result') {
      this.#spend(text)
      return text
    }
    const room = { bytes: this.#bytesLeft, tokens: this.#tokensLeft }
    const { shown, restFrom } = cutText(text, replacements, room)
    this.#bytesLeft -= Buffer.byteLength(shown)
    this.#tokensLeft -= estimateTokens(shown)
    this.#count(replacements, restFrom ?? text.length)
    if (restFrom === undefined) return shown
    this.changes.add('cut', 'text')
    return shown + this.#writeCut(text, restFrom, path)
  }

  /** Counts the replacements that begin before the cut. The rest is inspected when it is read. */
  #count(replacements: readonly CountedReplacement[], end: number): void {
    for (const { start, change, kind } of replacements)
      if (start < end) this.changes.add(change, kind)
  }

  #spend(text: string): void {
    this.#bytesLeft -= text.length
    this.#tokensLeft -= estimateTokens(text)
    if (this.#bytesLeft >= 0 && this.#tokensLeft >= 0) return
    throw new DeniedAnswer('it has more data than the policy allows, which cannot be cut')
  }

  #countStructured(text: string): void {
    const { maxBytes, maxTokens } = this.#context.rules
    this.#structuredBytes += Buffer.byteLength(text)
    this.#structuredTokens += estimateTokens(text)
    if (this.#structuredBytes <= maxBytes && this.#structuredTokens <= maxTokens) return
    throw new DeniedAnswer(
      'its structured content is longer than the policy allows and cannot be cut: ask for less',
    )
  }

  #writeCut(text: string, restFrom: number, path: Path): string {
    const { sources, vault } = this.#context
    const [source] = sources
    const all = Buffer.byteLength(text)
    const id =
      source !== undefined && path[0] === 'result'
        ? vault.keepRest({ text: text.slice(restFrom), source })
        : undefined
    const how =
      id === undefined
        ? 'the rest is not kept: ask for less'
        : `read on with resources/read of ${writeRestUri(source?.server ?? '', id)}`
    return `\n[cut by the gate at ${Buffer.byteLength(text.slice(0, restFrom))} of ${all} bytes; ${how}]`
  }
}

interface CountedReplacement extends Replacement, Pick<AnswerChange, 'change' | 'kind'> {}

function nameOf(path: Path): string {
  const name = path.findLast((step) => typeof step === 'string')
  return typeof name === 'string' ? name : ''
}

/** Returns the path below `structuredContent`; undefined elsewhere. */
function structuredPath(path: Path): Path | undefined {
  return path[0] === 'result' && path[1] === 'structuredContent' ? path.slice(2) : undefined
}

/** Merges replacements: of two that overlap, the first covers both. */
function mergeReplacements(replacements: CountedReplacement[]): CountedReplacement[] {
  const merged: CountedReplacement[] = []
  for (const each of replacements.sort((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last === undefined || each.start >= last.end) merged.push(each)
    else if (each.end > last.end) merged[merged.length - 1] = { ...last, end: each.end }
  }
  return merged
}

function applyReplacements(text: string, replacements: readonly Replacement[]): string {
  let shown = ''
  let next = 0
  for (const { start, end, placeholder } of replacements) {
    shown += text.slice(next, start) + placeholder
    next = end
  }
  return shown + text.slice(next)
}

/** Typed; of a card the last four digits, by which people know it. */
function placeholderFor({ group, kind }: Pick<DataMatch, 'group' | 'kind'>, value: string): string {
  if (group === 'card') {
    const digits = value.replace(/\D/g, '')
    return digits.length >= 12 ? `[card ****${digits.slice(-4)}]` : '[card]'
  }
  return group === 'secret' ? `[secret: ${kind}]` : `[${group}]`
}

/** Whether a value may be sealed. It must be impossible to guess: an agent that has a tool echo guesses would
 * see which one is sealed. */
function isSealable({ group, kind }: DataMatch, value: string): boolean {
  if (group !== 'secret' || value.length < SEALED_CHARS_MIN || kind.includes(', in ')) return false
  if (kind === 'password in an address') return false
  return kind !== 'named secret' || looksRandom(value)
}

const SEALED_CHARS_MIN = 16
