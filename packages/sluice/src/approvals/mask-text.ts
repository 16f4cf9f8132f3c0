// Arguments as people are shown them: secrets masked, everything else as it is written. The caller
// writes the arguments, so it must not be able to hide a part of them behind a mask: every mask is
// bounded, says how many characters it covers, and is listed with its place (M7). Pure.

import type { Masked, MaskedPart } from '../core/approval.ts'
import { joinMembers } from '../core/canonical-json.ts'
import { OWN_TOKEN_ON_ONE_LINE } from '../core/own-token-shapes.ts'
import { makeText, type Path } from './json-text.ts'
import { MASKED_PARTS_MAX } from './limits.ts'

export interface MaskedText {
  readonly text: string
  readonly masked: Masked
}

const NOTHING: Masked = { parts: [], count: 0, characters: 0 }

/** Arguments and what is sent beside them, which an empty text stands for where there is none. */
export function maskCall(
  args: string,
  rest: string,
): { args: string; rest: string; masked: Masked } {
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

/** Names whose texts nobody needs to see in order to decide. */
const SECRET_NAME =
  /pass(?:word|wd|phrase|code)|secret|token|api[_-]?key|authori[sz]ation|credential|private[_-]?key|^pin$|cookie/i
/** ... unless the name says that it is about one: how many, which, of which kind, until when. */
const ABOUT_SECRET =
  /(?:amount|count|limit|budget|max|min|size|length|total|usage|used|price|cost|fee|number|symbol|type|kind|name|policy|address|contract|url|uri|path|file|expiry|expires|ttl|age)s?$|^(?:max|min|num|total|input|output|prompt|completion|used|remaining)[_-]?(?:[a-z]{1,20}[_-]?)?tokens$/i
/** A number under any other name is an amount, and the approver decides by amounts. */
const SECRET_NUMBER_NAME = /^(?:pin|pass(?:word|wd|phrase|code))$/i

interface Shape {
  readonly pattern: RegExp
  /** In the pattern, what is masked is the second group, behind the first, which is shown. */
  readonly isSecond?: true
}

/** Shapes that hardly anything but a secret has. Each looks at a place once, or at a few thousand
 * characters behind it, and takes only characters that a secret of the kind has: a mask does not go on
 * to the end of the text, nor over spaces and signs that a command needs. */
const SECRET_SHAPES: readonly Shape[] = [
  {
    isSecond: true,
    pattern:
      /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?:\\n|\s){1,4}[A-Z][A-Za-z-]{3,20}: [^\n\\]{1,80}){0,4})((?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{16,8192}){1,200}(?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{1,15}(?=(?:\\n|\s){0,4}-----END))?)/g,
  },
  { pattern: OWN_TOKEN_ON_ONE_LINE },
  { pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  {
    pattern:
      /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{20,255})/g,
  },
  { pattern: /\bsk-[A-Za-z0-9_-]{20,255}/g },
  { pattern: /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g },
  { pattern: /\bAIza[A-Za-z0-9_-]{35}\b/g },
  { pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  {
    pattern:
      /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}/g,
  },
  // Without `/`, which tokens seldom and paths always have.
  { isSecond: true, pattern: /\b([Bb]earer )([A-Za-z0-9._~+=-]{16,4000})(?![A-Za-z0-9._~+=/-])/g },
  { isSecond: true, pattern: /(:\/\/[^\s/:@]{1,255}:)([\w.~%!*+=-]{1,255})(?=@)/g },
]

/** What stands in the place of so many characters. */
export function maskOf(characters: number): string {
  return `[masked: ${characters} character${characters === 1 ? '' : 's'}]`
}

/** `at` is the pointer of the text itself. */
export function maskText(text: string, at = ''): MaskedText {
  const found = new MaskedParts()
  const made = makeText(text, {
    text: (value, path) => {
      const place = at + pointerOf(path)
      if (value !== '' && isSecretText(path))
        return JSON.stringify(found.add(place, 0, value.length))
      return JSON.stringify(maskShapes(value, place, found))
    },
    plain: (written, path) => {
      const name = nameOf(path)
      const isSecret = name !== undefined && SECRET_NUMBER_NAME.test(name) && /^-?\d/.test(written)
      return isSecret ? JSON.stringify(found.add(at + pointerOf(path), 0, written.length)) : written
    },
    object: joinMembers,
  })
  return { text: made, masked: found.all }
}

class MaskedParts {
  readonly #parts: MaskedPart[] = []
  #count = 0
  #characters = 0

  /** What is shown instead. */
  add(path: string, from: number, characters: number): string {
    this.#count++
    this.#characters += characters
    if (this.#parts.length < MASKED_PARTS_MAX) this.#parts.push({ path, from, characters })
    return maskOf(characters)
  }

  get all(): Masked {
    return { parts: this.#parts, count: this.#count, characters: this.#characters }
  }
}

/** By places in the text as it is, so that no mask is taken for a secret of the next shape. */
function maskShapes(value: string, place: string, found: MaskedParts): string {
  const spans: [from: number, to: number][] = []
  for (const { pattern, isSecond } of SECRET_SHAPES)
    for (const match of value.matchAll(pattern)) {
      const from = match.index + (isSecond ? (match[1] as string).length : 0)
      spans.push([from, from + (isSecond ? (match[2] as string) : match[0]).length])
    }
  if (spans.length === 0) return value
  spans.sort(([a], [b]) => a - b)
  let shown = ''
  let next = 0
  for (const [from, to] of spans) {
    if (from < next) continue
    shown += value.slice(next, from) + found.add(place, from, to - from)
    next = to
  }
  return shown + value.slice(next)
}

/** The nearest name; items of a list have that of the list. */
function nameOf(path: Path): string | undefined {
  return path.findLast((step) => typeof step === 'string') as string | undefined
}

/** Texts below a member with such a name are secret too, each leaf by itself. */
function isSecretText(path: Path): boolean {
  return path.some(
    (step) => typeof step === 'string' && SECRET_NAME.test(step) && !ABOUT_SECRET.test(step),
  )
}

function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
