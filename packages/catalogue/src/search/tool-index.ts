// Ranks tools by a question in words: BM25F over the server's name, the tool's name and title, its description and
// its arguments. The length of each field is normalised, so that a description stuffed with keywords gains nothing.
// The words of each tool and the index of a list are for the caller to cache. Pure.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import type { Steps } from '@sluice/policy/structures/steps'
import { isObject } from '@sluice/policy/values/json'
import { splitNameWords } from '../signals/split-words.ts'
import { STOP_WORDS, SYNONYMS } from './search-words.ts'

/** How often each term is in each field, and how many terms each field has. */
export interface ToolTerms {
  readonly counts: ReadonlyMap<string, readonly number[]>
  readonly lengths: readonly number[]
}

/** Server, name and title, description, arguments. The operator chose the first, the server the others. */
const WEIGHTS = [3, 3, 1, 0.3] as const
const SATURATION = 1.2
const LENGTH_SHARE = 0.75
/** Characters of a field that are read, and terms of a question. */
const FIELD_LENGTH_MAX = 4_000
export const QUERY_LENGTH_MAX = 400
const QUERY_TERMS_MAX = 32
const SCHEMA_DEPTH_MAX = 3

const STOPS: ReadonlySet<string> = new Set(STOP_WORDS)

/** What a synonym counts, compared with the word itself. */
const SYNONYM_SHARE = 0.5

/** The terms of a text: words in lower case without endings, pairs of characters in scripts without spaces. */
export function termsOf(text: string): string[] {
  const plain = text.slice(0, FIELD_LENGTH_MAX).replace(PRODUCT, (name) => name.toLowerCase())
  return splitNameWords(plain).flatMap(({ text: word }) => {
    if (STOPS.has(word)) return []
    if (!/^\p{Lo}{2,}$/u.test(word)) return [stem(word)]
    const characters = [...word]
    return characters.slice(1).map((character, at) => `${characters[at]}${character}`)
  })
}

/** `HubSpot` and `eBay` are one word; the parts of a tool's name are separated before. */
const PRODUCT = /\b(?:[A-Z][a-z]+|[a-z])[A-Z]+[a-z]*\b/g

/** `queries`, `query` and `querying` are one; crude, but the same for questions and tools. */
function stem(word: string): string {
  if (word.length < 4) return word
  const singular = word.replace(/ies$/, 'y').replace(/(?<=[sxz]|ch|sh)es$|(?<![su])s$/, '')
  const base = singular.replace(/(?<=\w{3})(?:ing|ed)$/, '')
  return base.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/(?<=\w{3})e$/, '')
}

export function readToolTerms(tool: ToolDefinition): ToolTerms {
  const { server, name, title, description, inputSchema } = tool
  const fields = [
    server,
    `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '_')} ${title ?? ''}`,
    description ?? '',
    schemaText(inputSchema, 0),
  ]
  const counts = new Map<string, number[]>()
  const lengths = fields.map((field, at) => {
    const terms = termsOf(String(field))
    for (const term of terms) {
      const count = counts.get(term) ?? fields.map(() => 0)
      count[at] = (count[at] ?? 0) + 1
      counts.set(term, count)
    }
    return terms.length
  })
  return { counts, lengths }
}

function schemaText(schema: unknown, depth: number): string {
  const { properties } = isObject(schema) ? schema : {}
  if (!isObject(properties) || depth >= SCHEMA_DEPTH_MAX) return ''
  const parts = Object.entries(properties).map(([name, value]) => {
    const { description = '', items } = isObject(value) ? value : {}
    return `${name} ${description} ${schemaText(value, depth + 1)} ${schemaText(items, depth + 1)}`
  })
  return parts.join(' ')
}

/** The stems of words for the same thing. */
const GROUPS = SYNONYMS.map((words) => words.map(stem))

function othersOf(term: string): string[] {
  return GROUPS.flatMap((group) => (group.includes(term) ? group : [])).filter(
    (word) => word !== term,
  )
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

/** Which tools have a term, so that a search looks at no other tool. */
export interface ToolIndex {
  readonly tools: readonly ToolTerms[]
  /** Places in `tools`, in its order. */
  readonly places: ReadonlyMap<string, readonly number[]>
  /** The median length of each field. Not the mean, which one very long description would raise for all. */
  readonly usual: readonly number[]
}

/** A step for each tool. */
export function* indexTools(tools: readonly ToolTerms[]): Steps<ToolIndex> {
  const places = new Map<string, number[]>()
  for (const [at, { counts }] of tools.entries()) {
    for (const term of counts.keys()) {
      const having = places.get(term)
      if (having === undefined) places.set(term, [at])
      else having.push(at)
    }
    yield
  }
  const usual = WEIGHTS.map((_, at) => median(tools.map(({ lengths }) => lengths[at] ?? 0)) || 1)
  return { tools, places, usual }
}

/** Places of the tools that match best, the best first; a step for each word. Equal scores stay in the order of the
 * list. */
export function* rankTools(
  { tools, places, usual }: ToolIndex,
  query: string,
  limit: number,
): Steps<number[]> {
  const asked = [...new Set(termsOf(query))].slice(0, QUERY_TERMS_MAX)
  const scores = new Map<number, number>()
  for (const term of asked) {
    const best = new Map<number, number>()
    for (const word of [term, ...othersOf(term)]) {
      const found = places.get(word) ?? []
      const rarity = Math.log(1 + (tools.length - found.length + 0.5) / (found.length + 0.5))
      const share = word === term ? rarity : rarity * SYNONYM_SHARE
      for (const at of found) {
        const weight = weigh(tools[at] as ToolTerms, word, usual)
        best.set(at, Math.max(best.get(at) ?? 0, (share * weight) / (SATURATION + weight)))
      }
      yield
    }
    for (const [at, score] of best) scores.set(at, (scores.get(at) ?? 0) + score)
  }
  const matching = [...scores].filter(([, score]) => score > 0)
  const ranked = matching.sort(([a, one], [b, other]) => other - one || a - b)
  return ranked.slice(0, limit).map(([at]) => at)
}

/** How often a tool has a term, each field by its weight and compared with the usual length of the field. */
function weigh({ counts, lengths }: ToolTerms, term: string, usual: readonly number[]): number {
  return (counts.get(term) ?? []).reduce((sum, count, at) => {
    const share = 1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / (usual[at] ?? 1)
    return sum + ((WEIGHTS[at] ?? 0) * count) / share
  }, 0)
}
