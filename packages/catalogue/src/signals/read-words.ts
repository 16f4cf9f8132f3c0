// The words of a definition, by the zone they stand in, and the parts of a word. The network reads
// them beside the signals: it knows words that no list has. Pure; bounded, because a definition is
// the server's text.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { isObject, type JsonObject } from '@sluice/policy/values/json'
import {
  ARGUMENT_CHARS_MAX,
  ARGUMENT_VALUES_MAX,
  ARGUMENT_WORDS_MAX,
  READ_ARGUMENTS_MAX,
  READ_WORDS_CHARS_MAX,
} from './limits.ts'
import { propertiesOf } from './schema-properties.ts'
import { below, type SignalSpan } from './signal.ts'
import { splitNameWords } from './split-words.ts'

/**
 * Where a word stands: in the name (`n`), first in the name (`^`), in the description (`d`), first in
 * the description (`f`), in the name of an argument (`a`), first in a value to choose (`e`).
 */
export type WordZone = 'n' | '^' | 'd' | 'f' | 'a' | 'e'

/** `d refund`, in contrast to a signal such as `text:pay`. */
export function isWordFeature(feature: string): boolean {
  return feature[1] === ' '
}

/** The parts of a definition whose words the network reads. */
export interface DefinitionTexts {
  /** Cut to READ_WORDS_CHARS_MAX characters, as `prose` is. */
  readonly name: string
  /** The description; the title if there is none. */
  readonly prose: string
  /** JSON Pointer of the text that `prose` is from. */
  readonly proseAt: '/title' | '/description'
  /** The properties of the input schema. */
  readonly properties: JsonObject
}

/** The texts of a definition; what is no text counts as empty. */
export function textsOf({
  name,
  title,
  description,
  inputSchema,
}: ToolDefinition): DefinitionTexts {
  const described = text(description)
  const untold = described.trim() === ''
  return {
    name: text(name).slice(0, READ_WORDS_CHARS_MAX),
    prose: (untold ? text(title) : described).slice(0, READ_WORDS_CHARS_MAX),
    proseAt: untold ? '/title' : '/description',
    properties: propertiesOf(inputSchema),
  }
}

export function wordsOfName(name: string): string[] {
  return splitNameWords(name).map((word) => word.text)
}

/** The words of prose, in lower case. */
export function wordsOfProse(prose: string): string[] {
  const runs = toLower(prose).match(LETTERS) ?? []
  if (!IS_WIDE.test(prose)) return runs
  return runs
    .flatMap((run) => run.match(WIDE_OR_NOT) ?? [])
    .flatMap((run) => (IS_WIDE.test(run) ? pairsOf(run) : [run]))
}

export function wordsOfArgument(argument: string): string[] {
  return wordsOfName(argument.slice(0, ARGUMENT_CHARS_MAX)).slice(0, ARGUMENT_WORDS_MAX)
}

/** Calls back with the arguments that are read and with the values to choose of each. */
export function eachArgument(
  properties: JsonObject,
  emit: (argument: string, values: readonly unknown[]) => void,
): void {
  let left = READ_ARGUMENTS_MAX
  for (const argument in properties) {
    if (left-- === 0) return
    const property = properties[argument]
    const values = isObject(property) && Array.isArray(property.enum) ? property.enum : NO_VALUES
    emit(
      argument,
      values.length > ARGUMENT_VALUES_MAX ? values.slice(0, ARGUMENT_VALUES_MAX) : values,
    )
  }
}

const NO_VALUES: readonly unknown[] = []

/** All words with their places, to be shown. */
export function placeWords(definition: ToolDefinition): PlacedWord[] {
  const { name, prose, proseAt, properties } = textsOf(definition)
  const placed: PlacedWord[] = []
  const names = splitNameWords(name)
  names.forEach(({ text: word, start, end }, index) => {
    for (const zone of index === 0 ? (['n', '^'] as const) : (['n'] as const))
      placed.push({ zone, word, place: { at: '/name', start, end } })
  })
  const lower = toLower(prose)
  let from = 0
  wordsOfProse(prose).forEach((word, index) => {
    const start = lower.indexOf(word, from)
    // Pairs of letters overlap.
    from = IS_WIDE.test(word) ? start + 1 : start + word.length
    for (const zone of index === 0 ? (['d', 'f'] as const) : (['d'] as const))
      placed.push({ zone, word, place: { at: proseAt, start, end: start + word.length } })
  })
  eachArgument(properties, (argument, values) => {
    const place = { at: below('/inputSchema/properties', argument), start: 0, end: 0 }
    for (const word of wordsOfArgument(argument)) placed.push({ zone: 'a', word, place })
    for (const value of values) {
      const [word] = typeof value === 'string' ? wordsOfArgument(value) : []
      if (word !== undefined) placed.push({ zone: 'e', word, place })
    }
  })
  return placed
}

interface PlacedWord {
  readonly zone: WordZone
  readonly word: string
  readonly place: SignalSpan
}

/**
 * Parts of a word of four and five letters, with marks at its ends: `<refu`, `fund>`. So `refunded`
 * is known by `refund`.
 */
export function partsOfWord(word: string): string[] {
  const marked = `<${word}>`
  const parts = new Set<string>()
  for (const length of PART_LETTERS)
    for (let at = 0; at + length <= marked.length; at++) parts.add(marked.slice(at, at + length))
  return [...parts]
}

const PART_LETTERS = [4, 5]

const LETTERS = /\p{L}+/gu
/** Scripts without spaces, or with endings that are written on: two letters at a time are a word. */
const IS_WIDE = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/
const WIDE_OR_NOT =
  /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g

function pairsOf(run: string): string[] {
  return Array.from({ length: Math.max(1, run.length - 1) }, (_, at) => run.slice(at, at + 2))
}

/** Lower case of the same length: `İ` is the only letter that would become two. */
function toLower(prose: string): string {
  return prose.replaceAll('İ', 'I').toLowerCase()
}

/** A server may put anything where text belongs. */
function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
