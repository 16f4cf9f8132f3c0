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
    const found = liftOf(feature)
    if (found === NO_LIFT) continue
    const { zone, value } = found
    if (zone === 'text.means') {
      if (classOf(value as Family) === 'Write') lift('Write', feature)
      continue
    }
    const undone = value === 'Destructive' && features.has('may be undone')
    const denied = value === 'Execute' && features.has('says:only reads')
    const beside = looks && (zone !== 'acts' || (value === 'Write' && !hasTwoActs(features)))
    if (value === 'Financial' || undone || denied || beside) continue
    if (zone !== 'mode' || value === 'Destructive') lift(value as Category, feature)
  }
  if (
    !features.has('name:destroy') &&
    !features.has('name:revoke') &&
    !features.has('name:clear') &&
    !features.has('name:nothing') &&
    !features.has('money that does not move') &&
    !features.has('keeps books') &&
    !features.has('only annotates money') &&
    !features.has('books what was spent') &&
    !features.has('tells of money')
  )
    for (const feature of MONEY_OBJECTS) if (features.has(feature)) lift('Financial', feature)
  return worst
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
const MONEY_OBJECTS = ['name.act+money.object', 'deal with money:name.object', 'changes a price']
