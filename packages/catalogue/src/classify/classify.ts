// What a tool can do, from its definition: class, risk, how sure, what it reads and sends, the words
// that say so, why it is nothing else, and the arguments its class depends on. The vendor's hints are
// a cross-check. Pure: no network, no model but the numbers beside this file, the same answer each time.

import {
  CATEGORIES,
  type Category,
  type Risk,
  type ToolDefinition,
} from '@sluice/policy/calls/tools'
import { alternatives } from '@sluice/policy/readers/join-patterns'
import { crossCheck, ownHints, settleByHints } from '../signals/annotations.ts'
import { isCombined } from '../signals/combined-signals.ts'
import { amountsOf, gatherSignals } from '../signals/gather-signals.ts'
import { memoFeature } from '../signals/memo-feature.ts'
import { hasSideEffect } from '../signals/read-side-effects.ts'
import type { Signal } from '../signals/signal.ts'
import { type CategoryArgument, findCategoryArguments } from './classify-call.ts'
import type { Evidence } from './evidence.ts'
import { type Floor, floorOf } from './floors.ts'
import { type Flows, flowsOf } from './flows.ts'
import { findMinimalEvidence } from './minimal-evidence.ts'
import network from './network.json' with { type: 'json' }
import { Network } from './network.ts'
import { explainRejected, type RejectedCategory } from './rejected-categories.ts'
import { rate } from './risk.ts'
import { choose, chooseAct, type Model, sharesOf } from './score.ts'
import weights from './weights.json' with { type: 'json' }

/** `npm run eval -- catalogue --data FILE --write` learns its numbers. */
const MODEL: Model = {
  weights: new Map(Object.entries(weights)),
  network: new Network(network),
}

/**
 * Category and risk of a tool. If `unknown`, both are a guess.
 *
 * @example
 * ```ts
 * const { category, risk, unknown }: Classification = classify(definition)
 * ```
 */
export interface Classification {
  /** The best guess if it is unknown. */
  readonly category: Category
  /** How much is at stake; a guess if the category is one. */
  readonly risk: Risk
  /** Whether the definition does not say clearly what the tool does. */
  readonly unknown: boolean
}

/**
 * Everything that is known of a tool, for people and for `sluice classify`.
 *
 * @example
 * ```ts
 * const assessment: ToolAssessment = assessTool(definition)
 * ```
 */
export interface ToolAssessment extends Classification {
  /** How the risk was found, for people. */
  readonly riskBecause: string
  /** 0 to 1; below CONFIDENCE_MIN, of a Read below READ_CONFIDENCE_MIN, the class is a guess. */
  readonly confidence: number
  /** Whose text it reads, and how far what it is given goes. */
  readonly flows: Flows
  /** The words that the category rests on, the strongest first. */
  readonly evidence: readonly Evidence[]
  /** Why it is in none of the other four categories. */
  readonly whyNot: readonly RejectedCategory[]
  /** Arguments that decide the class of a call. */
  readonly depends: readonly CategoryArgument[]
  /** Where the vendor's hints and the definition part. */
  readonly disagreements: readonly string[]
}

/**
 * Below this confidence a category is a guess.
 *
 * @example
 * ```ts
 * const isGuess = assessTool(definition).confidence < CONFIDENCE_MIN
 * ```
 */
export const CONFIDENCE_MIN = 0.5
/** A Read is known from here on: an error in this class lets a change pass unasked. */
const READ_CONFIDENCE_MIN = 0.91
/** A Read whose name has no verb that only reads is known from here on: half of the evidence is missing. */
const UNNAMED_READ_CONFIDENCE_MIN = 0.96
/** Where neither name nor description speaks. */
const SILENT_CONFIDENCE = 0.2
/** Where name and description contradict each other, or a Read is said to act as well. */
const PARTED_CONFIDENCE = 0.4
/** What a rule of the categories says by itself. */
const FLOOR_CONFIDENCE = 0.9
/** The share from which the vendor's hint of destruction is borne out. */
const MAY_DESTROY_SHARE = 0.15

