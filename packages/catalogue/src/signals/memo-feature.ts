// Memoisation by feature: there are some thousands of features, each in many definitions, and patterns
// are slow. Bounded, because a feature may carry a word of the server's text.

import { memoize } from '@sluice/policy/structures/memoize'
import { FAMILY_NAMES } from './lexicon.ts'
import { KNOWN_FEATURES_MAX } from './limits.ts'
import type { Noun } from './noun-words.ts'
import { NOUN_NAMES } from './nouns.ts'
import type { Family } from './verbs.ts'

/** Returns the same function with a memory: it derives a value once for each feature as long as the memory lasts. */
export function memoFeature<T>(derive: (feature: string) => T): (feature: string) => T {
  return memoize(derive, KNOWN_FEATURES_MAX)
}

/** `zone:family`, the same string each time: a new string has to be hashed first. */
export function familyFeatures(zone: string): ReadonlyMap<Family, string> {
  return new Map(FAMILY_NAMES.map((family) => [family, `${zone}:${family}`]))
}

/** `zone+noun.role`, the same string each time. */
export function nounFeatures(zone: string): (noun: Noun, isObject: boolean) => string {
  const of = (role: string) => new Map(NOUN_NAMES.map((noun) => [noun, `${zone}+${noun}.${role}`]))
  const objects = of('object')
  const near = of('near')
  return (noun, isObject) => (isObject ? objects : near).get(noun) as string
}

/** `zone=verb`, the same string each time; there are as many as the lexicon has verbs. */
export function wordFeatures(zone: string): (base: string) => string {
  return memoFeature((base) => `${zone}=${base}`)
}
