// What signals mean together, rule by rule (company-rules.json): an act, what must be told beside it and what must
// not. The nouns are those of nouns.ts, the acts families and verbs of lexicon.ts. A feature may have several rules,
// of which one is enough.

import written from './company-rules.json' with { type: 'json' }
import type { Noun } from './nouns.ts'

/**
 * A rule of features, by patterns. In the file they are written so: words between commas, alternatives between
 * ` | `, `*` for the name or the text, `:=` for a family or a verb, in brackets what may be missing. A pattern is
 * the whole feature, unless it begins or ends with a mark: `+secret.` is any that speaks of a secret.
 */
interface RuleCase<Pattern> {
  /** The act, as a family or a verb; its place is the evidence. */
  readonly act: Pattern
  /** What else must be told, if any. */
  readonly with?: Pattern | undefined
  /** And what else. */
  readonly and?: Pattern | undefined
  /** A noun of the server's name that will do instead. */
  readonly server?: Noun
  /** A noun that the server's name must have. */
  readonly in?: Noun
  /** A noun that the server's name must not have. */
  readonly notIn?: Noun
  readonly without?: Pattern | undefined
}

export interface Rule extends RuleCase<RegExp> {
  readonly feature: string
}

const TOKEN = /\*|:=|[.+]|\(([^()]*)\)|[^*:=.+(]+/g

function toExpression(pattern: string): RegExp {
  const sources = pattern.split(' | ').map((part) => {
    const source = part.replace(TOKEN, (token, optional?: string) => {
      if (token === '*') return '(?:name|text)'
      if (token === ':=') return '[:=]'
      if (optional !== undefined) return `(?:${optional.replace('.', '\\.')})?`
      if (token.includes(',')) return `(?:${token.replaceAll(',', '|')})`
      return token === '.' || token === '+' ? `\\${token}` : token
    })
    return `${/^[+:=]/.test(part) ? '' : '^'}${source}${/[.:]$/.test(part) ? '' : '$'}`
  })
  return new RegExp(sources.join('|'))
}

type RuleTable = Readonly<Record<string, readonly RuleCase<string>[]>>

function toRules(table: RuleTable): readonly Rule[] {
  const maybe = (pattern: string | undefined) =>
    pattern === undefined ? undefined : toExpression(pattern)
  return Object.entries(table).flatMap(([feature, cases]) =>
    cases.map((each) => ({
      ...each,
      feature,
      act: toExpression(each.act),
      with: maybe(each.with),
      and: maybe(each.and),
      without: maybe(each.without),
    })),
  )
}

const { overReads, acts, money } = written as unknown as Record<keyof typeof written, RuleTable>

/** What a reading verb hides. */
export const OVER_READS = toRules(overReads)
/** What acts mean, and what they mean where money is: orders, bookings, and books that only tell of it. */
export const RULES = [...toRules(acts), ...toRules(money)]
