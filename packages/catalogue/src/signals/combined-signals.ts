// What several signals mean together: an order beside an amount, a tie that is taken away, a run that is
// cancelled, a device that is set. Each rule (combined-rules.ts, money-rules.ts) has a feature of its own, whose weight
// is learnt like any other, and speaks in the place of the bare verb. Pure; called by gather-signals.

import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { group, sequence } from '@sluice/policy/readers/join-patterns'
import { toWords } from '@sluice/policy/structures/word-set'
import { ACT_RULES, READ_RULES } from './combined-rules.ts'
import { OUT_OF_HOLDER } from './feature-patterns.ts'
import { classOf, FAMILY_NAMES } from './lexicon.ts'
import { memoFeature } from './memo-feature.ts'
import { MONEY_RULES } from './money-rules.ts'
import type { Noun } from './noun-words.ts'
import { nounsOfServerWord } from './nouns.ts'
import {
  RULES_MAX,
  type RuleBits,
  type RuleFeature,
  RuleList,
  type RuleMatch,
  toRules,
} from './rule-list.ts'
import { type EmitSignal, type Signal, type SignalSpan, WHOLE_NAME } from './signal.ts'
import { splitNameWords } from './split-words.ts'

/** Features so far, by name, with the first place of each and what the patterns below say of it. */
type FeatureMap = ReadonlyMap<string, FeaturePlace>
interface FeaturePlace extends RuleFeature {
  readonly kind: FeatureKind
}

/** Tells what the signals mean together, and in the place of which signals that speaks. */
export function combineSignals(
  definition: ToolDefinition,
  signals: readonly Signal[],
  emit: EmitSignal,
): SilencedSignals {
  const features = new Map<string, FeaturePlace>()
  for (const { feature, at, start, end } of signals)
    if (!features.has(feature)) features.set(feature, { at, start, end, kind: kindOf(feature) })
  readKeeping(features, emit)
  readAlone(features, emit)
  const hidden = READ_LIST.match(features, NO_NOUNS)
  emitMatches(hidden, emit)
  if (hidden.length > 0) return 'read'
  if (features.has('name:remove') || features.has('text:remove')) {
    const holder = holderOf(definition)
    if (holder !== undefined)
      features.set(OUT_OF_HOLDER, { ...holder, kind: kindOf(OUT_OF_HOLDER) })
  }
  const reads = READS.some((feature) => features.has(feature))
  const acts = reads && features.has('name:nothing') ? 'isVerbThatActs' : 'isAct'
  if (!hasKind(features, acts)) return 'nothing'
  const context = { features, emit, server: nounsOfServer(definition.server) }
  const spoken = ACT_LISTS.flatMap((list) => list.match(features, context.server))
  emitMatches(spoken, emit)
  readMoney(definition, signals, context)
  readScreen(context)
  if (spoken.length === 0) return 'nothing'
  return spoken.some(({ feature }) => MONEY_RESTS.has(feature)) ? 'money' : 'act'
}

function emitMatches(matches: readonly RuleMatch[], emit: EmitSignal): void {
  for (const { feature, place } of matches) emit(feature, place)
}

