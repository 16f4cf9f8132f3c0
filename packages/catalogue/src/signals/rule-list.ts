// Rules of combined signals, as they are written and as they are matched. Which rules a feature has a part in is found
// once for each feature and held in bits, because patterns are slow and features come again and again.

import { type FeaturePattern, toExpression } from './feature-patterns.ts'
import type { Noun } from './noun-words.ts'
import { type SignalSpan, WHOLE_NAME } from './signal.ts'

type Patterns = FeaturePattern | readonly FeaturePattern[]

/** What a rule asks for. Of several patterns one is enough. */
export interface RuleCase {
  /** The act, by its verb or family; its place is the evidence. */
  readonly act: Patterns
  /** What else must be found. */
  readonly with?: Patterns
  /** A noun of the server's name that does in place of `with`. */
  readonly server?: Noun
  /** What must be found besides, in every case. */
  readonly and?: Patterns
  /** What must not be found. */
  readonly without?: Patterns
  /** A noun that the server's name must have. */
  readonly in?: Noun
  /** A noun that the server's name must not have. */
  readonly notIn?: Noun
}

/** The cases of rules, by the feature that is emitted if one of the cases holds. */
export type RuleTable = Readonly<Record<string, readonly RuleCase[]>>

/** A case of a rule, as it is matched. */
export interface Rule {
  /** The feature that is emitted if it holds. */
  readonly feature: string
  readonly act: RegExp
  readonly with: RegExp | undefined
  readonly and: RegExp | undefined
  readonly without: RegExp | undefined
  readonly server: Noun | undefined
  readonly in: Noun | undefined
  readonly notIn: Noun | undefined
}

export function toRules(table: RuleTable): readonly Rule[] {
  const maybe = (patterns: Patterns | undefined) =>
    patterns === undefined ? undefined : toExpression(patterns)
  return Object.entries(table).flatMap(([feature, cases]) =>
    cases.map((one) => ({
      feature,
      act: toExpression(one.act),
      with: maybe(one.with),
      and: maybe(one.and),
      without: maybe(one.without),
      server: one.server,
      in: one.in,
      notIn: one.notIn,
    })),
  )
}

/** The parts that a feature has in the rules of a list: bit N is rule N. */
export interface RuleBits {
  /** Rules whose act it is. */
  readonly act: number
  /** Rules whose `with` it fulfils. */
  readonly with: number
  /** Rules whose `and` it fulfils. */
  readonly and: number
  /** Rules that it forbids. */
  readonly without: number
}

/** A feature of a definition, as rules look at it: the place where it stands first, and its parts in rules. */
export interface RuleFeature extends SignalSpan {
  /** The bits of the kind in each list, which `bitsOf` of the list returns. */
  readonly kind: { readonly bits: readonly (RuleBits | undefined)[] }
}

/** Rules of one list, at most: a number has so many bits. */
export const RULES_MAX = 31

/** A rule that holds, with the place of its act. */
export interface RuleMatch {
  readonly feature: string
  readonly place: SignalSpan
}

/** Up to RULES_MAX rules, which are matched together. */
export class RuleList {
  readonly #rules: readonly Rule[]
  /** The place of this list in the bits of a feature. */
  readonly #at: number
  /** Rules that need nothing beside the act, or nothing more. */
  readonly #alone: number
  readonly #noMore: number

  constructor(rules: readonly Rule[], at: number) {
    this.#rules = rules
    this.#at = at
    this.#alone = this.#bitsWhere((rule) => rule.with === undefined)
    this.#noMore = this.#bitsWhere((rule) => rule.and === undefined)
  }

  /** The parts of a feature in these rules; undefined if it has none. */
  bitsOf(feature: string): RuleBits | undefined {
    const act = this.#bitsWhere((rule) => rule.act.test(feature))
    const joined = this.#bitsWhere((rule) => rule.with?.test(feature) ?? false)
    const and = this.#bitsWhere((rule) => rule.and?.test(feature) ?? false)
    const without = this.#bitsWhere((rule) => rule.without?.test(feature) ?? false)
    return (act | joined | and | without) === 0 ? undefined : { act, with: joined, and, without }
  }

  /** The rules that hold of these features of a definition, whose server's name has these nouns. */
  match(
    features: ReadonlyMap<string, RuleFeature>,
    server: ReadonlySet<Noun>,
  ): readonly RuleMatch[] {
    let act = 0
    let joined = this.#alone
    let and = this.#noMore
    let without = 0
    for (const { kind } of features.values()) {
      const bits = kind.bits[this.#at]
      // Most features are in no rule of a list.
      if (bits === undefined) continue
      act |= bits.act
      joined |= bits.with
      and |= bits.and
      without |= bits.without
    }
    act &= and & ~without
    if (act === 0) return NO_MATCHES
    return this.#rules
      .filter((rule, index) => {
        const bit = 1 << index
        if ((act & bit) === 0 || !fitsServer(rule, server)) return false
        return (joined & bit) !== 0 || (rule.server !== undefined && server.has(rule.server))
      })
      .map((rule) => ({ feature: rule.feature, place: placeOf(rule, features) }))
  }

  #bitsWhere(holds: (rule: Rule) => boolean): number {
    return this.#rules.reduce((bits, rule, index) => (holds(rule) ? bits | (1 << index) : bits), 0)
  }
}

const NO_MATCHES: readonly RuleMatch[] = []

function fitsServer(rule: Rule, server: ReadonlySet<Noun>): boolean {
  if (rule.in !== undefined && !server.has(rule.in)) return false
  return rule.notIn === undefined || !server.has(rule.notIn)
}

/** The place of the first feature that is the rule's act. */
function placeOf(rule: Rule, features: ReadonlyMap<string, RuleFeature>): SignalSpan {
  for (const [name, place] of features) if (rule.act.test(name)) return place
  return WHOLE_NAME
}
