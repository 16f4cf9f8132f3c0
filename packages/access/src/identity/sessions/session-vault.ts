// Values that a session's agent may not see: secrets that were redacted and may be passed on by their
// placeholder, and what was cut off of long answers. Bounded, gone with the session. Secrets outlive the gate,
// encrypted (AnswerMemory); what was cut off does not. Only values that nobody can guess are sealed: that
// two are equal, which placeholders show, then tells nothing.

import { randomBytes } from 'node:crypto'
import { type CompareBudget, FormFinder } from '@sluice/guard/value-forms'
import type { Steps } from '@sluice/policy/structures/steps'
import {
  OPENED_CHARS_MAX,
  REST_CHARS_MAX,
  RESTS_MAX,
  SEALED_VALUE_CHARS_MAX,
  SEALED_VALUES_MAX,
} from '../limits.ts'

/** What an answer belongs to: the policy looks up by it where a value may go. */
export interface ValueSource {
  readonly server: string
  readonly method: string
  readonly name: string
}

export interface SealedValue {
  readonly id: string
  readonly kind: string
  readonly value: string
  readonly sources: readonly ValueSource[]
}

/** Where a sealed value stands in a text. */
interface SealedEcho {
  readonly start: number
  readonly end: number
  readonly placeholder: string
  readonly kind: string
}

export interface AnswerRest {
  readonly text: string
  readonly source: ValueSource
}

/** `[sealed GitHub token 4f0c…]` */
const PLACEHOLDER = /\[sealed [A-Za-z0-9 ,-]{1,60} ([a-z2-7]{16})\]/g
const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'

/** How many sources of one value are remembered: what brought it. */
const SOURCES_MAX = 50

export class SessionVault {
  readonly #values = new Map<string, SealedValue>()
  /** Finds a form and the id of its value; most sessions have none. */
  #finder: FormFinder<string> | undefined
  readonly #rests = new Map<string, AnswerRest>()
  #restChars = 0
  #isChanged = false

  get size(): number {
    return this.#values.size
  }

  /** Lists the values that are to be stored. */
  list(): readonly SealedValue[] {
    return [...this.#values.values()].map(({ id, kind, value, sources }) => ({
      id,
      kind,
      value,
      sources,
    }))
  }

  /** What was stored, beside what is there. */
  restore(values: readonly SealedValue[]): void {
    for (const { id, kind, value, sources } of values) {
      if (!this.#values.has(id)) this.#addForms(id, value)
      this.#values.set(id, { id, kind, value, sources })
    }
  }

  /** Whether values were sealed, or came again from elsewhere, since this was last asked. */
  takeChanged(): boolean {
    const isChanged = this.#isChanged
    this.#isChanged = false
    return isChanged
  }

  /** The placeholder; undefined if the value is too long, or the session has too many. */
  seal(value: string, kind: string, sources: readonly ValueSource[]): string | undefined {
    const same = [...this.#values.values()].find((each) => each.value === value)
    if (same !== undefined) return this.#addSources(same, sources)
    if (this.#values.size >= SEALED_VALUES_MAX || value.length > SEALED_VALUE_CHARS_MAX)
      return undefined
    const id = newId()
    this.#values.set(id, { id, kind, value, sources })
    this.#addForms(id, value)
    this.#isChanged = true
    return placeholderOf({ id, kind })
  }

  #addForms(id: string, value: string): void {
    this.#finder ??= new FormFinder()
    this.#finder.add(id, value)
  }

  /** A value that comes again may go only if all that brought it allow. */
  #addSources(same: SealedValue, sources: readonly ValueSource[]): string {
    const known = new Set(same.sources.map((source) => JSON.stringify(source)))
    const more = sources.filter((source) => !known.has(JSON.stringify(source)))
    if (more.length > 0) {
      // Past the bound nothing allows it any more: no rule names this source.
      const all = [...same.sources, ...more]
      const sources = all.length > SOURCES_MAX ? [] : all
      this.#values.set(same.id, { ...same, sources })
      this.#isChanged = true
    }
    return placeholderOf(same)
  }

  /** Where values of the session stand in a text that goes to its agent, with their placeholders. Undefined if
   * the text was made to be slow to look through. */
  *findEchoes(text: string, budget: CompareBudget): Steps<SealedEcho[] | undefined> {
    if (this.#finder === undefined) return []
    const matches = yield* this.#finder.findSteps(text, budget)
    return matches?.map(({ start, end, owner }) => {
      const sealed = this.#values.get(owner) as SealedValue
      return { start, end, placeholder: placeholderOf(sealed), kind: sealed.kind }
    })
  }

  /** The values whose placeholders stand in a text; `unknown` or `too long` at the first that is of another
   * session or past what one call may have opened. */
  findPlaceholders(text: string): readonly SealedValue[] | 'unknown' | 'too long' {
    const known: SealedValue[] = []
    let chars = 0
    for (const [, id] of text.matchAll(PLACEHOLDER)) {
      const sealed = this.#values.get(id as string)
      if (sealed === undefined) return 'unknown'
      chars += sealed.value.length
      if (chars > OPENED_CHARS_MAX) return 'too long'
      known.push(sealed)
    }
    return known
  }

  /** The text with values in the place of placeholders. */
  open(text: string): string {
    return text.replace(PLACEHOLDER, (all, id: string) => this.#values.get(id)?.value ?? all)
  }

  /** The id by which the rest of an answer is read; undefined if it is too long to be kept. */
  keepRest(rest: AnswerRest): string | undefined {
    if (rest.text.length > REST_CHARS_MAX) return undefined
    const id = newId()
    this.#rests.set(id, rest)
    this.#restChars += rest.text.length
    for (const [oldest, { text }] of this.#rests) {
      if (this.#rests.size <= RESTS_MAX && this.#restChars <= REST_CHARS_MAX) break
      this.#rests.delete(oldest)
      this.#restChars -= text.length
    }
    return id
  }

  findRest(id: string): AnswerRest | undefined {
    return this.#rests.get(id)
  }

  clear(): void {
    this.#values.clear()
    this.#finder = undefined
    this.#rests.clear()
    this.#restChars = 0
  }
}

function placeholderOf({ id, kind }: Pick<SealedValue, 'id' | 'kind'>): string {
  return `[sealed ${kind.replace(/[^A-Za-z0-9 ,-]/g, '').slice(0, 60)} ${id}]`
}

/** 80 bits. */
function newId(): string {
  return [...randomBytes(16)].map((byte) => ID_LETTERS[byte & 31]).join('')
}