/**
 * Category and risk of a tool, by its definition alone.
 *
 * @example
 * ```ts
 * classify({ server: 'shop', name: 'delete_customer' }).category // 'Destructive'
 * ```
 */
export function classify(definition: ToolDefinition): Classification {
  const { category, unknown } = scoreCategory(definition, MODEL)
  return { category, risk: rate(definition, category).risk, unknown }
}

/** A class for people: `Write, medium risk`; of a guess no risk is told. */
export function classText({
  category,
  risk,
  unknown,
}: Omit<Classification, 'unknown'> & { readonly unknown?: boolean }): string {
  return unknown === true ? `unknown, perhaps ${category}` : `${category}, ${risk} risk`
}

/** Classifies a tool of a server that is part of Sluice: its own hints hold, and the words are not weighed. */
export function classifyOwn(definition: ToolDefinition): Classification {
  const category = ownHints(definition.annotations)
  if (category === undefined) return classify(definition)
  return { category, risk: rate(definition, category).risk, unknown: false }
}

/**
 * Category and risk of a tool, with the evidence in its definition, for people.
 *
 * @example
 * ```ts
 * const { category, evidence } = assessTool({ server: 'shop', name: 'delete_customer' })
 * ```
 */
export function assessTool(definition: ToolDefinition, model: Model = MODEL): ToolAssessment {
  const judged = scoreCategory(definition, model)
  const { category, shares } = judged
  const { risk, because } = rate(definition, category)
  const stands = (without: ToolDefinition) => {
    const again = scoreCategory(without, model)
    return again.own === judged.own && again.confidence >= CONFIDENCE_MIN ? again : undefined
  }
  return {
    category,
    risk,
    unknown: judged.unknown,
    riskBecause: because,
    confidence: Math.round(judged.confidence * 100) / 100,
    flows: flowsOf(definition, category),
    evidence: findMinimalEvidence(definition, judged, { model, stands }),
    whyNot: explainRejected(category, shares),
    depends: findCategoryArguments(definition),
    disagreements: judged.disagreements,
  }
}

/** What the model and the rules make of a definition. */
export interface CategoryScore {
  readonly category: Category
  /** The class by the definition alone, before the vendor's hints. */
  readonly own: Category
  /** 0 to 1, of `own`. */
  readonly confidence: number
  /** Whether `category` is a guess. */
  readonly unknown: boolean
  readonly signals: readonly Signal[]
  /** The least class that the rules leave, if they speak. */
  readonly floor: Floor | undefined
  /** The shares of the five classes, in their order. */
  readonly shares: readonly number[]
  /** Where the vendor's hints and the definition part. */
  readonly disagreements: readonly string[]
}

function scoreCategory(definition: ToolDefinition, model: Model): CategoryScore {
  const signals = gatherSignals(definition)
  const amounts = amountsOf(signals)
  const shares = sharesOf(model, definition, amounts)
  const floor = floorOf(amounts)
  const parted = contradicts(amounts)
  const silent = isSilent(amounts)
  const own = ownClass(silent, shares, floor, parted)
  const share = shares[CATEGORIES.indexOf(own)] as number
  const floored = floor?.category === own ? Math.max(share, FLOOR_CONFIDENCE) : share
  const isRead = own === 'Read' && !silent && share >= readBar(amounts)
  const doubted = parted || (isRead && (actsAsWell(amounts) || hasSideEffect(definition)))
  const bound = silent ? SILENT_CONFIDENCE : doubted ? PARTED_CONFIDENCE : 1
  const confidence = Math.min(floored, bound)
  const mayDestroy = (shares[CATEGORIES.indexOf('Destructive')] as number) >= MAY_DESTROY_SHARE
  const open = confidence < (own === 'Read' ? readBar(amounts) : CONFIDENCE_MIN)
  // Who contradicts themselves is not believed a third time.
  const settled = open && !parted ? settleByHints(own, shares, definition.annotations) : undefined
  // Nor is a hint that a tool only reads, if its own text says that it acts.
  const denied = settled === 'Read' && (actsAsWell(amounts) || hasSideEffect(definition))
  const hinted = denied ? undefined : settled
  const checked = crossCheck(hinted ?? own, mayDestroy, definition.annotations)
  return {
    category: checked.category,
    own,
    confidence,
    unknown: open && hinted === undefined,
    signals,
    floor,
    shares,
    disagreements: checked.disagreements,
  }
}

