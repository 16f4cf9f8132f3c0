// What of an entry is not written as it is: names of callers and people become tokens (names.ts), digests of arguments
// and values of counters keyed digests, which nobody without the key of the installation can find by trying. Every
// entry passes here before it is encoded; readers see names again.

import type { LimitCharge } from '@sluice/policy/calls/counters'
import type { NamedApprovers } from '@sluice/policy/calls/decision'
import { memoize } from '@sluice/policy/structures/memoize'
import { isObject, type JsonValue } from '@sluice/policy/values/json'
import {
  encodeBody,
  encodeDecision,
  encodeShared,
  type SharedFields,
  type SharedText,
} from './encoding.ts'
import { KeyedDigest } from './keyed-digest.ts'
import { REMEMBERED_COUNTERS_MAX } from './limits.ts'
import { type Names, TOKEN_START } from './names.ts'
import type { DecisionEntry, LedgerEntry, RecordedDecision } from './record.ts'
import { RememberedDecisions } from './remembered-decisions.ts'

type HiddenNames = Pick<Names, 'know' | 'tokenOf' | 'version'>
type CallEntry = DecisionEntry & { readonly kind: 'intent' | 'refusal' }

/** Members of events with a digest of arguments. */
const DIGESTS: ReadonlySet<string> = new Set(['argsDigest', 'editedArgsDigest'])
/** Members of events that name a caller or a person. Other texts become tokens if they equal a name that is known. */
const NAMED: ReadonlySet<string> = new Set(['principal', 'by', 'person'])
/** Events about a caller or a person, whose name is in `name`. */
const ABOUT_NAMED: ReadonlySet<string> = new Set(['approver', 'grant', 'proof', 'proof-refused'])
/** The event with sentences: a name is a word of them. */
const SENTENCES = 'alert'
/** What a word of a sentence may end with. */
const END_OF_WORD = /(?:['’]s)?[:.!?'’]{0,3}$/
const COUNTER_DIGEST_LENGTH = 22
/** A key of a limit over everyone ends with it. */
const NO_VALUE = '|0:'
/** The user of this machine: the name says nothing. */
const LOCAL = 'local'

export class EntryHider {
  readonly #digest: KeyedDigest
  readonly #names: HiddenNames
  readonly #remembered = new RememberedDecisions()
  /** The version of the names with which they were hidden. */
  #rememberedVersion = 0
  /** Tokens that were put into the entry. */
  #tokens = 0
  /** Texts of the entry have each start of a token twice. */
  #isEscaped = false

  /** `key` is one of the installation, or of the cluster: 32 bytes. */
  constructor(key: Uint8Array, names: HiddenNames) {
    this.#digest = new KeyedDigest(key)
    this.#names = names
  }

  /** What follows the number of a record. */
  encode(entry: LedgerEntry): string {
    const body =
      entry.kind === 'outcome' || entry.kind === 'event'
        ? this.#encodeOther(entry)
        : this.#encodeCall(entry)
    if (body !== undefined) return body
    // A text of somebody else looks like a token, and would be read as a name.
    this.#isEscaped = true
    const escaped = encodeBody(this.#hide(escapeTokens(entry)))
    this.#isEscaped = false
    return escaped
  }

  /** Returns undefined if a text of the entry looks like a token. */
  #encodeCall(entry: CallEntry): string | undefined {
    const { version } = this.#names
    if (version !== this.#rememberedVersion) this.#remembered.clear()
    this.#rememberedVersion = version
    const shared = this.#remembered.find(entry) ?? this.#encodeShared(entry)
    const { approval, callId, parent } = entry
    if (shared === undefined || [callId, parent, approval].some(hasToken)) return undefined
    return encodeDecision(entry, shared, this.#hideDigest(entry).argsDigest)
  }

  #encodeShared(entry: CallEntry): SharedText | undefined {
    this.#tokens = 0
    const shared = encodeShared(this.#hideShared(entry))
    if (countTokens(shared.front) + countTokens(shared.back) !== this.#tokens) return undefined
    this.#remembered.remember(entry, shared)
    return shared
  }

  #encodeOther(entry: Exclude<LedgerEntry, CallEntry>): string | undefined {
    const body = encodeBody(this.#hide(entry))
    // Nearly every outcome has no text of somebody else.
    const isOwn = entry.kind === 'outcome' && entry.labels.length + entry.changes.length === 0
    return isOwn || countTokens(body) === this.#tokens ? body : undefined
  }

  /** The digest of arguments as records have it: made of the plain one (`digestText`). */
  keyDigest(digest: string): string {
    return this.#digest.ofDigest(digest)
  }

  /** The counter of a limit as records name it: limit and scope, and one digest of all values. */
  readonly nameCounter = memoize((key) => {
    const values = key.search(/\|\d+:/)
    if (values < 0 || key.slice(values) === NO_VALUE) return key
    return `${key.slice(0, values)}|~${this.#digest.of(key).slice(0, COUNTER_DIGEST_LENGTH)}`
  }, REMEMBERED_COUNTERS_MAX)

  #hide(entry: LedgerEntry): LedgerEntry {
    this.#tokens = 0
    switch (entry.kind) {
      case 'intent':
      case 'refusal':
        return { ...entry, ...this.#hideShared(entry), ...this.#hideDigest(entry) }
      case 'event':
        return { ...entry, detail: this.#hideDetail(entry.name, '', entry.detail) }
      case 'outcome':
        return entry
    }
  }

  #hideDigest({ argsDigest }: DecisionEntry): Pick<DecisionEntry, 'argsDigest'> {
    return { argsDigest: argsDigest === null ? null : this.keyDigest(argsDigest) }
  }

  /** Field by field: a spread of an entry costs several times as much. */
  #hideShared(entry: DecisionEntry): SharedFields {
    const { decision, principal } = entry
    const id = this.#know(principal.id)
    return {
      principal: { id, kind: principal.kind },
      agent: entry.agent,
      session: this.#hideSession(entry.session, principal.id, id),
      server: entry.server,
      method: entry.method,
      name: entry.name,
      category: entry.category,
      policy: entry.policy,
      decision: this.#hideReason(this.#hideCounters(decision)),
      judged: entry.judged,
    }
  }

  #hideCounters(decision: RecordedDecision): RecordedDecision {
    const { limits, shadow } = decision
    if (limits.length === 0 && shadow.length === 0) return decision
    return {
      ...decision,
      limits: limits.map(this.#hideCharge),
      shadow: shadow.map((one) => ({ ...one, limits: one.limits.map(this.#hideCharge) })),
    }
  }

  /** Hides who approved or denied. Comments of theirs stay as they are. In other refusals known names are hidden: who
   * is frozen, and who refused a definition. */
  #hideReason(decision: RecordedDecision): RecordedDecision {
    const { action, approvers, code, reason } = decision
    if (approvers !== undefined) return { ...decision, reason: this.#hideNamed(reason, approvers) }
    if (action !== 'deny' || code === 'APPROVAL_DENIED') return decision
    return { ...decision, reason: this.#hideWords(reason) }
  }

  /** Who approved before names became tokens is not known yet. */
  #hideNamed(reason: string, { names, at }: NamedApprovers): string {
    const shown = names.join(', ')
    // Never a cut through a reason that was replaced.
    if (!reason.startsWith(shown, at)) return this.#hideWords(reason)
    const hidden = names.map((name) => this.#know(name)).join(', ')
    return `${reason.slice(0, at)}${hidden}${reason.slice(at + shown.length)}`
  }

  #original(text: string): string {
    return this.#isEscaped ? text.replaceAll(`${TOKEN_START}:`, TOKEN_START) : text
  }

  readonly #hideCharge = ({ key, kind, windowMs, max, amount }: LimitCharge): LimitCharge => ({
    key: this.#nameHidden(key),
    kind,
    windowMs,
    max,
    amount,
  })

  #nameHidden(key: string): string {
    if (!this.#isEscaped) return this.nameCounter(key)
    return escapeTokens(this.nameCounter(this.#original(key)))
  }

  /** `member` is the name under which the value is, of the event itself an empty one. */
  #hideDetail(event: string, member: string, value: JsonValue): JsonValue {
    if (typeof value === 'string') {
      if (DIGESTS.has(member)) return this.keyDigest(value)
      if (NAMED.has(member) || member === 'by name') return this.#know(value)
      if (event === SENTENCES) return this.#hideWords(value)
      return this.#hideKnown(value)
    }
    if (Array.isArray(value)) return value.map((item) => this.#hideDetail(event, member, item))
    if (!isObject(value)) return value
    // A session of somebody new may come before the name.
    for (const name of NAMED) {
      const text = value[name]
      if (typeof text === 'string' && !isNobody(text)) this.#names.know(this.#original(text))
    }
    const isNamed = member === 'by' || (member === '' && ABOUT_NAMED.has(event))
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const as = isNamed && name === 'name' ? 'by name' : name
        return [name, this.#hideDetail(event, as, inner)]
      }),
    )
  }

  #know(name: string): string {
    if (isNobody(name)) return name
    this.#tokens++
    return this.#names.know(this.#original(name))
  }

  #hideWords(sentence: string): string {
    return sentence.replace(/[^\s`"(),;]+/g, (word) => this.#hideWord(word))
  }

  #hideWord(word: string): string {
    const hidden = this.#hideKnown(word)
    const at = hidden === word ? word.search(END_OF_WORD) : word.length
    return at === word.length ? hidden : this.#hideKnown(word.slice(0, at)) + word.slice(at)
  }

  /** Most sessions are of the caller, who is looked up already. */
  #hideSession(session: string, caller: string, hidden: string): string {
    if (!session.startsWith(`${caller}#`)) return this.#hideKnown(session)
    if (!isNobody(caller)) this.#tokens++
    return hidden + session.slice(caller.length)
  }

  /** A known name, or a session of one: the number of a session is behind the last `#`. */
  #hideKnown(text: string): string {
    const at = text.lastIndexOf('#')
    for (const name of at < 0 ? [text] : [text, text.slice(0, at)]) {
      const token = isNobody(name) ? undefined : this.#names.tokenOf(this.#original(name))
      if (token === undefined) continue
      this.#tokens++
      return token + text.slice(name.length)
    }
    return text
  }
}

function isNobody(name: string): boolean {
  return name === LOCAL || name === ''
}

function hasToken(text: string | undefined): boolean {
  return text?.includes(TOKEN_START) === true
}

function countTokens(text: string): number {
  let count = 0
  for (let at = text.indexOf(TOKEN_START); at >= 0; at = text.indexOf(TOKEN_START, at + 1)) count++
  return count
}

/** The same with each start of a token written twice; `showNames` reads it back. */
function escapeTokens<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll(TOKEN_START, `${TOKEN_START}:`) as Value
  if (Array.isArray(value)) return value.map(escapeTokens) as Value
  const isPlain = isObject(value) && Object.getPrototypeOf(value) === Object.prototype
  if (!isPlain) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [escapeTokens(name), escapeTokens(inner)]),
  ) as Value
}
