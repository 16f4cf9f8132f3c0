// Secrets in what leaves with an export: found by the guard's shapes, replaced by their kind. Long texts
// are looked at in stretches that overlap, bytes as Latin-1 and as UTF-16 in both orders. What is found
// is listed, never quoted. Pure.

import { findSecretShapes } from '@sluice/guard/secrets'
import { asBuffer } from '@sluice/ledger/store/as-buffer'

/** Longer than any shape is, so that none lies across the edge of two stretches unseen. */
const OVERLAP_CHARS = 12_000
const STAR = 0x2a
/** What is looked at in one piece: encoded runs are undone under a budget a piece. */
const STRETCH_CHARS = 65_536

export interface RedactedSecret {
  readonly kind: string
  readonly where: string
  readonly count: number
}

interface RedactionPlace {
  readonly kind: string
  readonly start: number
  end: number
}

export class Redactor {
  readonly #secrets = new Map<string, RedactedSecret>()
  readonly #keep: boolean

  constructor(keep: boolean) {
    this.#keep = keep
  }

  get secrets(): RedactedSecret[] {
    return [...this.#secrets.values()]
  }

  /** The text without its secrets, or as it is where they are to be kept; both ways they are listed. */
  text(text: string, where: string): string {
    const places = placesIn(text)
    if (places.length === 0) return text
    const parts: string[] = []
    let at = 0
    for (const { kind, start, end } of places) {
      this.#note(kind, where)
      parts.push(text.slice(at, start), `[secret: ${kind}]`)
      at = end
    }
    return this.#keep ? text : `${parts.join('')}${text.slice(at)}`
  }

  /** Bytes that are no text, with stars in the place of secrets: offsets in them stay what they are. */
  bytes(bytes: Uint8Array, where: string): Uint8Array {
    const view = asBuffer(bytes)
    const clean = Buffer.from(view)
    for (const { kind, start, end } of placesIn(view.toString('latin1'))) {
      this.#note(kind, where)
      clean.fill(STAR, start, end)
    }
    // From the second byte on the one order reads like the other; a byte more, so that the last counts.
    const wide = Buffer.concat([view, Buffer.alloc(2)])
    for (const offset of [0, 1])
      for (const { kind, start, end } of placesIn(wide.toString('utf16le', offset))) {
        this.#note(kind, where)
        for (let at = start; at < end; at += 1) clean[offset + 2 * at] = STAR
      }
    return this.#keep ? bytes : clean
  }

  /** The same in every text of a value, names of members included. */
  value(value: unknown, where: string): unknown {
    if (typeof value === 'string') return this.text(value, where)
    if (Array.isArray(value)) return value.map((item) => this.value(item, where))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        this.text(name, where),
        this.value(member, where),
      ]),
    )
  }

  #note(kind: string, where: string): void {
    const name = `${kind} ${where}`
    const count = (this.#secrets.get(name)?.count ?? 0) + 1
    this.#secrets.set(name, { kind, where, count })
  }
}

/** In order, without overlaps. */
function placesIn(text: string): RedactionPlace[] {
  const found: RedactionPlace[] = []
  for (let from = 0; from < text.length; from += STRETCH_CHARS - OVERLAP_CHARS) {
    const stretch = text.slice(from, from + STRETCH_CHARS)
    for (const { kind, start, end } of findSecretShapes(stretch))
      found.push({ kind: toSlug(kind), start: from + start, end: from + end })
    if (stretch.length < STRETCH_CHARS) break
  }
  const places: RedactionPlace[] = []
  for (const each of found.sort((a, b) => a.start - b.start)) {
    const last = places.at(-1)
    if (last !== undefined && each.start < last.end) last.end = Math.max(last.end, each.end)
    else places.push(each)
  }
  return places
}

function toSlug(kind: string): string {
  return kind.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}