function ownClass(
  silent: boolean,
  shares: readonly number[],
  floor: Floor | undefined,
  parted: boolean,
): Category {
  const weighed = silent ? 'Execute' : parted ? chooseAct(shares) : choose(shares)
  if (floor === undefined) return weighed
  return CATEGORIES.indexOf(floor.category) > CATEGORIES.indexOf(weighed) ? floor.category : weighed
}

/** A name that only reads over a text that acts: one of them is wrong, and it is not for us to say which. */
function contradicts(amounts: ReadonlyMap<string, number>): boolean {
  let reads = false
  let acts = false
  for (const feature of amounts.keys()) {
    const voice = voiceOf(feature)
    if (voice === 'reads by name') reads = true
    else if (voice === 'settles it') return false
    else if (voice === 'acts by text') acts = true
  }
  return reads && (acts || (amounts.has('text:run') && amounts.has('says:runs anything')))
}

/** The confidence from which a Read is known: lower if its name says that it reads. */
function readBar(amounts: ReadonlyMap<string, number>): number {
  const reads = READS_BY_NAME.reduce((sum, feature) => sum + (amounts.get(feature) ?? 0), 0)
  return reads >= WHOLE_VERB ? READ_CONFIDENCE_MIN : UNNAMED_READ_CONFIDENCE_MIN
}

const READS_BY_NAME = ['name:look', 'name:judge', 'name:render']
/** The families of a verb share its amount: `download` reads by half. */
const WHOLE_VERB = 0.99

/** `Find a shop. Sets the shop of later orders.`, `action: list | clear`: what reads has a side effect. */
function actsAsWell(amounts: ReadonlyMap<string, number>): boolean {
  for (const feature of amounts.keys()) if (isSideEffect(feature)) return true
  if (amounts.has('arg:variables') && amounts.has('arg:query') && !amounts.has('says:only reads'))
    return true
  return (
    amounts.has('says:changes data') &&
    !amounts.has('says:only reads') &&
    !READS_BY_NAME.some((feature) => amounts.has(feature))
  )
}

const SIDE_EFFECT = new RegExp(
  alternatives([
    /^(?:text\.also|name\.and):(?!look|judge|render|settle|generate|manage|answer)/,
    /^(?:choice|acts):(?!Read)/,
    /^says:acts on it$/,
    /^arg:has an effect$/,
  ]),
)
const isSideEffect = memoFeature((feature) => SIDE_EFFECT.test(feature))

/** How a feature speaks where name and text may part. */
const voiceOf = memoFeature((feature) => {
  if (/^name:(?:look|judge|render)$/.test(feature)) return 'reads by name'
  if (feature.startsWith('name:') || READ_BY_TEXT.test(feature)) return 'settles it'
  return ACT_BY_TEXT.test(feature) ? 'acts by text' : 'nothing'
})

const READ_BY_TEXT = /^text:(?:look|judge|render)$/
/** The verbs of a text that act. Running a search is looking, and so is generating a report. */
const ACT_BY_TEXT = /^text:(?!look|judge|render|answer|nothing|run|generate|manage)/

/** Nobody says what it does: no verb in the name, none in the text, no noun for an answer. */
function isSilent(amounts: ReadonlyMap<string, number>): boolean {
  for (const feature of amounts.keys()) if (speaks(feature)) return false
  return true
}

const SPEAKS = /^(?:name|text|text\.means|text\.noun|acts):/
const speaks = memoFeature(
  (feature) => (SPEAKS.test(feature) && !feature.endsWith(':nothing')) || isCombined(feature),
)
