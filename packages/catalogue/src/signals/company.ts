// What several signals mean together: an order beside an amount, a tie that is taken away, a run that is
// cancelled, a device that is set. Each rule (company-rules.ts) has a feature of its own, whose weight is
// learnt like any other, and speaks in the place of the bare verb. Pure; called by gather-signals.

import type { ToolDefinition } from '@sluice/policy/core/tools'
import { OVER_READS, RULES, type Rule } from './company-rules.ts'
import { classOf, FAMILY_NAMES } from './lexicon.ts'
import { memoFeature } from './memo-feature.ts'
import { type Noun, nounsOfServerWord } from './nouns.ts'
import type { EmitSignal, Signal, SignalSpan } from './signal.ts'
import { splitNameWords } from './split-words.ts'

/** Features so far, by name, with the first place of each and what the patterns below say of it. */
type FeatureMap = ReadonlyMap<string, FeaturePlace>
interface FeaturePlace extends SignalSpan {
  readonly kind: FeatureKind
}

/** Tells what the signals mean together, and in the place of which signals that speaks. */
export function readCompany(
  definition: ToolDefinition,
  signals: readonly Signal[],
  tell: EmitSignal,
): SilencedSignals {
  const features = new Map<string, FeaturePlace>()
  for (const { feature, at, start, end } of signals)
    if (!features.has(feature)) features.set(feature, { at, start, end, kind: kindOf(feature) })
  readKeeping(features, tell)
  readAlone(features, tell)
  if (OVER_READS_LIST.tell({ features, tell, server: NO_NOUNS }).length > 0) return 'read'
  if (features.has('name:remove') || features.has('text:remove')) {
    const holder = holderOf(definition)
    if (holder !== undefined) features.set(OUT_OF, { ...holder, kind: kindOf(OUT_OF) })
  }
  const reads = READS.some((feature) => features.has(feature))
  const acts = reads && features.has('name:nothing') ? 'isVerbThatActs' : 'isAct'
  if (!hasKind(features, acts)) return 'nothing'
  const company = { features, tell, server: nounsOfServer(definition.server) }
  const spoken = RULE_LISTS.flatMap((list) => list.tell(company))
  readMoney(definition, signals, company)
  readScreen(company)
  if (spoken.length === 0) return 'nothing'
  return spoken.some(({ feature }) => MONEY_RESTS.has(feature)) ? 'money' : 'act'
}

/** Rules by which no money moves although it is spoken of. */
const MONEY_RESTS: ReadonlySet<string> = new Set([
  'keeps books',
  'only annotates money',
  'books what was spent',
  'tells of money',
])

type KindFlag = 'isAct' | 'isVerbThatActs' | 'isKept' | 'isMoney' | 'isSettled' | 'isScreen'

function hasKind(features: FeatureMap, flag: KindFlag): boolean {
  for (const { kind } of features.values()) if (kind[flag]) return true
  return false
}

/** The nouns of a server's name; asked for each of its tools, so the last is kept. */
function nounsOfServer(server: unknown): ReadonlySet<Noun> {
  const named = typeof server === 'string' ? server : ''
  if (named !== lastServer.named)
    lastServer = {
      named,
      nouns: new Set(splitNameWords(named).flatMap(({ text }) => nounsOfServerWord(text))),
    }
  return lastServer.nouns
}

const NO_NOUNS: ReadonlySet<Noun> = new Set()
let lastServer: { readonly named: string; readonly nouns: ReadonlySet<Noun> } = {
  named: '',
  nouns: NO_NOUNS,
}

/** The bare verbs of an act, those with what they say of money, or all verbs. */
export type SilencedSignals = 'nothing' | 'act' | 'money' | 'read'

interface SignalContext {
  readonly features: FeatureMap
  readonly tell: EmitSignal
  readonly server: ReadonlySet<Noun>
}

/** What the rules tell. */
export const COMPANY_FEATURES: ReadonlySet<string> = new Set(
  [...OVER_READS, ...RULES].map(({ feature }) => feature),
)

/** One of the rules above: it speaks where the verbs are silent. */
export function isOfCompany(feature: string): boolean {
  return COMPANY_FEATURES.has(feature)
}

