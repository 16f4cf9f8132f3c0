// Arguments as shown to approvers: secrets masked, everything else unchanged. The caller writes the
// arguments, so it must not be able to hide a part of them behind a mask: every mask is bounded,
// states how many characters it covers, and is listed with its path (M7). Pure.

import { isMaskedName, isMaskedNumberName } from '@sluice/guard/secret-names'
import { findMaskedSpans } from '@sluice/guard/secrets'
import { joinMembers } from '@sluice/policy/values/canonical-json'
import { escapePointer } from '@sluice/policy/values/json-pointer'
import type { MaskedArguments, MaskedPart } from './approval.ts'
import { type Path, rewriteText } from './json-text.ts'
import { MASKED_PARTS_MAX } from './limits.ts'

const NOTHING: MaskedArguments = { parts: [], count: 0, characters: 0 }

/** Arguments and what is sent besides them; an empty text means none. */
export function maskCall(
  args: string,
  rest: string,
): { args: string; rest: string; masked: MaskedArguments } {
  const none = { text: '', masked: NOTHING }
  const [shown, beside] = [
    args === '' ? none : maskText(args, '/arguments'),
    rest === '' ? none : maskText(rest),
  ]
  const [one, other] = [shown.masked, beside.masked]
  return {
    args: shown.text,
    rest: beside.text,
    masked: {
      parts: [...one.parts, ...other.parts].slice(0, MASKED_PARTS_MAX),
      count: one.count + other.count,
      characters: one.characters + other.characters,
    },
  }
}

/** Text that is shown beside what is sent. */
export function maskPlainText(text: string): string {
  return JSON.parse(maskText(JSON.stringify(text)).text)
}

/** The replacement for this many characters. */
function formatMask(characters: number): string {
  return `[masked: ${characters} character${characters === 1 ? '' : 's'}]`
}

/** A JSON text without its secrets. */
export interface MaskedText {
  readonly text: string
  /** Where the masks are, and how much each covers. */
  readonly masked: MaskedArguments
}

/** `at` is the pointer of the text itself. */
export function maskText(text: string, at = ''): MaskedText {
  const masked = new MaskedParts()
  const made = rewriteText(text, {
    text: (value, path) => {
      const place = at + toPointer(path)
      if (value !== '' && isSecretText(path))
        return JSON.stringify(masked.add(place, 0, value.length))
      return JSON.stringify(maskShapes(value, place, masked))
    },
    plain: (written, path) => {
      const name = findName(path)
      const isSecret = name !== undefined && isMaskedNumberName(name) && /^-?\d/.test(written)
      return isSecret
        ? JSON.stringify(masked.add(at + toPointer(path), 0, written.length))
        : written
    },
    object: joinMembers,
  })
  return { text: made, masked: masked.all }
}

class MaskedParts {
  readonly #parts: MaskedPart[] = []
  #count = 0
  #characters = 0

  /** Returns what is shown instead. */
  add(path: string, from: number, characters: number): string {
    this.#count++
    this.#characters += characters
    if (this.#parts.length < MASKED_PARTS_MAX) this.#parts.push({ path, from, characters })
    return formatMask(characters)
  }

  get all(): MaskedArguments {
    return { parts: this.#parts, count: this.#count, characters: this.#characters }
  }
}

function maskShapes(value: string, place: string, masked: MaskedParts): string {
  let shown = ''
  let next = 0
  for (const { start, end } of findMaskedSpans(value)) {
    shown += value.slice(next, start) + masked.add(place, start, end - start)
    next = end
  }
  return shown + value.slice(next)
}

/** The nearest name; items of a list have that of the list. */
function findName(path: Path): string | undefined {
  return path.findLast((step) => typeof step === 'string') as string | undefined
}

/** Texts below a member with such a name are secret too, each leaf separately. */
function isSecretText(path: Path): boolean {
  return path.some((step) => typeof step === 'string' && isMaskedName(step))
}

function toPointer(path: Path): string {
  return path.map((step) => `/${escapePointer(String(step))}`).join('')
}
