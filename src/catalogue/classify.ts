// What a tool can do, from its definition: class, risk, how sure, what it reads and sends, the words
// that say so, why it is nothing else, and the arguments its class depends on. The vendor's hints are
// a cross-check. Pure: no network, no model but the numbers in weights.ts, the same answer each time.

import { CATEGORIES, type Category, type Risk, type ToolDefinition } from '../core/tools.ts'
import { crossCheck } from './annotations.ts'
import { type Depends, dependsOn } from './call-class.ts'
import { isOfCompany } from './company.ts'
import type { Evidence } from './evidence.ts'
import { type Floor, floorOf } from './floors.ts'
import { type Flows, flowsOf } from './flows.ts'
import { amountsOf, gatherSignals, schemaSignals } from './gather-signals.ts'
import { rate } from './risk.ts'
import { choose, sharesOf, type Weights } from './score.ts'
import type { Signal } from './signal.ts'
import { standOn } from './stand-on.ts'
import { WEIGHTS } from './weights.ts'
import { type WhyNot, whyNot } from './why-not.ts'

export interface Classification {
  readonly category: Category
  readonly risk: Risk
}

/** The whole answer, for people and for `sluice classify`. */
export interface Account extends Classification {
  readonly riskBecause: string
  /** 0 to 1; below CONFIDENCE_MIN the class is a guess on the safe side. */
  readonly confidence: number
  readonly flows: Flows
  readonly evidence: readonly Evidence[]
  readonly whyNot: readonly WhyNot[]
  /** Arguments that decide the class of a call. */
  readonly depends: readonly Depends[]
  /** Where the vendor's hints and the definition part. */
  readonly disagreements: readonly string[]
}

/** Below this share a class is a guess, right about every second time on servers left out. */
export const CONFIDENCE_MIN = 0.5
/** Where neither name nor description speaks. */
const SILENT_CONFIDENCE = 0.2
/** What a rule of the categories says by itself. */
const FLOOR_CONFIDENCE = 0.9
/** The share from which the vendor's hint of destruction is borne out. */
const MAY_DESTROY_SHARE = 0.15

export function classify(definition: ToolDefinition): Classification {
  const { category } = judge(definition, WEIGHTS)
  return { category, risk: rate(definition, category).risk }
}

export function account(definition: ToolDefinition, weights: Weights = WEIGHTS): Account {
  const schema = schemaSignals(definition)
  const judged = judge(definition, weights, schema)
  const { category, shares } = judged
  const { risk, because } = rate(definition, category)
  const stands = (without: ToolDefinition, left: readonly Signal[]) => {
    const again = judge(without, weights, left)
    return again.own === judged.own && again.confidence >= CONFIDENCE_MIN ? again : undefined
  }
  return {
    category,
    risk,
    riskBecause: because,
    confidence: Math.round(judged.confidence * 100) / 100,
    flows: flowsOf(definition, category),
    evidence: standOn(definition, judged, schema, weights, stands),
    whyNot: whyNot(category, shares),
    depends: dependsOn(definition),
    disagreements: judged.disagreements,
  }
}

export interface Judged {
  readonly category: Category
  /** By the definition alone, before the vendor's hints. */
  readonly own: Category
  readonly confidence: number
  readonly signals: readonly Signal[]
  readonly floor: Floor | undefined
  readonly shares: readonly number[]
  readonly disagreements: readonly string[]
}

function judge(definition: ToolDefinition, weights: Weights, schema?: readonly Signal[]): Judged {
  const signals = gatherSignals(definition, schema)
  const amounts = amountsOf(signals)
  const shares = sharesOf(weights, amounts)
  const floor = floorOf(new Set(amounts.keys()))
  const own = ownClass(amounts, shares, floor)
  const share = shares[CATEGORIES.indexOf(own)] as number
  const floored = floor?.category === own ? Math.max(share, FLOOR_CONFIDENCE) : share
  const confidence = isSilent(amounts) ? Math.min(floored, SILENT_CONFIDENCE) : floored
  const mayDestroy = (shares[CATEGORIES.indexOf('Destructive')] as number) >= MAY_DESTROY_SHARE
  const { category, disagreements } = crossCheck(own, mayDestroy, definition.annotations)
  return { category, own, confidence, signals, floor, shares, disagreements }
}

function ownClass(
  amounts: ReadonlyMap<string, number>,
  shares: readonly number[],
  floor: Floor | undefined,
): Category {
  const weighed = isSilent(amounts) ? 'Execute' : choose(shares)
  if (floor === undefined) return weighed
  return CATEGORIES.indexOf(floor.category) > CATEGORIES.indexOf(weighed) ? floor.category : weighed
}

/** Nobody says what it does: no verb in the name, none in the text, no noun for an answer. */
function isSilent(amounts: ReadonlyMap<string, number>): boolean {
  for (const feature of amounts.keys())
    if ((SPEAKS.test(feature) && !feature.endsWith(':nothing')) || isOfCompany(feature))
      return false
  return true
}

const SPEAKS = /^(?:name|text|text\.means|acts):/