/** Rules of one list, at most: a number has so many bits. */
const BITS = 31

/** What the rules and the patterns of this file say of a feature; the patterns are tried once for each. */
interface FeatureKind extends Readonly<Record<KindFlag, boolean>> {
  /** By list of rules; undefined where none of them speaks of the feature. */
  readonly bits: readonly ReturnType<typeof ruleBitsOf>[]
  /** `name.object` of a deal. */
  readonly deal: string | undefined
}

class RuleList {
  readonly #rules: readonly Rule[]
  readonly #at: number
  /** Rules that need nothing beside the act, or nothing more. */
  readonly #alone: number
  readonly #noMore: number

  constructor(rules: readonly Rule[], at: number) {
    this.#rules = rules
    this.#at = at
    this.#alone = bitsOf(rules, (rule) => rule.with === undefined)
    this.#noMore = bitsOf(rules, (rule) => rule.and === undefined)
  }

  /** Tells the rules that hold, each at the place of its act. */
  tell({ features, tell, server }: SignalContext): Rule[] {
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
    if (act === 0) return NO_RULES
    const matching = this.#rules.filter((rule, index) => {
      const bit = 1 << index
      if ((act & bit) === 0) return false
      if (rule.in !== undefined && !server.has(rule.in)) return false
      if (rule.notIn !== undefined && server.has(rule.notIn)) return false
      return (joined & bit) !== 0 || (rule.server !== undefined && server.has(rule.server))
    })
    for (const rule of matching)
      for (const [name, place] of features)
        if (rule.act.test(name)) {
          tell(rule.feature, place)
          break
        }
    return matching
  }
}

const NO_RULES: Rule[] = []

function bitsOf(rules: readonly Rule[], holds: (rule: Rule) => boolean): number {
  return rules.reduce((bits, rule, index) => (holds(rule) ? bits | (1 << index) : bits), 0)
}

const LISTS = [
  OVER_READS,
  ...Array.from({ length: Math.ceil(RULES.length / BITS) }, (_, at) =>
    RULES.slice(at * BITS, (at + 1) * BITS),
  ),
]
const [OVER_READS_LIST, ...RULE_LISTS] = LISTS.map((rules, at) => new RuleList(rules, at)) as [
  RuleList,
  ...RuleList[],
]
const OUT_OF = 'out of a holder'

const kindOf = memoFeature(
  (name): FeatureKind => ({
    bits: LISTS.map((rules) => ruleBitsOf(rules, name)),
    deal: DEAL.exec(name)?.slice(1).join('.'),
    isAct: ACTS.test(name),
    isVerbThatActs: VERBS_THAT_ACT.test(name),
    isKept: KEEPS.test(name),
    isMoney: MONEYED.test(name),
    isSettled: SETTLES.test(name),
    isScreen: SCREEN.test(name),
  }),
)

/** Which rules of a list a feature is an act of, goes with, or forbids: a bit each. */
function ruleBitsOf(rules: readonly Rule[], name: string) {
  const act = bitsOf(rules, (rule) => rule.act.test(name))
  const joined = bitsOf(rules, (rule) => rule.with?.test(name) ?? false)
  const and = bitsOf(rules, (rule) => rule.and?.test(name) ?? false)
  const without = bitsOf(rules, (rule) => rule.without?.test(name) ?? false)
  return (act | joined | and | without) === 0 ? undefined : { act, with: joined, and, without }
}

/** `remove … from a list`: what it is taken out of stays, and so does the thing. */
function holderOf({ name, description }: ToolDefinition): SignalSpan | undefined {
  const named = HOLDER_OF_NAME.test(typeof name === 'string' ? name : '')
  if (named) return WHOLE_NAME
  const text = typeof description === 'string' ? description.slice(0, HOLDER_CHARS_MAX) : ''
  return HOLDER_OF_TEXT.test(text) ? { at: '/description', start: 0, end: 0 } : undefined
}

const HOLDER_CHARS_MAX = 200
const HOLDERS =
  '(?:list|playlist|card|issue|ticket|message|album|queue|watchlist|dashboard|segment|label|board|conversation|channel|cart|sprint|milestone|favorites|favourites|liked|folder|event|epic|thread|view|firewall|balancer|draft|group)'
