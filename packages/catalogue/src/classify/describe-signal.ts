// What each signal says, in words for people: the sentence behind a piece of evidence. Pure; called
// where evidence is shown.

import { type CombinedFeature, isCombined } from '../signals/combined-signals.ts'
import { actOf, classOf, FAMILY_NAMES } from '../signals/lexicon.ts'
import { thingOf } from '../signals/nouns.ts'
import type { Phrase } from '../signals/phrases.ts'
import { isWordFeature } from '../signals/read-words.ts'
import type { Family } from '../signals/verbs.ts'

const ZONES: Readonly<Record<string, string>> = {
  name: 'the verb of the name',
  'name.and': 'a second verb of the name',
  text: 'the verb of the description',
  'text.and': 'a further act of the description',
  'text.means': 'what the verb means, in brackets',
  'text.noun': 'an act that the description names as a noun',
  'text.too': 'a verb beside the act',
  'text.later': 'a later sentence',
  'text.also': 'what it does as well',
}

const WHOLE: Readonly<Record<string, string>> = {
  'name:answer': 'the name is a noun for an answer',
  'name:nothing': 'the name has no verb',
  'text:answer': 'the description is a noun for an answer',
  'text:nothing': 'there is no description',
  'changes a price': 'a price or bid is changed',
  'pictures a screen': 'a picture is taken of a page or device',
  'text.read+lore': 'what it answers is documentation or advice',
  'server:device': 'the server drives devices',
  'keeps it somewhere': 'a copy is made, with a place to keep it',
  'keeps it nowhere': 'what is copied is the answer',
  'money that does not move': 'the money is only written down',
  'call:name': 'it speaks of a call',
  'server:money': 'the server deals with money',
  'args:none': 'it takes no arguments',
  'args:only an id': 'it takes nothing but what names a thing',
  'arg:sql': 'takes a statement of a query language',
  'arg:program': 'takes a program or command',
  'arg:money': 'takes an amount, a price or a payee',
  'arg.deep:money': 'takes an amount or price inside of an argument',
  'arg:paging': 'takes what one asks a list with',
  'arg:query': 'takes a search',
  'arg:payload': 'takes content to store or send',
  'arg:worst': 'has a switch for the worst',
  'arg:spend': 'takes a budget or a bid',
  'arg:buyer': 'takes who buys or pays',
  'arg.deep:buyer': 'takes who buys or pays inside of an argument',
  'arg:memo': 'takes a note or tags',
  'arg:empties': 'has a switch that empties what is there',
  'arg:cost': 'asks to accept a cost',
  'arg:file': 'takes the name of a file',
  'arg:rehearsal': 'offers a rehearsal, so the call has effects',
  'arg:saves': 'takes a place to save to',
  'arg:output': 'takes a file to write to',
  'arg:has an effect': 'has an argument by which it does more than answer',
  'arg:variables': 'takes variables for a query',
  'arg:screen': 'takes a place on a screen',
  'arg:method': 'takes an HTTP method',
}

/** Where a word was found, by the zones of read-words. */
const WORDS: Readonly<Record<string, string>> = {
  n: 'a word of the name',
  '^': 'the first word of the name',
  d: 'a word of the description',
  f: 'the first word of the description',
  a: 'the name of an argument',
  e: 'a value to choose',
}

/**
 * What a passage tells, for programs: the family of its verb, what several signals mean together, a phrase; `word` of
 * a word that only the network knows, and `other` of all else.
 *
 * @example
 * ```ts
 * const kind: EvidenceKind | undefined = assessTool(definition).evidence[0]?.kind
 * ```
 */
export type EvidenceKind = Family | CombinedFeature | Phrase | 'word' | 'other'

/** The kind of a signal; `describeSignal` says the same for people. */
export function kindOfSignal(feature: string): EvidenceKind {
  if (isWordFeature(feature)) return 'word'
  if (isCombined(feature)) return feature
  if (feature.startsWith('says:')) return feature.slice('says:'.length) as Phrase
  const [, value = ''] = /^[a-z.]+[:=](.+)$/.exec(feature) ?? []
  return isFamily(value) ? value : 'other'
}

function isFamily(value: string): value is Family {
  return FAMILY_NAMES.includes(value as Family)
}

export function describeSignal(feature: string): string {
  const word = isWordFeature(feature) ? WORDS[feature[0] as string] : undefined
  if (word !== undefined) return word
  const whole = WHOLE[feature]
  if (whole !== undefined) return whole
  if (isCombined(feature)) return `said together: it ${feature}`
  if (feature.startsWith('says:')) return `the text says: ${feature.slice('says:'.length)}`
  const [, zone = '', value = ''] = /^([a-z.]+)[:=](.+)$/.exec(feature) ?? []
  if (isFamily(value)) return `${ZONES[zone] ?? zone}: ${actOf(value)} (${classOf(value)})`
  if (feature.includes('=')) return `${ZONES[zone] ?? zone}, as \`${value}\` is used`
  if (zone === 'choice' || zone === 'mode') return `its worst action to choose: ${value}`
  if (zone === 'alone') return `the verb of the description, all there is: ${value}`
  if (zone === 'acts') return `the worst of the acts it lists: ${value}`
  if (feature.startsWith('deal with money'))
    return 'an order, token or the like in the company of money'
  const [, noun = '', role = ''] = /\+([a-z]+)\.([a-z]+)$/.exec(feature) ?? []
  return `${role === 'object' ? 'the act is on' : 'it speaks of'} ${thingOf(noun)}`
}
