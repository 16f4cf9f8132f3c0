// The prior of a signal: the category of its family, its choice or its rule. Training pulls every
// weight towards it, so that an unlabelled verb or rule still has an effect.

import { CATEGORIES, type Category } from '@sluice/policy/calls/tools'
import { classOf, FAMILY_NAMES } from '../../../packages/catalogue/src/signals/lexicon.ts'
import type { Family } from '../../../packages/catalogue/src/signals/verbs.ts'

/** The prior of a signal: the category of its family or choice. */
export function getPrior(feature: string): number[] {
  const weights = [0, 0, 0, 0, 0]
  for (const [pattern, category, strength] of PRIORS)
    if (pattern.test(feature)) {
      weights[CATEGORIES.indexOf(category)] = strength
      return weights
    }
  const [, zone, value] = /^([a-z.]+):(.+)$/.exec(feature) ?? []
  if (zone === undefined || value === undefined) return weights
  const known = FAMILY_NAMES.includes(value as Family) ? classOf(value as Family) : value
  const index = CATEGORIES.indexOf(known as Category)
  if (index >= 0) weights[index] = STRENGTH[zone] ?? 0
  return weights
}

export const STRENGTH: Readonly<Record<string, number>> = {
  name: 2.5,
  'name.and': 1.5,
  text: 2,
  'text.means': 2,
  'text.noun': 1.5,
  'text.and': 0.7,
  'text.too': 0.3,
  'text.later': 0.3,
  'text.also': 1,
  acts: 1.5,
  choice: 2,
  mode: 1,
  alone: 1.5,
}

