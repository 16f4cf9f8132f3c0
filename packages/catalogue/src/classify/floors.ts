// What no weighing may undo: rules of the categories that hold by themselves. A tool takes its worst
// action; an act on a payment is one with money. Pure; called by classify and by the scoring of the training script.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'
import { classOf } from '../signals/lexicon.ts'
import { memoFeature } from '../signals/memo-feature.ts'
import type { Family } from '../signals/verbs.ts'

/** The least class that the signals leave, and the features that say so. */
export interface Floor {
  readonly category: Category
  /** The first of the features that say so. */
  readonly feature: string
}

/** `features`: by name; of a map the keys count. */
export function floorOf(
  features: ReadonlySet<string> | ReadonlyMap<string, unknown>,
): Floor | undefined {
  let worst: Floor | undefined
  const lift = (category: Category, feature: string) => {
    if (worst === undefined || CATEGORIES.indexOf(category) > CATEGORIES.indexOf(worst.category))
      worst = { category, feature }
  }
  // `get_advice` with the name of an act among its options only looks, if name and text say so.
  const looks =
    features.has('name:look') && features.has('text:look') && !features.has('name=download')
  if (features.has(ANY_QUERY)) lift('Execute', ANY_QUERY)
  for (const feature of features.keys()) {
    const category = categoryOf(feature, features, looks)
    if (category !== undefined) lift(category, feature)
  }
  if (!WITHOUT_PAYMENT.some((feature) => features.has(feature)))
    for (const feature of MONEY_OBJECTS) if (features.has(feature)) lift('Financial', feature)
  return worst
}

/** The class that one feature says, unless others take it back. */
function categoryOf(
  feature: string,
  features: ReadonlySet<string> | ReadonlyMap<string, unknown>,
  looks: boolean,
): Category | undefined {
  const found = liftOf(feature)
  if (found === NO_LIFT) return undefined
  const { zone, value } = found
  if (zone === 'text.means') return classOf(value as Family) === 'Write' ? 'Write' : undefined
  const undone = value === 'Destructive' && features.has('may be undone')
  const denied = value === 'Execute' && features.has('says:only reads')
  const beside = looks && (zone !== 'acts' || (value === 'Write' && !hasTwoActs(features)))
  if (value === 'Financial' || undone || denied || beside) return undefined
  return zone !== 'mode' || value === 'Destructive' ? (value as Category) : undefined
}

/** `update_and_delete`: the name itself has two acts. */
function hasTwoActs(features: { keys(): Iterable<string> }): boolean {
  for (const feature of features.keys()) if (feature.startsWith('name.and:')) return true
  return false
}

/** A query in a language in which a query may write. */
const ANY_QUERY = 'runs any query'

const NO_LIFT = { zone: '', value: '' }
const liftOf = memoFeature((feature) => {
  const [, zone, value] = LIFTS.exec(feature) ?? []
  return zone === undefined || value === undefined ? NO_LIFT : { zone, value }
})
const LIFTS = /^(choice|acts|text\.means|mode):(.+)$/
/** Signs that a tool with an object of money moves none. */
const WITHOUT_PAYMENT = [
  'name:destroy',
  'name:revoke',
  'name:clear',
  'name:nothing',
  'money that does not move',
  'keeps books',
  'only annotates money',
  'books what was spent',
  'tells of money',
]
const MONEY_OBJECTS = ['name.act+money.object', 'deal with money:name.object', 'changes a price']