const HOLDER_OF_NAME = new RegExp(`from_?-?${HOLDERS}s?(?![a-z])`, 'i')
const HOLDER_OF_TEXT = new RegExp(
  `\\bremov(?:e|es|ing) [^.]{1,60}? from (?:an? |the |your |this |its |specific |given |user's |users )*(?:[\\w-]+ )?${HOLDERS}s?\\b`,
  'i',
)

/** Where the name is only a noun, the verb of the description is all there is. */
function readAlone(features: FeatureMap, tell: EmitSignal): void {
  if (!features.has('name:nothing')) return
  const heads = FAMILY_NAMES.filter((family) => features.has(`text:${family}`))
  const classes = new Set(heads.map((family) => classOf(family)))
  const [first] = heads
  const [only] = classes
  if (first !== undefined && only !== undefined && classes.size === 1)
    tell(`alone:${only}`, features.get(`text:${first}`) as SignalSpan)
}

/** A copy with a place to keep it is kept; one without is the answer. */
function readKeeping(features: FeatureMap, tell: EmitSignal): void {
  for (const [name, place] of features)
    if (place.kind.isKept) {
      const file = features.has('arg:file') && !/=(?:fetch|retrieve|pull|record)$/.test(name)
      const somewhere = features.has('arg:saves') || features.has('says:saves it') || file
      tell(somewhere ? 'keeps it somewhere' : 'keeps it nowhere', place)
      return
    }
}

const KEEPS =
  /^(?:name|text)=(?:download|export|backup|save|dump|screenshot|capture|record|generate|convert|render|fetch|retrieve|pull)$/

function readMoney(
  definition: ToolDefinition,
  signals: readonly Signal[],
  company: SignalContext,
): void {
  const { features, tell, server } = company
  const money = server.has('money') || server.has('house') || hasKind(features, 'isMoney')
  if (money) {
    for (const { feature, at, start, end } of signals) {
      const deal = features.get(feature)?.kind.deal
      if (deal !== undefined) tell(`deal with money:${deal}`, { at, start, end })
    }
    // A draft moves no money until it is completed.
    const none = features.get('says:moves no money')
    const settles = hasKind(features, 'isSettled')
    if (none !== undefined && !settles) tell('money that does not move', none)
  }
  if (features.has('name:change') || features.has('text:change'))
    for (const { feature, at, start, end } of signals)
      if (
        /^name\.act\+(?:price|deal)\./.test(feature) &&
        LIVE_PRICE.test(String(definition.name).slice(start, end))
      )
        tell('changes a price', { at, start, end })
  if (server.has('money') || server.has('house')) tell('server:money', WHOLE_NAME)
}

function readScreen({ features, tell, server }: SignalContext): void {
  const picture = PICTURES.find((feature) => features.has(feature))
  const kept = features.has('arg:saves')
  if (picture !== undefined && !kept && (server.has('screen') || hasKind(features, 'isScreen')))
    tell('pictures a screen', features.get(picture) as SignalSpan)
  if (server.has('device')) tell('server:device', WHOLE_NAME)
}

const DEAL = /^(name|text)\.(?:act|none)\+deal\.(object|near)$/
const SCREEN = /\+screen\./
const PICTURES = ['name=snapshot', 'name=capture', 'text=snapshot', 'text=capture']
const WHOLE_NAME: SignalSpan = { at: '/name', start: 0, end: 0 }
const SETTLES = /^(?:name|text)=(?:finalize|complete|send|submit|convert|publish|confirm)$/
const LIVE_PRICE = /^(?:prices?|pricing|bids?|bidding)$/i
const ACTS = /^(?:name|text)\.(?:act|none)\+|^(?:name|text):(?!look|judge|render|answer|nothing)/
const VERBS_THAT_ACT = /^(?:name|text):(?!look|judge|render|answer|nothing)/
const READS = ['text:look', 'text:judge', 'text:render']
const MONEYED = /\+(?:money|house)\.|^arg(?:\.deep)?:money$|^says:money/
