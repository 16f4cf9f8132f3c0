// A known value in another text: as it is, in base64 (whatever stands before it in the same run), in hex
// and percent-encoded. For values that must not come back, and for planted ones. A value that was turned
// around or encrypted is not found. Whatever its case. Pure.

import { runSteps, type Steps } from '@sluice/policy/structures/steps'

/** Texts that give the value away, the value itself first, in small letters. */
function formsOf(value: string): readonly string[] {
  const bytes = utf8Bytes(value)
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const percent = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const base64 = [0, 1, 2].map((before) => base64Core(bytes, before))
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    ...new Set(
      [
        value,
        value.toLowerCase(),
        value.toUpperCase(),
        encodeURIComponent(toWellFormed(value)),
        hex,
        percent,
        ...base64,
        ...urlSafe,
      ].map(toSmall),
    ),
  ]
}

export interface FoundForm<Owner> {
  readonly start: number
  readonly end: number
  readonly owner: Owner
}

interface OwnedForm<Owner> {
  readonly form: string
  readonly owner: Owner
}

/** Characters of every form that are hashed; no form is shorter. */
const HASHED_CHARS = 12
const FACTOR = 0x9e37_79b1
const FILTER_BITS = 14
/** Characters that one step reads and compares. */
const STEP_CHARS = 262_144

/** Finds all forms of many values in one pass: by the hash of as many characters as all of them have, and only
 * where that fits by the forms themselves. */
export class FormFinder<Owner> {
  readonly #isHash = new Uint8Array(1 << FILTER_BITS)
  readonly #forms = new Map<number, OwnedForm<Owner>[]>()
  /** What the first of the hashed characters adds to a hash. */
  readonly #firstFactor: number

  constructor() {
    let factor = 1
    for (let at = 1; at < HASHED_CHARS; at++) factor = Math.imul(factor, FACTOR)
    this.#firstFactor = factor
  }

  add(owner: Owner, value: string): void {
    for (const form of formsOf(value)) this.#add({ form, owner })
  }

  #add(owned: OwnedForm<Owner>): void {
    const { form } = owned
    if (form.length < HASHED_CHARS) throw new RangeError('too short to be looked for')
    let hash = 0
    for (let at = 0; at < HASHED_CHARS; at++) hash = Math.imul(hash, FACTOR) + smallUnit(form, at)
    this.#isHash[hash >>> (32 - FILTER_BITS)] = 1
    this.#forms.set(hash | 0, [...(this.#forms.get(hash | 0) ?? []), owned])
  }

  /** In the order of the text. Of those of one owner that overlap the first; undefined if more characters would
   * have to be compared than `charsMax`. */
  find(text: string, charsMax: number): FoundForm<Owner>[] | undefined {
    return runSteps(this.findSteps(text, { charsLeft: charsMax }))
  }

  /** The same in steps, each short, and with a budget that several texts may share. */
  *findSteps(text: string, budget: CompareBudget): Steps<FoundForm<Owner>[] | undefined> {
    const search: FormSearch<Owner> = { text, budget, found: [], ends: new Map(), at: 0, hash: 0 }
    for (;;) {
      this.#look(search)
      if (budget.charsLeft < 0) return undefined
      if (search.at === text.length) return search.found
      yield
    }
  }

  /** Goes on until as much was read and compared as a step may. */
  #look(search: FormSearch<Owner>): void {
    const { budget, ends, found, text } = search
    const first = this.#firstFactor
    let { at, hash } = search
    let stepLeft = STEP_CHARS
    for (; at < text.length && stepLeft > 0; at++) {
      stepLeft--
      const start = at - HASHED_CHARS + 1
      if (start > 0) hash -= Math.imul(smallUnit(text, start - 1), first)
      hash = (Math.imul(hash, FACTOR) + smallUnit(text, at)) | 0
      if (start < 0 || this.#isHash[hash >>> (32 - FILTER_BITS)] === 0) continue
      for (const { form, owner } of this.#forms.get(hash) ?? []) {
        if ((ends.get(owner) ?? 0) > start) continue
        const common = countCommon(text, start, form)
        stepLeft -= common
        budget.charsLeft -= common
        if (budget.charsLeft < 0) return
        if (common < form.length) continue
        ends.set(owner, start + form.length)
        found.push({ start, end: start + form.length, owner })
      }
    }
    search.at = at
    search.hash = hash
  }
}

/** Where a search is, between its steps. */
interface FormSearch<Owner> {
  readonly text: string
  readonly found: FoundForm<Owner>[]
  /** Where the last form of an owner ends. */
  readonly ends: Map<Owner, number>
  at: number
  hash: number
  readonly budget: CompareBudget
}

/** Characters that may still be compared. */
export interface CompareBudget {
  charsLeft: number
}

/** How many characters of `form` stand at `start`. By hand: what is compared is counted. */
function countCommon(text: string, start: number, form: string): number {
  let at = 0
  while (at < form.length && smallUnit(text, start + at) === form.charCodeAt(at)) at++
  return at
}

/** A capital of ASCII as the small letter: whatever its case, a value is given away. */
function smallUnit(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit
}

function toSmall(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase())
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The letters of base64 that depend on the value alone, if so many bytes stand before it. */
function base64Core(bytes: readonly number[], before: number): string {
  const last = Math.floor((8 * (bytes.length + before)) / 6)
  let text = ''
  for (let letter = Math.ceil((8 * before) / 6); letter < last; letter++) {
    const bit = 6 * letter - 8 * before
    const at = bit >> 3
    const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] ?? 0)
    text += ALPHABET[(pair >> (10 - (bit & 7))) & 63]
  }
  return text
}

function utf8Bytes(value: string): number[] {
  return [...encodeURIComponent(toWellFormed(value)).matchAll(/%([0-9A-F]{2})|(.)/g)].map(
    ([, hex, letter]) =>
      hex === undefined ? (letter as string).charCodeAt(0) : Number.parseInt(hex, 16),
  )
}

/** Half characters have no bytes. */
function toWellFormed(value: string): string {
  return value.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    '?',
  )
}
