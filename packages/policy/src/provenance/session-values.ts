// Remembers the fields of answers that rules name with `last(...)`, for one session: the newest answer for
// each tool and its arguments. Bounded, and for an hour; what was dropped is unknown, never absent.

import type {
  AnswerField,
  AnswerFinding,
  AnswerScalar,
  AnswerValues,
} from '../calls/answer-values.ts'
import { ExactNumber, getMember, type JsonObject, type JsonValue } from '../values/json.ts'
import { isAnswerScalar, toAnswerKey } from './answer-key.ts'
import { ANSWER_AGE_MS_MAX, ANSWER_VALUE_LENGTH_MAX, ANSWERS_REMEMBERED_MAX } from './limits.ts'

/** The fields of one answer that were named and found. Null: the answer had no fields that could be read. */
type RememberedAnswer = {
  readonly wallMs: number
  readonly fields: readonly (readonly [path: string, value: AnswerScalar])[]
} | null

/** `isExact`: the value is the text of a number that no double represents. */
type StoredField = readonly [path: string, value: JsonValue, isExact?: 1]
type StoredAnswer = { readonly wallMs: number; readonly fields: readonly StoredField[] } | null

/** A session's values as they are written to disk. */
export interface StoredValues {
  readonly isIncomplete: boolean
  /** The oldest first. */
  readonly answers: readonly (readonly [id: string, answer: StoredAnswer])[]
}

export class SessionValues implements AnswerValues {
  /** The oldest first. */
  readonly #answers = new Map<string, RememberedAnswer>()
  #isIncomplete: boolean

  /** `isIncomplete`: the session may have read answers that are not here. */
  constructor(isIncomplete: boolean) {
    this.#isIncomplete = isIncomplete
  }

  static fromStored({ isIncomplete, answers }: StoredValues): SessionValues {
    const values = new SessionValues(isIncomplete)
    for (const [id, answer] of answers)
      values.#answers.set(id, answer && { ...answer, fields: answer.fields.map(fromStoredField) })
    return values
  }

  toStored(): StoredValues {
    const answers = [...this.#answers].map(
      ([id, answer]) =>
        [id, answer && { ...answer, fields: answer.fields.map(toStoredField) }] as const,
    )
    return { isIncomplete: this.#isIncomplete, answers }
  }

  /** `reads` are fields of the tool that answered; `document` is undefined for an error and for text. */
  remember(
    reads: readonly AnswerField[],
    args: JsonObject,
    document: JsonValue | undefined,
    wallMs: number,
  ): void {
    const answers = new Map<string, [string, AnswerScalar][]>()
    for (const read of reads) {
      // Another argument may ask for something else: another currency, another day.
      if (Object.keys(args).some((name) => !read.by.includes(name))) continue
      const key = toAnswerKey(read.by.map((name) => getMember(args, [name])))
      if (key === undefined) continue
      const id = toId(read, key)
      const fields = answers.get(id) ?? []
      answers.set(id, fields)
      const value = document === undefined ? undefined : getMember(document, read.field)
      if (isAnswerScalar(value) && !isTooLong(value)) fields.push([toPath(read), value])
    }
    for (const [id, fields] of answers)
      this.#set(id, document === undefined ? null : { wallMs, fields })
  }

  find(read: AnswerField, key: string | undefined, wallMs: number): AnswerFinding {
    if (key === undefined) return 'unknown'
    const answer = this.#answers.get(toId(read, key))
    if (answer === undefined) return this.#isIncomplete ? 'unknown' : 'never'
    const ageMs = answer === null ? -1 : wallMs - answer.wallMs
    if (answer === null || ageMs < 0 || ageMs > ANSWER_AGE_MS_MAX) return 'unknown'
    const path = toPath(read)
    const found = answer.fields.find(([name]) => name === path)
    return found === undefined ? 'unknown' : { value: found[1] }
  }

  #set(id: string, answer: RememberedAnswer): void {
    this.#answers.delete(id)
    this.#answers.set(id, answer)
    if (this.#answers.size <= ANSWERS_REMEMBERED_MAX) return
    const [oldest] = this.#answers.keys()
    this.#answers.delete(oldest as string)
    this.#isIncomplete = true
  }
}

function toId({ tool, by }: AnswerField, key: string): string {
  return JSON.stringify([tool, ...by, key])
}

function toPath({ field }: AnswerField): string {
  return JSON.stringify(field)
}

function isTooLong(value: AnswerScalar): boolean {
  return typeof value === 'string' && value.length > ANSWER_VALUE_LENGTH_MAX
}

function toStoredField([path, value]: readonly [string, AnswerScalar]): StoredField {
  return value instanceof ExactNumber ? [path, value.text, 1] : [path, value]
}

function fromStoredField([path, value, isExact]: StoredField): readonly [string, AnswerScalar] {
  return [path, isExact ? new ExactNumber(value as string) : (value as AnswerScalar)]
}
