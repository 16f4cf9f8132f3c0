// What the policy's `answers` changed in a message towards a client: kinds and counts, never values.
// The gate counts it, the ledger records it with the outcome of the call, and people read it.

export const ANSWER_CHANGES = ['redacted', 'sealed', 'removed', 'cut', 'withheld'] as const

export interface AnswerChange {
  /** `withheld`: the whole message was. */
  readonly change: (typeof ANSWER_CHANGES)[number]
  /** What it was, such as `GitHub token`, `link` or `text`. */
  readonly kind: string
  readonly count: number
}

/** Kinds of changes that are told apart; the others are counted together. */
const KINDS_MAX = 50
const OTHER = 'other data'

/** Counts changes by what they are. */
export class AnswerChangeCounts {
  readonly #counts = new Map<
    string,
    { -readonly [Field in keyof AnswerChange]: AnswerChange[Field] }
  >()

  get size(): number {
    return this.#counts.size
  }

  add(change: AnswerChange['change'], kind: string, count = 1): void {
    const key = `${change} ${kind}`
    const known = this.#counts.get(key)
    if (known !== undefined) known.count += count
    else if (this.#counts.size < KINDS_MAX || kind === OTHER)
      this.#counts.set(key, { change, kind, count })
    else this.add(change, OTHER, count)
  }

  addAll(changes: readonly AnswerChange[]): void {
    for (const { change, kind, count } of changes) this.add(change, kind, count)
  }

  /** All of them, and begins again. */
  take(): readonly AnswerChange[] {
    const all = [...this.#counts.values()]
    this.#counts.clear()
    return all
  }
}

/** `redacted 2 x card, sealed 1 x GitHub token`; empty if nothing was changed. */
export function describeChanges(changes: readonly AnswerChange[]): string {
  return changes.map(({ change, kind, count }) => `${change} ${count} x ${kind}`).join(', ')
}
