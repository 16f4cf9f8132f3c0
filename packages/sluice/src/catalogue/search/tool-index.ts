// Ranks tools by a question in words: BM25F over the server's name, the tool's name and title, its description and
// its arguments. The length of each field is normalised, so that a description stuffed with keywords gains nothing.
// Nothing is stored between searches but the words of each tool, which the caller may cache. Pure.

import { isObject } from '@sluice/policy/core/json'
import type { Steps } from '@sluice/policy/core/steps'
import type { ToolDefinition } from '@sluice/policy/core/tools'
import { splitNameWords } from '../signals/split-words.ts'
import words from './words.json' with { type: 'json' }

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

const STOP_WORDS = new Set(words.stop.split(' '))

/** What a synonym counts, compared with the word itself. */
const SYNONYM_SHARE = 0.5

/** The terms of a text: words in lower case without endings, pairs of characters in scripts without spaces. */
export function termsOf(text: string): string[] {
  const plain = text.slice(0, FIELD_LENGTH_MAX).replace(PRODUCT, (name) => name.toLowerCase())
  return splitNameWords(plain).flatMap(({ text: word }) => {
    if (STOP_WORDS.has(word)) return []
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

/** Words of users and of tools for the same thing: each also finds the others of its line, for less. */
const GROUPS = words.synonyms.map((line) => line.split(' ').map(stem))

function othersOf(term: string): string[] {
  return GROUPS.flatMap((group) => (group.includes(term) ? group : [])).filter(
    (word) => word !== term,
  )
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

/** Places of the tools that match best, the best first; a step for each word. Equal scores stay in the order of the
 * list. */
export function* rankTools(
  tools: readonly ToolTerms[],
  query: string,
  limit: number,
): Steps<number[]> {
  const asked = [...new Set(termsOf(query))].slice(0, QUERY_TERMS_MAX)
  // Not the mean, which one very long description would raise for all.
  const usual = WEIGHTS.map((_, at) => median(tools.map(({ lengths }) => lengths[at] ?? 0)) || 1)
  const scores = tools.map(() => 0)
  for (const term of asked) {
    const best = new Map<number, number>()
    for (const word of [term, ...othersOf(term)]) {
      const found = [...tools.entries()].filter(([, { counts }]) => counts.has(word))
      const rarity = Math.log(1 + (tools.length - found.length + 0.5) / (found.length + 0.5))
      const share = word === term ? rarity : rarity * SYNONYM_SHARE
      for (const [at, tool] of found) {
        const weight = weigh(tool, word, usual)
        best.set(at, Math.max(best.get(at) ?? 0, (share * weight) / (SATURATION + weight)))
      }
      yield
    }
    for (const [at, score] of best) scores[at] = (scores[at] ?? 0) + score
  }
  const matching = [...scores.keys()].filter((at) => (scores[at] ?? 0) > 0)
  return matching.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, limit)
}

/** How often a tool has a term, each field by its weight and compared with the usual length of the field. */
function weigh({ counts, lengths }: ToolTerms, term: string, usual: readonly number[]): number {
  return (counts.get(term) ?? []).reduce((sum, count, at) => {
    const share = 1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / (usual[at] ?? 1)
    return sum + ((WEIGHTS[at] ?? 0) * count) / share
  }, 0)
}
