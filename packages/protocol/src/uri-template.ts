// Whether a template (RFC 6570, all four levels) can expand to a URI: finds the server of a
// resource that no server listed. Pure; templates are chosen by servers, so the time is bounded by
// the product of the two lengths.

import { TEMPLATE_LENGTH_MAX, TEMPLATE_PARTS_MAX, TEMPLATE_URI_LENGTH_MAX } from './json/limits.ts'

/** What an expression can expand to: nothing, or its first character and a run of others. */
interface CharacterRun {
  readonly first: string
  readonly without: string
}

/** Literal text, or an expression. */
type TemplatePart = string | CharacterRun

/**
 * Wider than the RFC, which requires every other character to be encoded: clients build URIs by
 * hand, and servers accept them.
 */
const RUNS: Readonly<Record<string, CharacterRun>> = {
  '': { first: '', without: '/?#' },
  '+': { first: '', without: '' },
  '#': { first: '#', without: '' },
  '.': { first: '.', without: '/?#' },
  '/': { first: '/', without: '?#' },
  ';': { first: ';', without: '/?#' },
  '?': { first: '?', without: '#' },
  '&': { first: '&', without: '#' },
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/y
const VARIABLE = '[\\w%.-]+(?::\\d{1,4}|\\*)?'
const VARIABLES = new RegExp(`^${VARIABLE}(?:,${VARIABLE})*$`)

export class UriTemplate {
  readonly #parts: readonly TemplatePart[] | undefined

  /** An invalid template matches nothing. */
  constructor(template: string) {
    this.#parts = template.length > TEMPLATE_LENGTH_MAX ? undefined : parseTemplate(template)
  }

  /** The cost of `fits`: a step for each part at each offset of the URI. */
  stepsFor(uri: string): number {
    if (this.#parts === undefined || uri.length > TEMPLATE_URI_LENGTH_MAX) return 1
    return this.#parts.length * (uri.length + 1) + 1
  }

  fits(uri: string): boolean {
    if (this.#parts === undefined || uri.length > TEMPLATE_URI_LENGTH_MAX) return false
    /** Possible end offsets of what was read so far: a 1 at each. */
    let ends = new Uint8Array(uri.length + 1)
    ends[0] = 1
    for (const part of this.#parts)
      ends = typeof part === 'string' ? afterText(uri, ends, part) : afterRun(uri, ends, part)
    return ends[uri.length] === 1
  }
}

function parseTemplate(template: string): TemplatePart[] | undefined {
  const parts: TemplatePart[] = []
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{', at)
    const text = template.slice(at, open < 0 ? undefined : open)
    if (text.includes('}')) return undefined
    if (text !== '') parts.push(text)
    if (open < 0) break
    EXPRESSION.lastIndex = open
    const [whole = '', operator = '', variables = ''] = EXPRESSION.exec(template) ?? []
    if (!VARIABLES.test(variables)) return undefined
    parts.push(RUNS[operator] as CharacterRun)
    at = open + whole.length
  }
  return parts.length > TEMPLATE_PARTS_MAX ? undefined : parts
}

type ReachedPlaces = Uint8Array<ArrayBuffer>

function afterText(uri: string, starts: ReachedPlaces, text: string): ReachedPlaces {
  const ends = new Uint8Array(starts.length)
  for (let at = starts.indexOf(1); at >= 0; at = starts.indexOf(1, at + 1))
    if (uri.startsWith(text, at)) ends[at + text.length] = 1
  return ends
}

function afterRun(
  uri: string,
  starts: ReachedPlaces,
  { first, without }: CharacterRun,
): ReachedPlaces {
  const begun = first === '' ? starts.slice() : afterText(uri, starts, first)
  for (let at = begun.indexOf(1); at >= 0 && at < uri.length; at++)
    if (begun[at] === 1 && !without.includes(uri[at] as string)) begun[at + 1] = 1
  return first === '' ? begun : begun.map((one, at) => one | (starts[at] as number))
}
