// What a rule of combined signals asks of the features of a definition, written with the words of the lexicon:
// `either.verb('remove')`, `speaksOf('access')`. A word that no table has does not compile. Each builder makes the
// expression of the features that it means; how a feature is named is known here and to the readers.

import { alternatives, group } from '@sluice/policy/readers/join-patterns'
import type { ArgumentKind, DeepKind } from './argument-kinds.ts'
import type { Noun } from './noun-words.ts'
import type { Phrase } from './phrases.ts'
import type { Family, Verb } from './verbs.ts'

/** The features that a rule asks for, as the source of an expression. Only the builders below make one. */
export interface FeaturePattern {
  readonly source: string
}

/** A verb of a feature: one of the lexicon, or one that takes it back (`unresolve`). */
type FeatureVerb = Verb | `un${Verb}`

/** Families, and what the readers say of a name or text that has no verb. */
type FeatureFamily = Family | 'answer' | 'nothing'

/** A part of the definition, with what may be asked of its verbs and of the nouns beside them. */
interface Zone {
  /** One of these verbs stands there. */
  verb(...verbs: readonly FeatureVerb[]): FeaturePattern
  /** A verb of one of these families stands there. */
  family(...families: readonly FeatureFamily[]): FeaturePattern
  /** A verb of one of these families, or one of these verbs. */
  familyOrVerb(...words: readonly (FeatureFamily | FeatureVerb)[]): FeaturePattern
  /** An act is done to such a thing. */
  actOn(...nouns: readonly Noun[]): FeaturePattern
  /** An act is done, and such a thing is spoken of beside what it is done to. */
  actNear(...nouns: readonly Noun[]): FeaturePattern
  /** An act is done, and such a thing is spoken of, whether or not the act is done to it. */
  actWith(...nouns: readonly Noun[]): FeaturePattern
  /** Something is read, and such a thing is spoken of. */
  readWith(...nouns: readonly Noun[]): FeaturePattern
  /** There is no verb, and such a thing is spoken of. */
  noVerbWith(...nouns: readonly Noun[]): FeaturePattern
  /** Such a thing is spoken of, whatever is done. */
  with(...nouns: readonly Noun[]): FeaturePattern
}

/** The name of the tool. */
export const name = zone('^name')
/** The sentence of the description that says what the tool does. */
export const text = zone('^text')
/** The name or the description. */
export const either = zone('^(?:name|text)')
/** A later sentence of the description. */
export const laterText = zone('^text\\.later')
/** Any part of the definition. */
export const anywhere = zone('')

/** Such a thing is spoken of, in whatever part. */
export function speaksOf(...nouns: readonly Noun[]): FeaturePattern {
  return { source: `\\+${oneOf(nouns)}\\.` }
}

/** Such a thing is what the tool is about, in whatever part. */
export function isAbout(...nouns: readonly Noun[]): FeaturePattern {
  return { source: `\\+${oneOf(nouns)}\\.object$` }
}

/** Such a thing is spoken of beside what the tool is about, in whatever part. */
export function speaksNear(...nouns: readonly Noun[]): FeaturePattern {
  return { source: `\\+${oneOf(nouns)}\\.near$` }
}

/** The description has such a phrase. */
export function says(...phrases: readonly Phrase[]): FeaturePattern {
  return { source: `^says:${oneOf(phrases)}$` }
}

/** The tool takes such an argument, or (`acts`) a switch by which it does more than read. */
export function takes(...kinds: readonly (ArgumentKind | 'acts')[]): FeaturePattern {
  return { source: `^arg:${oneOf(kinds)}$` }
}

/** The tool takes such an argument, also inside of another argument. */
export function takesAnywhere(...kinds: readonly (ArgumentKind | DeepKind)[]): FeaturePattern {
  return { source: `^arg(?:\\.deep)?:${oneOf(kinds)}$` }
}

/** What is removed is taken out of something that stays: `remove … from a list`. Not weighed by itself. */
export const OUT_OF_HOLDER = 'out of a holder'
export const outOfHolder: FeaturePattern = { source: `^${OUT_OF_HOLDER}$` }

/** A call is spoken of, as one by telephone. */
export const speaksOfCall: FeaturePattern = { source: '^call:' }

/** The description tells of an act beside what the tool does. */
export const actsAlso: FeaturePattern = { source: '^text\\.also:' }

/** The expression of features of which one of the patterns is asked for. */
export function toExpression(patterns: FeaturePattern | readonly FeaturePattern[]): RegExp {
  const all = 'source' in patterns ? [patterns] : patterns
  return new RegExp(alternatives(all.map(({ source }) => source)))
}

function zone(start: string): Zone {
  const nouns = (middle: string, end: string) => (all: readonly Noun[]) => ({
    source: `${start}\\.${middle}\\+${oneOf(all)}\\.${end}`,
  })
  const words = (sign: string) => (all: readonly string[]) => ({
    source: `${start}${sign}${oneOf(all)}$`,
  })
  const spread =
    <T>(build: (all: readonly T[]) => FeaturePattern) =>
    (...all: readonly T[]) =>
      build(all)
  return {
    verb: spread(words('=')),
    family: spread(words(':')),
    familyOrVerb: spread(words('[:=]')),
    actOn: spread(nouns('act', 'object$')),
    actNear: spread(nouns('act', 'near$')),
    actWith: spread(nouns('act', '')),
    readWith: spread(nouns('read', '')),
    noVerbWith: spread(nouns('none', '')),
    with: spread(nouns('(?:act|none|read)', '')),
  }
}

function oneOf(words: readonly string[]): string {
  return words.length === 1 ? (words[0] as string) : group(words)
}
