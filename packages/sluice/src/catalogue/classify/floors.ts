// What no weighing may undo: rules of the categories that hold by themselves. A tool takes its worst
// action; an act on a payment is one with money. Pure; called by classify and by the scoring of the training script.

import { CATEGORIES, type Category } from '@sluice/policy/core/tools'
import { classOf, type Family } from '../signals/lexicon.ts'

/** The least class that the signals leave, and the features that say so. */
export interface Floor {
  readonly category: Category
  readonly feature: string
}

export function floorOf(told: ReadonlySet<string>): Floor | undefined {
  let worst: Floor | undefined
  const lift = (category: Category, feature: string) => {
    if (worst === undefined || CATEGORIES.indexOf(category) > CATEGORIES.indexOf(worst.category))
      worst = { category, feature }
  }
  // `get_advice` with the name of an act among its options only looks, if name and text say so.
  const looks = told.has('name:look') && told.has('text:look') && !told.has('name=download')
  const both = [...told].some((feature) => feature.startsWith('name.and:'))
  for (const feature of told) {
    const [, zone, said] = LIFTS.exec(feature) ?? []
    if (zone === undefined || said === undefined) continue
    if (zone === 'text.means') {
      if (classOf(said as Family) === 'Write') lift('Write', feature)
      continue
    }
    const undone = said === 'Destructive' && told.has('may be undone')
    const beside = looks && (zone !== 'acts' || (said === 'Write' && !both))
    if (said !== 'Financial' && !undone && !beside && (zone !== 'mode' || said === 'Destructive'))
      lift(said as Category, feature)
  }
  if (
    !told.has('name:destroy') &&
    !told.has('name:revoke') &&
    !told.has('name:clear') &&
    !told.has('name:nothing') &&
    !told.has('money that does not move') &&
    !told.has('keeps books') &&
    !told.has('only annotates money')
  )
    for (const feature of MONEY_OBJECTS) if (told.has(feature)) lift('Financial', feature)
  return worst
}

const LIFTS = /^(choice|acts|text\.means|mode):(.+)$/
const MONEY_OBJECTS = ['name.act+money.object', 'deal with money:name.object', 'changes a price']