/** Rules by which no money moves although it is spoken of. */
const MONEY_RESTS: ReadonlySet<string> = new Set<keyof typeof MONEY_RULES>([
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

/** What rules speak in the place of: the bare verbs of an act, those with what they say of money, or all verbs. */
export type SilencedSignals = 'nothing' | 'act' | 'money' | 'read'

interface SignalContext {
  readonly features: FeatureMap
  readonly emit: EmitSignal
  readonly server: ReadonlySet<Noun>
}

const READ = toRules(READ_RULES)
const ACTS_AND_MONEY = [...toRules(ACT_RULES), ...toRules(MONEY_RULES)]

/** The features that rules emit: each says what several signals mean together. */
export type CombinedFeature =
  | keyof typeof READ_RULES
  | keyof typeof ACT_RULES
  | keyof typeof MONEY_RULES

/** The combined features, in the order of the rules. */
export const COMBINED_FEATURES: ReadonlySet<string> = new Set(
  [...READ, ...ACTS_AND_MONEY].map(({ feature }) => feature),
)

/** Whether a rule emits a feature: it speaks if the verbs are silent. */
export function isCombined(feature: string): feature is CombinedFeature {
  return COMBINED_FEATURES.has(feature)
}

const READ_LIST = new RuleList(READ, 0)
const ACT_LISTS = Array.from(
  { length: Math.ceil(ACTS_AND_MONEY.length / RULES_MAX) },
  (_, at) => new RuleList(ACTS_AND_MONEY.slice(at * RULES_MAX, (at + 1) * RULES_MAX), at + 1),
)
const RULE_LISTS = [READ_LIST, ...ACT_LISTS]

/** What the rules and the patterns of this file say of a feature; the patterns are tried once for each. */
interface FeatureKind extends Readonly<Record<KindFlag, boolean>> {
  /** The bits of the feature in each list of rules; undefined if no rule of the list names it. */
  readonly bits: readonly (RuleBits | undefined)[]
  /** `name.object` of a deal. */
  readonly deal: string | undefined
}

const kindOf = memoFeature(
  (name): FeatureKind => ({
    bits: RULE_LISTS.map((list) => list.bitsOf(name)),
    deal: DEAL.exec(name)?.slice(1).join('.'),
    isAct: ACTS.test(name),
    isVerbThatActs: VERBS_THAT_ACT.test(name),
    isKept: KEEPS.test(name),
    isMoney: MONEYED.test(name),
    isSettled: SETTLES.test(name),
    isScreen: SCREEN.test(name),
  }),
)

/** `remove … from a list`: what it is taken out of stays, and so does the thing. */
function holderOf({ name, description }: ToolDefinition): SignalSpan | undefined {
  const named = HOLDER_OF_NAME.test(typeof name === 'string' ? name : '')
  if (named) return WHOLE_NAME
  const text = typeof description === 'string' ? description.slice(0, HOLDER_CHARS_MAX) : ''
  return HOLDER_OF_TEXT.test(text) ? { at: '/description', start: 0, end: 0 } : undefined
}

const HOLDER_CHARS_MAX = 200
const HOLDERS = group(
  toWords(`
    list playlist card issue ticket message album queue watchlist dashboard segment label board
    conversation channel cart sprint milestone favorites favourites liked folder event epic thread
    view firewall balancer draft group
  `),
)
const HOLDER_OF_NAME = new RegExp(`from_?-?${HOLDERS}s?(?![a-z])`, 'i')
const HOLDER_OF_TEXT = new RegExp(
  sequence(
    /\bremov(?:e|es|ing) [^.]{1,60}? from /,
    /(?:an? |the |your |this |its |specific |given |user's |users )*/,
    String.raw`(?:[\w-]+ )?`,
    HOLDERS,
    /s?\b/,
  ),
  'i',
)

/** Where the name is only a noun, the verb of the description is all there is. */
function readAlone(features: FeatureMap, emit: EmitSignal): void {
  if (!features.has('name:nothing')) return
  const heads = FAMILY_NAMES.filter((family) => features.has(`text:${family}`))
  const classes = new Set(heads.map((family) => classOf(family)))
  const [first] = heads
  const [only] = classes
  if (first !== undefined && only !== undefined && classes.size === 1)
    emit(`alone:${only}`, features.get(`text:${first}`) as SignalSpan)
}

/** A copy with a place to keep it is kept; one without is the answer. */
function readKeeping(features: FeatureMap, emit: EmitSignal): void {
  for (const [name, place] of features)
    if (place.kind.isKept) {
      const file = features.has('arg:file') && !/=(?:fetch|retrieve|pull|record)$/.test(name)
      const somewhere = features.has('arg:saves') || features.has('says:saves it') || file
      emit(somewhere ? 'keeps it somewhere' : 'keeps it nowhere', place)
      return
    }
}

const KEEPS =
  /^(?:name|text)=(?:download|export|backup|save|dump|screenshot|capture|record|generate|convert|render|fetch|retrieve|pull)$/

function readMoney(
  definition: ToolDefinition,
  signals: readonly Signal[],
  { features, emit, server }: SignalContext,
): void {
  const money = server.has('money') || server.has('house') || hasKind(features, 'isMoney')
  if (money) {
    for (const { feature, at, start, end } of signals) {
      const deal = features.get(feature)?.kind.deal
      if (deal !== undefined) emit(`deal with money:${deal}`, { at, start, end })
    }
    // A draft moves no money until it is completed.
    const none = features.get('says:moves no money')
    const settles = hasKind(features, 'isSettled')
    if (none !== undefined && !settles) emit('money that does not move', none)
  }
  if (features.has('name:change') || features.has('text:change'))
    for (const { feature, at, start, end } of signals)
      if (
        /^name\.act\+(?:price|deal)\./.test(feature) &&
        LIVE_PRICE.test(String(definition.name).slice(start, end))
      )
        emit('changes a price', { at, start, end })
  if (server.has('money') || server.has('house')) emit('server:money', WHOLE_NAME)
}

function readScreen({ features, emit, server }: SignalContext): void {
  const picture = PICTURES.find((feature) => features.has(feature))
  const kept = features.has('arg:saves')
  if (picture !== undefined && !kept && (server.has('screen') || hasKind(features, 'isScreen')))
    emit('pictures a screen', features.get(picture) as SignalSpan)
  if (server.has('device')) emit('server:device', WHOLE_NAME)
}

const DEAL = /^(name|text)\.(?:act|none)\+deal\.(object|near)$/
const SCREEN = /\+screen\./
const PICTURES = ['name=snapshot', 'name=capture', 'text=snapshot', 'text=capture']
const SETTLES = /^(?:name|text)=(?:finalize|complete|send|submit|convert|publish|confirm)$/
const LIVE_PRICE = /^(?:prices?|pricing|bids?|bidding)$/i
const ACTS = /^(?:name|text)\.(?:act|none)\+|^(?:name|text):(?!look|judge|render|answer|nothing)/
const VERBS_THAT_ACT = /^(?:name|text):(?!look|judge|render|answer|nothing)/
const READS = ['text:look', 'text:judge', 'text:render']
const MONEYED = /\+(?:money|house)\.|^arg(?:\.deep)?:money$|^says:money/