/** The priors of combined signals, and of phrases and arguments. */
const PRIORS: readonly (readonly [RegExp, Category, number])[] = [
  [/^name\.(act|none)\+money\.object$/, 'Financial', 2],
  [/^text\.act\+money\.object$/, 'Financial', 1.5],
  [/\+money\.near$/, 'Financial', 0.5],
  [/^deal with money:name\.object$/, 'Financial', 2],
  [/^deal with money:text\.object$/, 'Financial', 1.5],
  [/^deal with money:/, 'Financial', 0.5],
  [/^says:money moves$/, 'Financial', 3],
  [/^arg:money$/, 'Financial', 0.5],
  [/^says:gone for good$/, 'Destructive', 1.5],
  [/^takes a tie away$/, 'Write', 4.5],
  [/^takes access away$/, 'Destructive', 1],
  [/^stops a job$/, 'Execute', 3],
  [/^starts by making$/, 'Execute', 3],
  [/^drives a device$/, 'Execute', 3.5],
  [/^server:device$/, 'Execute', 1],
  [/^merges records$/, 'Destructive', 4],
  [/^runs a question$/, 'Read', 3.5],
  [/^drives an agent$/, 'Execute', 3.5],
  [/^places a call$/, 'Execute', 5],
  [/^spends on ads$/, 'Financial', 3.5],
  [/^works on ads$/, 'Financial', 1],
  [/^settles a purchase$/, 'Financial', 3.5],
  [/^makes a purchase$/, 'Financial', 3],
  [/^makes or changes a booking$/, 'Financial', 3],
  [/^takes goods back$/, 'Financial', 3],
  [/^sets a rate$/, 'Financial', 3],
  [/^sets a price$/, 'Financial', 3],
  [/^tells of money$/, 'Write', 4],
  [/^takes a payment back$/, 'Financial', 3],
  [/^sends a transaction$/, 'Financial', 3],
  [/^hands it over$/, 'Write', 4],
  [/^claims what was earned$/, 'Financial', 3],
  [/^puts it up for sale$/, 'Financial', 5],
  [/^ends a checkout$/, 'Financial', 3],
  [/^checks out$/, 'Financial', 4],
  [/^shows and checks out$/, 'Financial', 5],
  [/^forgets a login$/, 'Destructive', 3.5],
  [/^sends what it is given$/, 'Write', 4],
  [/^keeps books$/, 'Write', 3],
  [/^replaces the whole$/, 'Destructive', 5],
  [/^places an order$/, 'Financial', 3.5],
  [/^buys what is sold$/, 'Financial', 4],
  [/^sets what is asked for$/, 'Financial', 3.5],
  [/^acts on a screen$/, 'Execute', 3],
  [/^runs a campaign$/, 'Financial', 3],
  [/^saves what it reads$/, 'Write', 6],
  [/^settles a matter$/, 'Write', 4],
  [/^triggers something$/, 'Execute', 4],
  [/^verifies whose it is$/, 'Write', 3],
  [/^changes an order$/, 'Financial', 3.5],
  [/^changes a trade$/, 'Financial', 4],
  [/^only annotates money$/, 'Write', 4],
  [/^writes on what runs$/, 'Write', 5.5],
  [/^settles a dispute$/, 'Financial', 3.5],
  [/^restores over what is there$/, 'Destructive', 3.5],
  [/^makes a secret void$/, 'Destructive', 3.5],
  [/^runs what only reads$/, 'Read', 4],
  [/^runs any query$/, 'Execute', 4],
  [/^keeps time$/, 'Write', 4],
  [/^drops data$/, 'Destructive', 4],
  [/^applies it for real$/, 'Execute', 4],
  [/^renews a token$/, 'Write', 3],
  [/^generates the answer$/, 'Read', 3],
  [/^drives a machine$/, 'Execute', 3],
  [/^pushes a button$/, 'Execute', 4],
  [/^answers with an address$/, 'Read', 3],
  [/^acts:Financial$/, 'Financial', 3],
  [/^pushes by force$/, 'Destructive', 4.5],
  [/^empties first$/, 'Destructive', 4.5],
  [/^may be undone$/, 'Write', 3],
  [/^text:answer$/, 'Read', 2],
  [/^signs in by hand$/, 'Write', 3],
  [/^loses what was there$/, 'Destructive', 2],
  [/^accepts a price$/, 'Financial', 3],
  [/^submits a job$/, 'Execute', 3],
  [/^sets it going$/, 'Execute', 3],
  [/^sends any command$/, 'Execute', 4],
  [/^works the answer out$/, 'Read', 4],
  [/^locks a document$/, 'Write', 4],
  [/^costs money$/, 'Financial', 4],
  [/^money that does not move$/, 'Write', 4],
  [/^keeps it somewhere$/, 'Write', 1],
  [/^keeps it nowhere$/, 'Read', 1],
  [/^says:saves it$/, 'Write', 0.7],
  [/^says:access is lost$/, 'Destructive', 0.7],
  [/^says:restores over$/, 'Destructive', 2],
  [/^says:(to|from) the trash$/, 'Write', 2.5],
  [/^changes a price$/, 'Financial', 2.5],
  [/^(name|text)\.act\+inquiry\.object$/, 'Read', 1],
  [/^pictures a screen$/, 'Read', 3],
  [/^text\.read\+lore$/, 'Read', 3],
  [/^(name|text)\.act\+passing\.(object|near)$/, 'Read', 0.5],
  [/^books what was spent$/, 'Write', 3],
  [/^takes a deal back$/, 'Financial', 4],
  [/^opens a checkout$/, 'Financial', 3],
  [/^prompts an agent$/, 'Execute', 4],
  [/^writes out what it reads$/, 'Write', 4],
  [/^may act on what it reads$/, 'Write', 4],
  [/^makes what it does not find$/, 'Write', 4],
  [/^types into a terminal$/, 'Execute', 3],
  [/^starts it over$/, 'Destructive', 3],
  [/^changes a subscription$/, 'Financial', 3],
  [/^says:only reads$/, 'Read', 1],
  [/^says:runs anything$/, 'Execute', 1],
  [/^arg:(sql|program)$/, 'Execute', 1],
  [/^(name|text)\.act\+screen\.object$/, 'Execute', 1],
  [/^(name|text)\.act\+program\.object$/, 'Execute', 0.5],
]
